// Pixels as a PNG file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/picture/raster/canvas.h"

namespace attnviz {

/// The contents of the file beside its pixels.
struct PngFacts {
  int dpi = 0;  // 0: not stated
  /// Keyword (1 to 79 printable ASCII characters) and text (valid UTF-8), in this order; empty
  /// texts are left out.
  std::vector<std::pair<std::string, std::string>> texts;
};

/// Encodes 8-bit sRGB pixels, `rgb` of shape [height, width, 3]. The same pixels give the same
/// bytes. Throws Error{kUsage} when a size is 0 or the picture has 2^30 bytes or more, and
/// Error{kIo} when memory runs out.
std::string encode_png(std::span<const std::uint8_t> rgb, std::size_t width, std::size_t height,
                       const PngFacts& facts = {});

/// The same for a picture, with its palette when it has one.
std::string encode_png(const Canvas& canvas, const PngFacts& facts = {});

// Compression of a picture's rows, which mostly consist of runs of one colour and repeated letters.
// Literals and matches as a DEFLATE stream.

/// Compresses filtered rows of a PNG picture (ISO 15948, 9.2), in which runs are long, to a zlib
/// stream (RFC 1950 and 1951).
///
/// It looks for matches one byte back, which finds runs, and where the same four bytes began a
/// literal or a match before. Inside a match it looks up and records nothing; general compressors
/// spend most of their time there in pictures of this kind. Needs less than 1 MB beside the stream.
/// Fewer than 2^32 bytes. Throws std::bad_alloc.
std::string compress_filtered(std::span<const std::uint8_t> rows);

/// The same for a picture with a palette, whose pixels [height, row_bytes] are filtered here. A row
/// that equals the one above becomes zeros by filter 2 ("up"), one that differs from it by small
/// numbers becomes these differences; others have filter 0 ("none").
std::string compress_rows(std::span<const std::uint8_t> pixels, std::size_t row_bytes);

/// Appends literals and matches to a string, in DEFLATE blocks (RFC 1951) with dynamic codes.
class DeflateWriter {
 public:
  static constexpr std::size_t kShortestMatch = 3;
  static constexpr std::size_t kLongestMatch = 258;
  static constexpr std::size_t kWindow = 32768;  // largest distance of a match
  static constexpr std::size_t kDistances = 30;  // symbols
  /// A literal or a match's length, numbered together.
  static constexpr std::size_t kFirstMatch = 256;
  static constexpr std::size_t kTokens = kFirstMatch + kLongestMatch - kShortestMatch + 1;

  explicit DeflateWriter(std::string& out);

  void literal(std::uint8_t byte) { add(byte, 0); }
  /// The next `length` bytes, at least kShortestMatch, equal those from `distance` bytes back.
  void match(std::size_t length, std::size_t distance);
  /// Ends the stream.
  void finish() { write(true); }

 private:
  static constexpr std::size_t kBlockItems = 16384;

  struct Item {
    std::uint16_t token;
    std::uint16_t distance;  // 0: a literal
  };

  void add(std::size_t token, std::size_t distance) {
    ++tokens_[token];
    items_[n_items_++] = {static_cast<std::uint16_t>(token), static_cast<std::uint16_t>(distance)};
    if (n_items_ == kBlockItems) {
      write(false);
    }
  }
  void write(bool is_last);

  std::string& out_;
  std::unique_ptr<Item[]> items_;
  std::size_t n_items_ = 0;
  std::unique_ptr<char[]> bytes_;  // of a block
  std::uint64_t waiting_ = 0;      // bits that do not fill a byte yet
  unsigned n_waiting_ = 0;
  std::array<std::uint32_t, kTokens> tokens_{};  // counts
  std::array<std::uint32_t, kDistances> distances_{};
};

}  // namespace attnviz
