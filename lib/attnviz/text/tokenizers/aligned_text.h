// A text during normalisation, in which each byte knows its origin in the source.
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

/// The error of stages that do too much; the caller adds the file that they come from.
class StagesTooLong : public Error {
 public:
  explicit StagesTooLong(const std::string& message) : Error(ErrorKind::kUnsupported, message) {}
};

/// What the stages of a tokenizer may still use over all its texts: steps of patterns, one for each
/// character tried and some for each match, and work of stages, one for each byte read and some for
/// each byte made and each word. Safe to share between threads.
class StageSteps {
 public:
  /// Adds the allowance for the next text.
  void allow_for(std::size_t n_bytes) noexcept;
  /// Returns false if less than `n` is left; then nothing is left.
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
  /// `text` unchanged: the source's bytes from `offset` on. The source must be shorter than 4 GiB.
  /// `steps` are those of its stages and must outlive it; without them nothing is counted.
  AlignedText(std::string_view text, std::size_t offset, StageSteps* steps = nullptr)
      : text_(text), offset_(offset), source_size_(text.size()), steps_(steps) {}

  std::string_view text() const noexcept { return text_; }
  std::string_view text(ByteRange range) const noexcept {
    return text().substr(range.begin, range.size());
  }
  std::size_t size() const noexcept { return text_.size(); }

  /// The source range of the bytes [begin, end). An empty range gives the position before `begin`.
  ByteRange source(ByteRange range) const noexcept;
  /// Whether the text begins where the source does, ignoring what stages removed.
  bool begins_source() const noexcept { return offset_ == 0; }
  /// The bytes of `range` as a separate text.
  AlignedText part(ByteRange range) const;

  StageSteps* steps() const noexcept { return steps_; }
  /// Charges the work of one more stage, `n_per_byte` for each byte. Throws StagesTooLong if not
  /// enough is left.
  void pass(std::uint64_t n_per_byte = 1) const;
  /// Charges other work, and throws as pass() does.
  void work(std::uint64_t n) const;

 private:
  friend class AlignedBuilder;
  struct Span {
    std::uint32_t begin;
    std::uint32_t end;
  };

  std::string text_;
  std::size_t offset_ = 0;       // where the unchanged text began in the source
  std::size_t source_size_ = 0;  // the bytes of the source that it was made from
  StageSteps* steps_ = nullptr;
  bool is_changed_ = false;
  std::vector<Span> spans_;  // per byte if is_changed_; else byte i is the source's offset_ + i
};

/// Builds a changed text from left to right out of `from`, which must outlive the builder. Throws
/// StagesTooLong if it becomes larger than 64 times its source plus 4 KiB.
class AlignedBuilder {
 public:
  explicit AlignedBuilder(const AlignedText& from);

  /// Keeps a range unchanged, byte for byte.
  void keep(ByteRange range);
  /// Replaces a range by `text`, each byte of which stands for the whole source of the range.
  void put(std::string_view text, ByteRange range);
  AlignedText finish();

 private:
  void check_growth(std::size_t n_more) const;

  const AlignedText& from_;
  AlignedText made_;
};

/// `text` with each invalid byte replaced by U+FFFD.
AlignedText with_valid_utf8(AlignedText text);

}  // namespace attnviz
