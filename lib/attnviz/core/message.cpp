#include "attnviz/core/message.h"

#include <fmt/core.h>

#include <algorithm>

#include "attnviz/core/utf8.h"

namespace attnviz {

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kColumns = 60;
  constexpr std::size_t kBytes = 4 * kColumns;  // characters of zero width must end, too
  return fmt::format("\"{}\"", fit_width(printable_line(text.substr(0, kBytes)), kColumns));
}

std::string shown_name(std::string_view name) {
  constexpr std::size_t kLongest = 120;
  return name.empty() || name.size() > kLongest ? in_quotes(name) : printable(name);
}

std::string joined(std::span<const std::string> items, std::string_view word) {
  std::string list;
  for (std::size_t i = 0; i < items.size(); ++i) {
    list += i == 0 ? "" : i + 1 == items.size() ? fmt::format(" {} ", word) : ", ";
    list += items[i];
  }
  return list;
}

std::string joined_by(std::span<const std::string> items, std::string_view separator) {
  return joined_by(std::vector<std::string_view>(items.begin(), items.end()), separator);
}

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::vector<std::string_view> found;
  for (std::size_t begin = text.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    found.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return found;
}

std::vector<std::string_view> list_parts(std::string_view list, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(separator, begin), list.size());
    std::string_view part = list.substr(begin, end - begin);
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    parts.push_back(part.substr(0, part.find_last_not_of(' ') + 1));
    begin = end + 1;
  }
  return parts;
}

std::string safe_message(std::string_view text, bool ascii) {
  std::string message;
  for (const std::string_view word : words_of(text)) {
    message += message.empty() ? "" : " ";
    message += ascii ? printable_ascii(word) : printable(word);
  }
  return message;
}

std::string printable_line(std::string_view text) {
  std::string line;
  for (const char c : printable_message(text)) {
    if (c == '\n') {
      line += "⏎";
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace attnviz
