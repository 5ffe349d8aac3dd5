#include "attnviz/text/tokenizers/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/core.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

struct Free {
  void operator()(pcre2_match_data* data) const noexcept { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const noexcept {
    pcre2_match_context_free(context);
  }
};

// Memory of the interpreter, in KiB.
constexpr std::uint32_t kMostHeap = std::uint32_t{1} << 18;

// What a match may take from one character on. A run of white space takes a few steps for each of
// its characters, hence more for longer texts. Each time that it is too little there is half as
// much. But what PCRE2 counts as one step may read the whole text: when failures may have read
// kMostRead bytes, the next ones pass more and more characters, so that there are few.
class StepLimit {
 public:
  StepLimit(pcre2_match_context* context, std::size_t text_size) : context_(context) {
    constexpr std::size_t kLeast = 1'000'000;
    constexpr std::size_t kStepsPerByte = 8;
    limit_ = static_cast<std::uint32_t>(
        std::clamp<std::size_t>(kStepsPerByte * text_size, kLeast, UINT32_MAX));
    pcre2_set_match_limit(context_, limit_);
    pcre2_set_heap_limit(context_, kMostHeap);
  }

  // For a match in `text_size` bytes that took too long. Says how many characters to pass.
  std::size_t fail(std::size_t text_size) {
    constexpr std::uint32_t kLeast = 64;
    constexpr std::size_t kMostRead = std::size_t{1} << 26;
    limit_ = std::max(limit_ / 2, kLeast);
    pcre2_set_match_limit(context_, limit_);
    n_read_ += text_size;
    n_passed_ = std::min(n_read_ <= kMostRead ? 1 : 2 * n_passed_, kMostRead);
    return n_passed_;
  }

 private:
  pcre2_match_context* context_;
  std::size_t n_read_ = 0;
  std::size_t n_passed_ = 1;
  std::uint32_t limit_ = 0;
};

}  // namespace

struct Regex::Code {
  explicit Code(pcre2_code* compiled) : code(compiled) {}
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() { pcre2_code_free(code); }

  // Matches in valid UTF-8 that begins at `offset` of the whole text.
  void find(std::string_view text, std::size_t offset, pcre2_match_data* data,
            pcre2_match_context* context, StepLimit& limit, std::vector<ByteRange>& matches) const;
  // As pcre2_match: compiled code has a small stack, and where it is full the interpreter is asked.
  int match(std::string_view text, std::size_t begin, std::uint32_t options, pcre2_match_data* data,
            pcre2_match_context* context) const;

  pcre2_code* code;
};

int Regex::Code::match(std::string_view text, std::size_t begin, std::uint32_t options,
                       pcre2_match_data* data, pcre2_match_context* context) const {
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  options |= PCRE2_NO_UTF_CHECK;
  const int found = pcre2_match(code, subject, text.size(), begin, options, data, context);
  return found == PCRE2_ERROR_JIT_STACKLIMIT
             ? pcre2_match(code, subject, text.size(), begin, options | PCRE2_NO_JIT, data, context)
             : found;
}

void Regex::Code::find(std::string_view text, std::size_t offset, pcre2_match_data* data,
                       pcre2_match_context* context, StepLimit& limit,
                       std::vector<ByteRange>& matches) const {
  // PCRE2 does not tell at which character a match took too long. To pass that one, and no other,
  // characters are tried one by one until it is found again.
  bool one_by_one = false;
  for (std::size_t i = 0; i < text.size();) {
    const int found = match(text, i, one_by_one ? PCRE2_ANCHORED : 0, data, context);
    if (found < 0 && !one_by_one) {
      if (found == PCRE2_ERROR_NOMATCH) {
        return;
      }
      one_by_one = true;
      continue;
    }
    if (found < 0) {
      std::size_t n_passed = 1;
      if (found != PCRE2_ERROR_NOMATCH) {
        one_by_one = false;
        n_passed = limit.fail(text.size());
      }
      for (; n_passed > 0 && i < text.size(); --n_passed) {
        i += decode_utf8(text, i).length;
      }
      continue;
    }
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data);
    if (ends[1] > ends[0] && ends[0] >= i) {
      matches.push_back({offset + ends[0], offset + ends[1]});
      i = ends[1];
    } else {  // an empty match, or one that \K made begin elsewhere: go on behind it
      i = std::max(i, ends[1]);
      i += i < text.size() ? decode_utf8(text, i).length : 0;
    }
  }
}

Regex::Regex(std::string_view pattern, std::string_view where) {
  int error = 0;
  PCRE2_SIZE place = 0;
  pcre2_code* code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &place, nullptr);
  if (code == nullptr) {
    std::array<PCRE2_UCHAR, 256> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{}expected a regular expression that PCRE2 understands, found {}: {} "
                    "(at byte {})",
                    where, quoted(pattern), reinterpret_cast<const char*>(message.data()), place));
  }
  code_ = std::make_shared<const Code>(code);
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // without it, matching only takes longer
}

std::vector<ByteRange> Regex::find_all(std::string_view text) const {
  return RegexSearch(*this, text.size()).find_all(text);
}

struct RegexSearch::State {
  State(std::shared_ptr<const Regex::Code> of, std::size_t n_bytes)
      : code(std::move(of)),
        data(pcre2_match_data_create_from_pattern(code->code, nullptr)),
        context(pcre2_match_context_create(nullptr)) {
    if (data == nullptr || context == nullptr) {
      throw std::bad_alloc();
    }
    limit.emplace(context.get(), n_bytes);
  }

  std::shared_ptr<const Regex::Code> code;
  std::unique_ptr<pcre2_match_data, Free> data;
  std::unique_ptr<pcre2_match_context, Free> context;
  std::optional<StepLimit> limit;
};

RegexSearch::RegexSearch(const Regex& regex, std::size_t n_bytes)
    : state_(std::make_unique<State>(regex.code_, n_bytes)) {}

RegexSearch::~RegexSearch() = default;

std::vector<ByteRange> RegexSearch::find_all(std::string_view text) {
  std::vector<ByteRange> matches;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = i + valid_utf8_prefix(text.substr(i));
    state_->code->find(text.substr(i, end - i), i, state_->data.get(), state_->context.get(),
                       *state_->limit, matches);
    i = end + 1;  // past the byte that is no UTF-8
  }
  return matches;
}

}  // namespace attnviz
