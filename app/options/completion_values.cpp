#include "options/completion_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "attnviz/core/message.h"
#include "attnviz/core/printable_line.h"

namespace attnviz::app {

namespace {

// "FILE", "K", "LO:HI": what is to be put in its place.
bool is_placeholder(std::string_view word) {
  return std::ranges::none_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
}

bool is_safe(std::string_view word) {
  constexpr std::string_view kTold = "\"'\\$`!&;()<>|*?[]{}~#";
  return !word.starts_with('-') && !word.starts_with('=') &&
         word.find_first_of(kTold) == std::string_view::npos && printable_line(word) == word;
}

}  // namespace

CompletionValues completion_values(const OptionSpec& option) {
  CompletionValues values;
  values.words = option.choices;
  for (const std::string_view part : list_parts(option.value, '|')) {
    if (part == "FILE" || part == "PATH") {
      values.files = true;
      values.models = std::ranges::find(option.names, "-m") != option.names.end();
    } else if (part == "TOKEN" && part != option.value) {  // alone it is one of the vocabulary
      values.tokens = true;
    } else if (!is_placeholder(part)) {
      // Of "window:W" the part up to its colon.
      const std::size_t colon = part.find(':');
      values.words.emplace_back(
          part.substr(0, colon == std::string_view::npos ? colon : colon + 1));
    }
  }
  return values;
}

std::string in_single_quotes(std::string_view text, std::string_view quote_inside) {
  std::string out;
  for (const char c : text) {
    out += c == '\'' ? quote_inside : std::string_view(&c, 1);
  }
  return out;
}

std::string names_of_commands(const std::vector<CommandDescription>& commands) {
  std::string names;
  for (const CommandDescription& command : commands) {
    names += (names.empty() ? "" : " ") + command.name;
  }
  return names;
}

std::vector<std::string> token_words(std::string_view text) {
  constexpr std::string_view kMarks = ".,;:!?\"'()";
  std::vector<std::string> tokens;
  std::map<std::string_view, std::size_t> counts;
  for (std::string_view word : words_of(text)) {
    word.remove_prefix(std::min(word.find_first_not_of(kMarks), word.size()));
    word = word.substr(0, word.find_last_not_of(kMarks) + 1);
    if (word.empty() || !is_safe(word)) {
      continue;
    }
    const std::size_t count = ++counts[word];
    tokens.push_back(count == 1 ? std::string(word) : fmt::format("{}#{}", word, count));
  }
  return tokens;
}

}  // namespace attnviz::app
