// Compression of a picture's rows, most of which are runs of a colour and letters that come again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace attnviz {

/// The data of a PNG picture with a palette: `pixels` of shape [height, row_bytes] as filtered
/// rows (ISO 15948, 9.2) in a zlib stream (RFC 1950 and 1951). A row that equals the one
/// above it becomes zeros by filter 2 ("up"), and one that differs from it by small numbers becomes
/// these; others have filter 0 ("none").
///
/// Matches are looked for one pixel back, which finds runs, and where the same four bytes began a
/// literal or a match before. Within a match nothing is looked up or noted, on which a compressor
/// for any data spends most of its time in such pictures.
/// It needs less than 1 MB beside the stream. Not for 2^32 bytes or more. Throws std::bad_alloc.
std::string compress_rows(std::span<const std::uint8_t> pixels, std::size_t row_bytes);

}  // namespace attnviz
