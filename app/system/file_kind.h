// What a file is that stands where another kind was meant.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace attnviz::app {

enum class FileKind { kOther, kPicture, kPage, kPdf, kArchive, kNumPy, kGguf };

/// Of the first bytes of a file; kOther for what is none of the others, and for fewer than four.
FileKind kind_of_bytes(std::string_view first) noexcept;

/// What the ending of a name says.
FileKind kind_of_name(const std::filesystem::path& path);

/// "a picture", "a NumPy array"; empty of kOther.
std::string_view name_of(FileKind kind) noexcept;

/// Equal for all names of one file.
using FileId = std::pair<std::uint64_t, std::uint64_t>;

/// Nothing where there is none.
std::optional<FileId> id_of(const std::filesystem::path& path);

}  // namespace attnviz::app
