// Whether two paths name the same file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

namespace attnviz::app {

/// Equal for all paths of the same file.
using FileId = std::pair<std::uint64_t, std::uint64_t>;

/// Nothing if there is no such file.
std::optional<FileId> id_of(const std::filesystem::path& path);

}  // namespace attnviz::app
