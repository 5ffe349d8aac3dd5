// Words of the command line to values; every error names the option.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/picture/scene/scene.h"
#include "attnviz/report/report_requests.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz::app {

/// Only long names take an equals sign: -o=FILE would write a file named =FILE. Throws
/// Error{kUsage}.
void refuse_equals_sign(std::string_view option, std::string_view word);

/// A whole number in [low, high]. Throws Error{kUsage}.
std::uint64_t parse_count(std::string_view option, std::string_view word, std::uint64_t low,
                          std::uint64_t high);

/// The same as a parser that is still to be given option and word.
inline auto count_between(std::uint64_t low, std::uint64_t high) {
  return [low, high](std::string_view option, std::string_view word) {
    return parse_count(option, word, low, high);
  };
}

/// The minus sign of printed books, U+2212.
inline constexpr std::string_view kLongMinus = "\u2212";

/// The numbers of a text, with blanks, commas or semicolons between them, and brackets around them
/// or not; either minus sign, inf and nan. Throws Error{kUsage} that begins with `option`.
std::vector<double> parse_numbers(std::string_view option, std::string_view text);

/// A finite decimal number above 0. Throws Error{kUsage}.
double parse_positive(std::string_view option, std::string_view word);

/// "1500M", "2G", "1.5GiB" or bytes, of at least 32M, as bytes: K, M, G and T are powers of
/// 1024, as GNU's tools have them, KB and MB of 1000. Throws Error{kUsage}.
double parse_memory(std::string_view option, std::string_view word);

/// A finite decimal number. Throws Error{kUsage}.
float parse_decimal(std::string_view option, std::string_view word);

/// A number from 0 to below 1. Throws Error{kUsage}.
float parse_share(std::string_view option, std::string_view word);

/// "0:0.5": two finite numbers, the first one less. Throws Error{kUsage}.
ValueRange parse_range(std::string_view option, std::string_view word);

/// "85mm", "7in", "1200px". Throws Error{kUsage}.
Length parse_length(std::string_view option, std::string_view word);

/// Words with spaces between them, or a JSON list of strings. Throws Error{kUsage}.
std::vector<std::string> parse_tokens(std::string_view option, std::string_view word);

/// "5,17,3". Throws Error{kUsage} when one is no id, or there is none.
std::vector<TokenId> parse_ids(std::string_view option, std::string_view word);

/// The words of a table as help shows them: "a|b|c".
template <class Choices>
std::string joined_choices(const Choices& choices) {
  std::string joined;
  for (const std::string& word : choice_words(choices)) {
    joined.append(joined.empty() ? "" : "|").append(word);
  }
  return joined;
}
}  // namespace attnviz::app
