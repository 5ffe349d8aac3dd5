// Compression of data that is mostly runs of one byte, as pictures of cells are after a filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace attnviz {

/// `data` as a zlib stream (RFC 1950): one block of deflate (RFC 1951) whose only matches repeat
/// the byte before. Nothing when that takes more than `most` bytes, or looks as if it would.
///
/// It looks at each byte once, which makes it several times faster than a search for matches.
std::optional<std::string> compress_runs(std::span<const std::uint8_t> data, std::size_t most);

}  // namespace attnviz
