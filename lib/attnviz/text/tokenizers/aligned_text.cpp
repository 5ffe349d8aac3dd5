#include "attnviz/text/tokenizers/aligned_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

void StageSteps::allow_for(std::size_t n_bytes) noexcept {
  // Several parts of a pattern may each read the same white space, and go back; ordinary text takes
  // about ten steps per byte. Eight Unicode forms are more work than in any known tokenizer.
  constexpr std::uint64_t kStepsPerByte = 512;
  constexpr std::uint64_t kWorkPerByte = 256;
  n_left_.fetch_add(kStepsPerByte * n_bytes);
  work_left_.fetch_add(kWorkPerByte * n_bytes);
}

bool StageSteps::take(Left& left, std::uint64_t n) noexcept {
  std::uint64_t n_left = left.load();
  while (!left.compare_exchange_weak(n_left, n_left - std::min(n_left, n))) {
  }
  return n <= n_left;
}

void AlignedText::pass(std::uint64_t n_per_byte) const {
  constexpr std::size_t kAlways = 16;  // even for an empty text
  work(n_per_byte * text_.size() + kAlways);
}

void AlignedText::work(std::uint64_t n) const {
  if (steps_ != nullptr && !steps_->take_work(n)) {
    throw StagesTooLong(fmt::format("the tokenizer's stages take too many steps in {} of text",
                                    counted(text_.size(), "byte")));
  }
}

ByteRange AlignedText::source(ByteRange range) const noexcept {
  if (!is_changed_) {
    return {offset_ + range.begin, offset_ + range.end};
  }
  if (range.begin < range.end) {
    return {spans_[range.begin].begin, spans_[range.end - 1].end};
  }
  std::size_t place = offset_;
  if (range.begin < spans_.size()) {
    place = spans_[range.begin].begin;
  } else if (!spans_.empty()) {
    place = spans_.back().end;
  }
  return {place, place};
}

AlignedText AlignedText::part(ByteRange range) const {
  AlignedBuilder builder(*this);
  builder.keep(range);
  AlignedText made = builder.finish();
  if (range.begin > 0) {
    made.offset_ = source(range).begin;
  }
  return made;
}

AlignedBuilder::AlignedBuilder(const AlignedText& from) : from_(from) {
  constexpr std::uint64_t kPerByte = 4;  // the byte and its range
  from.pass(kPerByte);
  made_.is_changed_ = true;
  made_.offset_ = from.offset_;
  made_.source_size_ = from.source_size_;
  made_.steps_ = from.steps_;
  made_.text_.reserve(from.size() + from.size() / 4);
  made_.spans_.reserve(from.size() + from.size() / 4);
}

// A series of normalizers that each double a text would exceed any memory.
void AlignedBuilder::check_growth(std::size_t n_more) const {
  constexpr std::size_t kMostTimes = 64;
  // A text has many parts, with a token between each two.
  constexpr std::size_t kAlways = std::size_t{1} << 12;
  const std::size_t most = kMostTimes * made_.source_size_ + kAlways;
  if (n_more > most - std::min(most, made_.text_.size())) {
    throw StagesTooLong(
        fmt::format("the tokenizer makes {} of text longer and longer: expected at most {} "
                    "bytes when normalized, found more",
                    counted(made_.source_size_, "byte"), most));
  }
}

void AlignedBuilder::keep(ByteRange range) {
  check_growth(range.size());
  made_.text_ += from_.text(range);
  if (from_.is_changed_) {
    made_.spans_.insert(made_.spans_.end(),
                        from_.spans_.begin() + static_cast<std::ptrdiff_t>(range.begin),
                        from_.spans_.begin() + static_cast<std::ptrdiff_t>(range.end));
    return;
  }
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const auto place = static_cast<std::uint32_t>(from_.offset_ + i);
    made_.spans_.push_back({place, place + 1});
  }
}

void AlignedBuilder::put(std::string_view text, ByteRange range) {
  check_growth(text.size());
  const ByteRange source = from_.source(range);
  made_.text_ += text;
  made_.spans_.insert(
      made_.spans_.end(), text.size(),
      {static_cast<std::uint32_t>(source.begin), static_cast<std::uint32_t>(source.end)});
}

AlignedText AlignedBuilder::finish() {
  made_.pass();
  return std::move(made_);
}

AlignedText with_valid_utf8(AlignedText text) {
  if (is_utf8(text.text())) {
    return text;
  }
  AlignedBuilder builder(text);
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = decode_utf8(text.text(), i);
    const ByteRange range{i, i + point.length};
    if (point.valid) {
      builder.keep(range);
    } else {
      builder.put("\uFFFD", range);
    }
    i = range.end;
  }
  return builder.finish();
}

}  // namespace attnviz
