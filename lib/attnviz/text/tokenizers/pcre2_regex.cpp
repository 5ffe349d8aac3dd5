// Patterns of known models, compiled to machine code.
#include <fmt/core.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <new>
#include <string>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/text/tokenizers/regex.h"

namespace attnviz {

namespace {

// Memory of the interpreter, in KiB.
constexpr std::uint32_t kMostHeap = std::uint32_t{1} << 18;

// What is white space to Unicode. PCRE2's \s has U+180E as well.
#define WHITE_SPACE                                                                     \
  R"(\t-\r\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F})" \
  R"(\x{3000})"

// `pattern` with \s and \S as Unicode means them. A \S within a class is left alone.
std::string with_unicode_spaces(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c != '\\' || i + 1 == pattern.size()) {
      in_class = c == '[' || (in_class && c != ']');
      out += c;
      continue;
    }
    const char next = pattern[++i];
    if (next == 's') {
      out += in_class ? WHITE_SPACE : "[" WHITE_SPACE "]";
    } else if (next == 'S' && !in_class) {
      out += "[^" WHITE_SPACE "]";
    } else {
      out += {c, next};
    }
  }
  return out;
}
#undef WHITE_SPACE

struct FreePcre2 {
  void operator()(pcre2_match_data* data) const noexcept { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const noexcept {
    pcre2_match_context_free(context);
  }
  void operator()(pcre2_code* compiled) const noexcept { pcre2_code_free(compiled); }
};

class Pcre2Matcher : public RegexMatcher {
 public:
  Pcre2Matcher(std::shared_ptr<pcre2_code> compiled, const RegexSteps& steps)
      : compiled_(std::move(compiled)),
        data_(pcre2_match_data_create_from_pattern(compiled_.get(), nullptr)),
        context_(pcre2_match_context_create(nullptr)) {
    if (data_ == nullptr || context_ == nullptr) {
      throw std::bad_alloc();
    }
    pcre2_set_heap_limit(context_.get(), kMostHeap);
    pcre2_set_match_limit(context_.get(), steps.n_retries());
  }

  Found match(std::string_view text, std::size_t begin, ByteRange& range) override {
    const std::uint32_t options = PCRE2_NO_UTF_CHECK;
    int found = match_with(text, begin, options);
    // Compiled code has a small stack, and where it is full the interpreter is asked.
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
      found = match_with(text, begin, options | PCRE2_NO_JIT);
    }
    if (found == PCRE2_ERROR_NOMEMORY) {
      throw std::bad_alloc();
    }
    if (found < 0) {
      return found == PCRE2_ERROR_NOMATCH ? Found::kNothing : Found::kTooLong;
    }
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data_.get());
    range = {ends[0], ends[1]};
    return Found::kMatch;
  }

 private:
  int match_with(std::string_view text, std::size_t begin, std::uint32_t options) {
    return pcre2_match(compiled_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                       begin, options, data_.get(), context_.get());
  }

  std::shared_ptr<pcre2_code> compiled_;
  std::unique_ptr<pcre2_match_data, FreePcre2> data_;
  std::unique_ptr<pcre2_match_context, FreePcre2> context_;
};

}  // namespace

std::shared_ptr<const RegexCode> compile_pcre2(std::string_view pattern) {
  const std::string own = with_unicode_spaces(pattern);
  int error = 0;
  PCRE2_SIZE place = 0;
  pcre2_code* compiled =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(own.data()), own.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &place, nullptr);
  if (compiled == nullptr) {
    if (error == PCRE2_ERROR_HEAP_FAILED) {
      throw std::bad_alloc();
    }
    std::array<PCRE2_UCHAR, 256> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: {} (at byte {})", quoted(own),
                            reinterpret_cast<const char*>(message.data()), place));
  }
  pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);  // without it, matching only takes longer
  return std::make_shared<const CompiledRegex<pcre2_code, Pcre2Matcher>>(
      std::shared_ptr<pcre2_code>(compiled, FreePcre2()));
}

}  // namespace attnviz
