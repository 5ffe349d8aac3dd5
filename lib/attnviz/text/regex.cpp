#include "attnviz/text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/core.h>
#include <pcre2.h>

#include <array>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

struct Free {
  void operator()(pcre2_match_data* data) const noexcept { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const noexcept {
    pcre2_match_context_free(context);
  }
};

// Enough for any sensible pattern; a hostile one gives up within seconds.
constexpr std::uint32_t kMostSteps = 1'000'000;

}  // namespace

struct Regex::Code {
  explicit Code(pcre2_code* compiled) : code(compiled) {}
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() { pcre2_code_free(code); }

  // Matches in valid UTF-8 that begins at `offset` of the whole text. False: too many steps.
  bool find(std::string_view text, std::size_t offset, pcre2_match_data* data,
            pcre2_match_context* context, std::vector<ByteRange>& matches) const;

  pcre2_code* code;
};

bool Regex::Code::find(std::string_view text, std::size_t offset, pcre2_match_data* data,
                       pcre2_match_context* context, std::vector<ByteRange>& matches) const {
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  for (std::size_t i = 0; i < text.size();) {
    const int found = pcre2_match(code, subject, text.size(), i, PCRE2_NO_UTF_CHECK, data, context);
    if (found == PCRE2_ERROR_NOMATCH) {
      return true;
    }
    if (found < 0) {
      return false;
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
  return true;
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
  std::vector<ByteRange> matches;
  const std::unique_ptr<pcre2_match_data, Free> data(
      pcre2_match_data_create_from_pattern(code_->code, nullptr));
  const std::unique_ptr<pcre2_match_context, Free> context(pcre2_match_context_create(nullptr));
  if (data == nullptr || context == nullptr) {
    return matches;
  }
  pcre2_set_match_limit(context.get(), kMostSteps);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = i + valid_utf8_prefix(text.substr(i));
    if (!code_->find(text.substr(i, end - i), i, data.get(), context.get(), matches)) {
      break;
    }
    i = end + 1;  // past the byte that is no UTF-8
  }
  return matches;
}

}  // namespace attnviz
