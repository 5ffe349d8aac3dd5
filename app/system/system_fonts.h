// Fonts for a picture's texts: files that the user names, and those installed on the system.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "attnviz/picture/fonts/font_face.h"
#include "options/options.h"

namespace attnviz::app {

/// The embedded font, the `files`, the installed fonts. Installed ones are looked for only when a
/// picture needs them, and told of where they cannot be used. Throws Error{kIo} for a file that
/// cannot be read, Error{kMalformed} for one that is no font, and Error{kUnsupported} when files
/// are given and the system lacks HarfBuzz.
std::unique_ptr<FontSet> open_fonts(std::span<const std::filesystem::path> files,
                                    const Verbosity& verbosity);

}  // namespace attnviz::app
