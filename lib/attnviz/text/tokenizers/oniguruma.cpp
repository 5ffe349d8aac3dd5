#include <fmt/core.h>
#include <oniguruma.h>

#include <array>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/text/tokenizers/regex_engine.h"

namespace attnviz {

namespace {

// Places to go back to, of some 40 bytes each.
constexpr unsigned int kMostStack = 1U << 22;

const OnigUChar* bytes_of(const char* text) noexcept {
  return reinterpret_cast<const OnigUChar*>(text);
}

struct Free {
  void operator()(OnigRegion* region) const noexcept { onig_region_free(region, 1); }
  void operator()(OnigMatchParam* limits) const noexcept { onig_free_match_param(limits); }
  void operator()(OnigRegexType* compiled) const noexcept { onig_free(compiled); }
};

using Compiled = std::shared_ptr<OnigRegexType>;

class Matcher : public RegexMatcher {
 public:
  explicit Matcher(Compiled compiled)
      : compiled_(std::move(compiled)),
        region_(onig_region_new()),
        limits_(onig_new_match_param()) {
    if (region_ == nullptr || limits_ == nullptr) {
      throw std::bad_alloc();
    }
    onig_initialize_match_param(limits_.get());
    onig_set_match_stack_limit_size_of_match_param(limits_.get(), kMostStack);
  }

  void set_limit(std::uint32_t n_steps) noexcept override {
    onig_set_retry_limit_in_match_of_match_param(limits_.get(), n_steps);
  }

  Found match(std::string_view text, std::size_t begin, bool anchored, ByteRange& range) override {
    const OnigUChar* const first = bytes_of(text.data());
    const OnigUChar* const end = first + text.size();
    const int found = anchored
                          ? onig_match_with_param(compiled_.get(), first, end, first + begin,
                                                  region_.get(), ONIG_OPTION_NONE, limits_.get())
                          : onig_search_with_param(compiled_.get(), first, end, first + begin, end,
                                                   region_.get(), ONIG_OPTION_NONE, limits_.get());
    if (found == ONIGERR_MEMORY) {
      throw std::bad_alloc();
    }
    if (found < 0) {
      return found == ONIG_MISMATCH ? Found::kNothing : Found::kTooLong;
    }
    range = {static_cast<std::size_t>(region_->beg[0]), static_cast<std::size_t>(region_->end[0])};
    return Found::kMatch;
  }

 private:
  Compiled compiled_;
  std::unique_ptr<OnigRegion, Free> region_;
  std::unique_ptr<OnigMatchParam, Free> limits_;
};

// Oniguruma 6.9.8 leaves symbols out of this class, those that tokenizers are built with do not.
std::string with_symbols(std::string_view pattern) {
  constexpr std::pair<std::string_view, std::string_view> kClasses[] = {
      {"[:punct:]", "\\p{P}\\p{S}"}, {"[:^punct:]", "[^\\p{P}\\p{S}]"}};
  std::string out(pattern);
  for (const auto& [name, meant] : kClasses) {
    for (std::size_t i = out.find(name); i != std::string::npos; i = out.find(name, i)) {
      out.replace(i, name.size(), meant);
    }
  }
  return out;
}

class Code : public RegexCode {
 public:
  explicit Code(OnigRegexType* compiled) : compiled_(compiled, Free()) {}
  std::unique_ptr<RegexMatcher> matcher() const override {
    return std::make_unique<Matcher>(compiled_);
  }

 private:
  Compiled compiled_;
};

}  // namespace

std::shared_ptr<const RegexCode> compile_oniguruma(std::string_view pattern,
                                                   std::string_view where) {
  static std::once_flag is_ready;
  std::call_once(is_ready, [] {
    std::array encodings = {ONIG_ENCODING_UTF8};
    onig_initialize(encodings.data(), static_cast<int>(encodings.size()));
  });
  OnigRegexType* compiled = nullptr;
  OnigErrorInfo info = {};
  const std::string meant = with_symbols(pattern);
  const OnigUChar* const first = bytes_of(meant.data());
  const int status = onig_new(&compiled, first, first + meant.size(), ONIG_OPTION_NONE,
                              ONIG_ENCODING_UTF8, ONIG_SYNTAX_DEFAULT, &info);
  if (status != ONIG_NORMAL) {
    std::array<OnigUChar, ONIG_MAX_ERROR_MESSAGE_LEN> message{};
    onig_error_code_to_str(message.data(), status, &info);
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected a regular expression that Oniguruma understands, found "
                            "{}: {}",
                            where, quoted(pattern), reinterpret_cast<const char*>(message.data())));
  }
  return std::make_shared<const Code>(compiled);
}

}  // namespace attnviz
