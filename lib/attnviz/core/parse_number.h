// Numbers out of words.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace attnviz {

/// The number that all of `word` is, whatever the locale; nothing when it is none, or does not fit.
template <class Number>
std::optional<Number> parse_number(std::string_view word) noexcept {
  Number number{};
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace attnviz
