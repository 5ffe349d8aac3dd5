// Fonts for the text in pictures: files named by the user, and those installed on the system.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "attnviz/picture/fonts/font_face.h"
#include "options/options.h"

namespace attnviz::app {

/// The embedded font, the `files` and the installed fonts. Installed fonts are searched only when a
/// picture needs them; unusable ones are reported. Throws Error{kIo} for a file that cannot be
/// read, Error{kMalformed} for one that is not a font, and Error{kUnsupported} if files are given
/// and the system lacks HarfBuzz.
std::unique_ptr<FontSet> open_fonts(std::span<const std::filesystem::path> files,
                                    const Verbosity& verbosity);

}  // namespace attnviz::app
