// Pixels as the bytes of a PNG file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace attnviz {

/// Encodes 8-bit sRGB pixels, `rgb` of shape [height, width, 3], with a palette where 256 colours
/// are enough. The same pixels give the same bytes. Throws Error{kUsage} when a size is 0 or the
/// picture has 2^30 bytes or more, and Error{kIo} when memory runs out.
std::string encode_png(std::span<const std::uint8_t> rgb, std::size_t width, std::size_t height);

}  // namespace attnviz
