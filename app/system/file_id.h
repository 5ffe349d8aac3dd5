// Whether two names are those of one file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

namespace attnviz::app {

/// Equal for all names of one file.
using FileId = std::pair<std::uint64_t, std::uint64_t>;

/// Nothing where there is none.
std::optional<FileId> id_of(const std::filesystem::path& path);

}  // namespace attnviz::app
