// Compression of data that is mostly runs of one byte, as pictures of cells are after a filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace attnviz {

/// Makes a zlib stream (RFC 1950): one block of deflate (RFC 1951) whose only matches repeat the
/// byte before. How the data is cut into calls of add() and add_zeros() makes no difference to it.
///
/// It looks at each byte once, which makes it several times faster than a search for matches.
class RunCompression {
 public:
  /// For `size` bytes, packed into at most `most`.
  RunCompression(std::size_t size, std::size_t most);

  /// The next bytes; not more than `size` in all. False, and nothing is to be added any more, once
  /// it looks as if the stream would take more than `most` bytes.
  bool add(std::span<const std::uint8_t> bytes);
  /// The same for `count` bytes that are 0, without looking at any.
  bool add_zeros(std::size_t count);

  /// The stream; nothing when it would take more than `most` bytes.
  std::optional<std::string> finish();

 private:
  // A literal, or a match as 253 + its length: one number each.
  using Token = std::uint16_t;

  void put_run() noexcept;
  bool put_literal(std::uint8_t byte) noexcept;
  bool fits() const noexcept { return n_tokens_ < limit_; }

  std::size_t most_;
  std::size_t limit_;                // of tokens, before the last run
  std::unique_ptr<Token[]> tokens_;  // not set to 0 first: most of its room is never used
  std::size_t n_tokens_ = 0;
  std::uint8_t literal_ = 0;  // the last token
  std::size_t run_ = 0;       // bytes equal to it that follow it
  std::uint32_t checksum_ = 1;
};

}  // namespace attnviz
