// Parsers of option values; every error names the option.
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

/// Throws Error{kUsage} for a word with a leading equals sign: only long names take one, and
/// -o=FILE would write a file named =FILE.
void refuse_equals_sign(std::string_view option, std::string_view word);

/// A whole number in [low, high]. Throws Error{kUsage}.
std::uint64_t parse_count(std::string_view option, std::string_view word, std::uint64_t low,
                          std::uint64_t high);

/// parse_count() with its bounds, as a parser that takes option and word.
inline auto count_between(std::uint64_t low, std::uint64_t high) {
  return [low, high](std::string_view option, std::string_view word) {
    return parse_count(option, word, low, high);
  };
}

/// The minus sign of printed books, U+2212.
inline constexpr std::string_view kLongMinus = "\u2212";

/// The numbers in a text, separated by blanks, commas or semicolons, with or without brackets
/// around them; either minus sign, inf and nan. Throws Error{kUsage} that begins with `option`.
std::vector<double> parse_numbers(std::string_view option, std::string_view text);

/// A finite decimal number above 0. Throws Error{kUsage}.
double parse_positive(std::string_view option, std::string_view word);

/// "1500M", "2G", "1.5GiB" or plain bytes, at least 32M, in bytes: K, M, G and T are powers of
/// 1024, as in GNU tools; KB and MB are powers of 1000. Throws Error{kUsage}.
double parse_memory(std::string_view option, std::string_view word);

/// A finite decimal number. Throws Error{kUsage}.
float parse_decimal(std::string_view option, std::string_view word);

/// A number in [0, 1). Throws Error{kUsage}.
float parse_share(std::string_view option, std::string_view word);

/// "0:0.5": two finite numbers, the first less than the second. Throws Error{kUsage}.
ValueRange parse_range(std::string_view option, std::string_view word);

/// "85mm", "7in", "1200px". Throws Error{kUsage}.
Length parse_length(std::string_view option, std::string_view word);

/// Words separated by spaces, or a JSON list of strings. Throws Error{kUsage}.
std::vector<std::string> parse_tokens(std::string_view option, std::string_view word);

/// "5,17,3". Throws Error{kUsage} if an item is not an id, or the list is empty.
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
