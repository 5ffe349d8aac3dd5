// What a file is that stands where another kind was meant.
#pragma once

#include <filesystem>
#include <string_view>

namespace attnviz::app {

enum class FileKind { kOther, kPicture, kPage, kPdf, kArchive, kNumPy, kGguf };

/// Of the first bytes of a file; kOther for what is none of the others, and for fewer than four.
FileKind kind_of_bytes(std::string_view first) noexcept;

/// What the ending of a name says.
FileKind kind_of_name(const std::filesystem::path& path);

/// "a picture", "a NumPy array"; empty of kOther.
std::string_view name_of(FileKind kind) noexcept;

}  // namespace attnviz::app
