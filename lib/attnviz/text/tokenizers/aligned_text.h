// A text on its way through normalisation, each byte knowing where in the source it comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"

namespace attnviz {

/// Bytes [begin, end).
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const noexcept { return end - begin; }
  bool operator==(const ByteRange&) const = default;
};

class AlignedText {
 public:
  AlignedText() = default;
  /// `text` as it is, the source's bytes from `offset` on. The source must be below 4 GiB.
  AlignedText(std::string_view text, std::size_t offset)
      : text_(text), offset_(offset), source_size_(text.size()) {}

  std::string_view text() const noexcept { return text_; }
  std::string_view text(ByteRange range) const noexcept {
    return text().substr(range.begin, range.size());
  }
  std::size_t size() const noexcept { return text_.size(); }

  /// What the bytes [begin, end) stand for in the source. An empty range is the place before
  /// `begin`.
  ByteRange source(ByteRange range) const noexcept;
  /// Whether nothing of the source lies before the text but what was left out of it.
  bool begins_source() const noexcept { return offset_ == 0; }
  /// The bytes of `range` as a text of their own.
  AlignedText part(ByteRange range) const;

 private:
  friend class AlignedBuilder;
  struct Span {
    std::uint32_t begin;
    std::uint32_t end;
  };

  std::string text_;
  std::size_t offset_ = 0;       // of the source, where the text began before it was changed
  std::size_t source_size_ = 0;  // bytes of it that the text was made of
  bool is_changed_ = false;
  std::vector<Span> spans_;  // one a byte when is_changed_, else byte i is the source's offset_ + i
};

/// A text that becomes longer and longer; of which file's stages is said by who knows it.
class TextGrows : public Error {
 public:
  explicit TextGrows(const std::string& message) : Error(ErrorKind::kUnsupported, message) {}
};

/// Makes a changed text, from left to right, out of `from`, which must outlive the builder. Throws
/// TextGrows when it becomes larger than 64 times its source and 4 KiB.
class AlignedBuilder {
 public:
  explicit AlignedBuilder(const AlignedText& from);

  /// Takes over a range as it is, byte for byte.
  void keep(ByteRange range);
  /// Puts `text` in the place of a range; each of its bytes stands for all of what the range does.
  void put(std::string_view text, ByteRange range);
  AlignedText finish();

 private:
  void check_growth(std::size_t n_more) const;

  const AlignedText& from_;
  AlignedText made_;
};

/// `text` with each byte that is no UTF-8 replaced by U+FFFD.
AlignedText with_valid_utf8(AlignedText text);

}  // namespace attnviz
