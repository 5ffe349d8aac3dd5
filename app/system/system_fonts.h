// Fonts for a picture's texts: files that the user names, and those installed on the system.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "attnviz/picture/fonts/font_set.h"

namespace attnviz::app {

/// The embedded font, the `files`, the installed fonts. Installed ones are looked for only when a
/// picture needs them. Throws Error{kIo} for a file that cannot be read, Error{kMalformed} for one
/// that is no font, and Error{kUnsupported} when files are given and the system lacks HarfBuzz.
std::unique_ptr<FontSet> open_fonts(std::span<const std::filesystem::path> files);

/// An installed font that has the character, as fontconfig chooses it: upright and regular, a
/// colour font for emoji. Nothing without fontconfig, or when no font has it.
std::optional<FontFile> find_system_font(char32_t code_point);

}  // namespace attnviz::app
