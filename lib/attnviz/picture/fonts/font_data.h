// The embedded font: DejaVu Sans Mono from the system's font package, added by the build.
#pragma once

#include <span>

namespace attnviz {

/// The bytes of a TrueType file.
extern const std::span<const unsigned char> kFontData;

}  // namespace attnviz
