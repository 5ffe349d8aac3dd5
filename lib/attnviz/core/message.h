// Parts of messages: counted nouns, quoted input and lists in words. Text that is safe to print on
// one line.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace attnviz {

/// "1 number", "2 numbers".
std::string counted(std::size_t count, std::string_view noun);

/// `text` in double quotes, printable and cut after 60 columns: files may contain strings of
/// megabytes.
std::string in_quotes(std::string_view text);

/// A name from a file, printable: bare as people know it, but quoted and cut as above if it is
/// empty or has more than 120 bytes.
std::string shown_name(std::string_view name);

/// "a", "a and b", "a, b and c" if `word` is "and".
std::string joined(std::span<const std::string> items, std::string_view word);

/// Strings or whole numbers, separated by `separator`.
std::string joined_by(std::span<const std::string> items, std::string_view separator);
template <class Items>
requires(!std::convertible_to<const Items&, std::span<const std::string>>) std::string
    joined_by(const Items& items, std::string_view separator) {
  std::string list;
  bool is_first = true;
  for (const auto& item : items) {
    list += is_first ? std::string_view() : separator;
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(item)>>) {
      list += std::to_string(item);
    } else {
      list += item;
    }
    is_first = false;
  }
  return list;
}

/// The words of `text`, which are separated by blanks and line ends.
std::vector<std::string_view> words_of(std::string_view text);

/// The parts of "a, b,c", without surrounding spaces: at least one, which may be empty.
std::vector<std::string_view> list_parts(std::string_view list, char separator = ',');

/// A sentence on one line: words separated by single spaces, everything else made visible as in a
/// label. `ascii`: in 7 bits.
std::string safe_message(std::string_view text, bool ascii);

/// Like printable_message(), but makes line feeds visible too.
std::string printable_line(std::string_view text);

}  // namespace attnviz
