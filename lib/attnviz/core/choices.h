// Words that name values: one table parses, names and lists them. Did-you-mean: the known word
// closest to a mistyped one. Numbers parsed from words.
#pragma once

#include <charconv>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace attnviz {

/// One row of a table of words.
template <class Value>
struct Choice {
  std::string_view word;
  Value value;
};
template <class Value>
Choice(std::string_view, Value) -> Choice<Value>;

/// The value that `word` names, if any.
template <class Choices>
constexpr auto choice_named(const Choices& choices, std::string_view word) noexcept
    -> std::optional<decltype(choices.front().value)> {
  for (const auto& choice : choices) {
    if (choice.word == word) {
      return choice.value;
    }
  }
  return std::nullopt;
}

/// The word for `value`; empty if the table has none.
template <class Choices, class Value>
constexpr std::string_view word_for(const Choices& choices, const Value& value) noexcept {
  for (const auto& choice : choices) {
    if (choice.value == value) {
      return choice.word;
    }
  }
  return {};
}

/// Every word, in the table's order.
template <class Choices>
std::vector<std::string> choice_words(const Choices& choices) {
  std::vector<std::string> words;
  words.reserve(std::size(choices));
  for (const auto& choice : choices) {
    words.emplace_back(choice.word);
  }
  return words;
}

/// Throws Error{kUsage}: "scale: expected linear, log, found "lin"", with a did-you-mean.
[[noreturn]] void fail_choice(std::string_view parameter, std::string_view word,
                              const std::vector<std::string>& choices);

/// The value that `word` names. Throws Error{kUsage} as fail_choice() does.
template <class Choices>
auto parse_choice(std::string_view parameter, std::string_view word, const Choices& choices) {
  if (const auto value = choice_named(choices, word)) {
    return *value;
  }
  fail_choice(parameter, word, choice_words(choices));
}

/// The candidate with the fewest edits (insertion, deletion, replacement, swap of neighbours;
/// Damerau 1964) from `word`, if these are at most a third of its length (at least one edit is
/// allowed). A candidate with the same letters and digits, ignoring case and other characters,
/// takes precedence.
std::optional<std::string> closest_word(std::string_view word,
                                        std::span<const std::string> candidates);

/// " (did you mean \"x\"?)", or an empty string.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// The number that `word` as a whole spells, independent of the locale; nothing if it is not a
/// number or does not fit.
template <class Number>
std::optional<Number> parse_number(std::string_view word) noexcept {
  Number number{};
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace attnviz
