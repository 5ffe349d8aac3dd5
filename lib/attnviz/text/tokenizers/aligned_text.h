// A text on its way through normalisation, each byte knowing where in the source it comes from.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
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

/// Stages that do too much; of which file they are is said by who knows it.
class StagesTooLong : public Error {
 public:
  explicit StagesTooLong(const std::string& message) : Error(ErrorKind::kUnsupported, message) {}
};

/// What the stages of a tokenizer may still use over all its texts: steps of patterns, one for each
/// character tried and some for each match, and work of stages, one for each byte read and some for
/// each byte made and each word. Safe to share between threads.
class StageSteps {
 public:
  /// For a text that comes next.
  void allow_for(std::size_t n_bytes) noexcept;
  /// False when there are not as many; then none is left.
  bool take(std::uint64_t n) noexcept { return take(n_left_, n); }
  bool take_work(std::uint64_t n) noexcept { return take(work_left_, n); }
  std::uint64_t n_left() const noexcept { return n_left_.load(); }

 private:
  using Left = std::atomic<std::uint64_t>;
  static bool take(Left& left, std::uint64_t n) noexcept;

  static constexpr std::uint64_t kStepsAtFirst = std::uint64_t{1} << 26;
  static constexpr std::uint64_t kWorkAtFirst = std::uint64_t{1} << 28;
  Left n_left_ = kStepsAtFirst;
  Left work_left_ = kWorkAtFirst;
};

class AlignedText {
 public:
  AlignedText() = default;
  /// `text` as it is, the source's bytes from `offset` on. The source must be below 4 GiB. `steps`
  /// are those of its stages, which must outlive it; none are counted without.
  AlignedText(std::string_view text, std::size_t offset, StageSteps* steps = nullptr)
      : text_(text), offset_(offset), source_size_(text.size()), steps_(steps) {}

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

  StageSteps* steps() const noexcept { return steps_; }
  /// Takes the work of one more stage, `n_per_byte` for each byte. Throws StagesTooLong if there is
  /// not enough left.
  void pass(std::uint64_t n_per_byte = 1) const;
  /// Takes other work, and throws as pass() does.
  void work(std::uint64_t n) const;

 private:
  friend class AlignedBuilder;
  struct Span {
    std::uint32_t begin;
    std::uint32_t end;
  };

  std::string text_;
  std::size_t offset_ = 0;       // of the source, where the text began before it was changed
  std::size_t source_size_ = 0;  // bytes of it that the text was made of
  StageSteps* steps_ = nullptr;
  bool is_changed_ = false;
  std::vector<Span> spans_;  // one a byte when is_changed_, else byte i is the source's offset_ + i
};

/// Makes a changed text, from left to right, out of `from`, which must outlive the builder. Throws
/// StagesTooLong when it becomes larger than 64 times its source and 4 KiB.
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
