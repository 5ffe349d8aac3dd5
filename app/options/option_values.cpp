#include "options/option_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/json_tree.h"

namespace attnviz::app {

namespace {

[[noreturn]] void fail(std::string_view option, std::string_view expected, std::string_view found) {
  throw Error(ErrorKind::kUsage,
              fmt::format("{}: expected {}, found \"{}\"", option, expected, found));
}

}  // namespace

void refuse_equals_sign(std::string_view option, std::string_view word) {
  if (word.starts_with('=')) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: expected a value, found \"{}\": leave out the =", option, word));
  }
}

std::uint64_t parse_count(std::string_view option, std::string_view word, std::uint64_t low,
                          std::uint64_t high) {
  const auto number = parse_number<std::uint64_t>(word);
  if (!number || *number < low || *number > high) {
    fail(option, fmt::format("a whole number from {} to {}", low, high), word);
  }
  return *number;
}

float parse_decimal(std::string_view option, std::string_view word) {
  const auto number = parse_number<float>(word);
  if (!number || !std::isfinite(*number)) {
    fail(option, "a number, for example 0.5", word);
  }
  return *number;
}

std::vector<double> parse_numbers(std::string_view option, std::string_view text) {
  constexpr std::string_view kBetween = " \t\r\n\v\f,;[]()";
  std::vector<double> numbers;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) {
      return numbers;
    }
    const std::string_view word = text.substr(0, text.find_first_of(kBetween));
    text.remove_prefix(word.size());
    std::string plain(word);
    if (word.starts_with(kLongMinus)) {
      plain.replace(0, kLongMinus.size(), "-");
    } else if (word.starts_with('+') && !word.starts_with("+-")) {
      plain.erase(0, 1);
    }
    const auto number = parse_number<double>(plain);
    if (!number) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{}: expected numbers, found {}", option, in_quotes(word)));
    }
    numbers.push_back(*number);
  }
}

double parse_positive(std::string_view option, std::string_view word) {
  const auto number = parse_number<double>(word);
  if (!number || !std::isnormal(*number) || *number < 0.0) {
    fail(option, "a number above 0", word);
  }
  return *number;
}

double parse_memory(std::string_view option, std::string_view word) {
  constexpr double kLeast = 32.0 * 1024 * 1024;  // half is for memory that no estimate counts
  constexpr std::string_view kUnits = "kmgt";
  const std::string lower = ascii_lower(word);
  const std::size_t end = std::min(lower.find_first_not_of("0123456789."), lower.size());
  const std::string_view unit = std::string_view(lower).substr(end);
  const std::size_t power = unit.empty() ? 0 : kUnits.find(unit.front()) + 1;
  const bool is_known = unit.size() < 2 || unit.substr(1) == "b" || unit.substr(1) == "ib";
  const auto number = parse_number<double>(std::string_view(lower).substr(0, end));
  const double bytes = number.value_or(0.0) *
                       std::pow(unit.ends_with("b") && !unit.ends_with("ib") ? 1000.0 : 1024.0,
                                static_cast<double>(power));
  const bool has_unit = !unit.empty() && unit != "b";
  if (!number || !is_known || (has_unit && power == 0) || !(bytes < 1e18)) {
    fail(option, "a size, for example 1500M or 2G", word);
  }
  if (bytes < kLeast) {
    fail(option, "at least 32M", word);
  }
  return bytes;
}

Length parse_length(std::string_view option, std::string_view word) {
  constexpr double kMost = 65536.0;
  constexpr std::size_t kUnitColumns = 2;
  const std::size_t end = word.size() - std::min(word.size(), kUnitColumns);
  const auto number = parse_number<double>(word.substr(0, end));
  const auto unit = choice_named(kLengthUnits, word.substr(end));
  if (!number || !unit || !(*number > 0.0 && *number <= kMost)) {
    fail(option,
         number && unit && *number > kMost
             ? fmt::format("a width of at most {}{}", kMost, word.substr(end))
             : "a width, for example 85mm, 7in or 1200px",
         word);
  }
  return {*number, *unit};
}

float parse_share(std::string_view option, std::string_view word) {
  const float share = parse_decimal(option, word);
  if (!(share >= 0.0f && share < 1.0f)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: expected a number from 0 to below 1, found \"{}\"", option, word));
  }
  return share;
}

ValueRange parse_range(std::string_view option, std::string_view word) {
  const std::size_t colon = word.find(':');
  const auto low = parse_number<float>(word.substr(0, colon));
  const auto high =
      colon == std::string_view::npos ? std::nullopt : parse_number<float>(word.substr(colon + 1));
  if (!low || !high || !std::isfinite(*low) || !std::isfinite(*high) || *low >= *high) {
    fail(option, "LO:HI with LO below HI, as in 0:0.5, or auto", word);
  }
  return {*low, *high};
}

std::vector<std::string> parse_tokens(std::string_view option, std::string_view word) {
  std::vector<std::string> tokens;
  if (word.starts_with('[')) {
    try {
      const JsonTree tree = JsonTree::parse(word, option);
      for (const JsonNode& token : tree.root().as_list("a list of strings")) {
        tokens.emplace_back(token.as_string());
      }
    } catch (const Error& error) {
      throw Error(ErrorKind::kUsage, error.what());
    }
    return tokens;
  }
  for (std::size_t begin = word.find_first_not_of(' '); begin != std::string_view::npos;) {
    const std::size_t end = std::min(word.find(' ', begin), word.size());
    tokens.emplace_back(word.substr(begin, end - begin));
    begin = word.find_first_not_of(' ', end);
  }
  if (tokens.empty()) {
    fail(option, "tokens with spaces between them", word);
  }
  return tokens;
}

std::vector<TokenId> parse_ids(std::string_view option, std::string_view word) {
  std::vector<TokenId> ids;
  for (const std::string_view item : list_parts(word)) {
    const auto id = parse_number<TokenId>(item);
    if (!id) {
      fail(option, "token ids, for example 5,17,3", word);
    }
    ids.push_back(*id);
  }
  return ids;
}

}  // namespace attnviz::app
