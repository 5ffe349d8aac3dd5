#include "options/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "attnviz/core/utf8.h"

namespace attnviz::app {

namespace {

constexpr std::size_t kColumns = 80;

// `text` broken at spaces to lines of at most `width`, each behind `indent` spaces but the first.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t columns = display_width(word);
    if (used > 0 && used + 1 + columns > width) {
      out += '\n';
      out.append(indent, ' ');
      used = 0;
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += columns;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// A name on the left, what it means on the right; a long name gets a line of its own.
void append_entry(std::string& out, std::string_view left, std::string_view right,
                  std::size_t column) {
  std::string line = fmt::format("  {}", left);
  if (display_width(line) + 2 > column) {
    line += '\n';
    line.append(column, ' ');
  } else {
    line = pad_right(line, column);
  }
  out += line + wrapped(right, column, kColumns - column) + '\n';
}

std::string option_label(const OptionSpec& option) {
  const bool has_short = !option.names.front().starts_with("--");
  std::string label = fmt::format("{}{}", has_short ? "" : "    ", fmt::join(option.names, ", "));
  return option.value.empty() ? label : label + ' ' + option.value;
}

}  // namespace

std::string help_text(const std::vector<CommandDescription>& commands, std::string_view name) {
  constexpr std::size_t kOptionColumn = 30;
  constexpr std::size_t kCommandColumn = 14;
  const auto command = std::find_if(commands.begin(), commands.end(),
                                    [name](const auto& entry) { return entry.name == name; });
  const std::string title =
      command == commands.begin() ? "attnviz" : fmt::format("attnviz {}", command->name);
  std::string out = fmt::format("{}: {}\n\nExamples:\n", title, command->summary);
  std::size_t widest = 0;
  for (const Example& example : command->examples) {
    widest = std::max(widest, display_width(example.command));
  }
  for (const Example& example : command->examples) {
    append_entry(out, example.command, example.text, widest + 4);
  }
  out += fmt::format("\nUsage: {}\n", command->usage);
  if (command == commands.begin()) {
    out +=
        "  TEXT - is standard input; so is no TEXT when input is piped.\n"
        "  A TEXT that equals a command's name goes behind show or --.\n\nCommands:\n";
    for (const CommandDescription& entry : commands) {
      append_entry(out, entry.name, entry.summary, kCommandColumn);
    }
    out += "  attnviz COMMAND --help tells a command's options.\n";
  }
  std::string_view group;
  for (const OptionSpec& option : command->options) {
    if (option.group != group) {
      group = option.group;
      fmt::format_to(std::back_inserter(out), "\n{}:\n", group);
    }
    append_entry(out, option_label(option), option.text, kOptionColumn);
  }
  return out;
}

}  // namespace attnviz::app
