#include "options/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"

namespace attnviz::app {

namespace {

constexpr std::size_t kColumns = 80;

// `text` wrapped at spaces to lines of at most `width`; each but the first is indented by `indent`.
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
  std::string label = fmt::format("{}{}", has_short ? "" : "    ", joined_by(option.names, ", "));
  return option.value.empty() ? label : label + ' ' + option.value;
}

// An option's description without that of its values; if that is long, up to a comma.
std::string beginning_of(std::string_view text, std::size_t columns) {
  constexpr std::string_view kMore = ", …";
  text = text.substr(0, std::min({text.find(" ("), text.find("; "), text.find(": ")}));
  if (display_width(text) <= columns) {
    return std::string(text);
  }
  const std::size_t comma = text.rfind(", ", columns - display_width(kMore));
  return comma == text.npos ? std::string(text)
                            : std::string(text.substr(0, comma)) + std::string(kMore);
}

// "-m, --model FILE"; a value with many words is cut to the first ones.
std::string short_label(const OptionSpec& option) {
  constexpr std::size_t kWidest = 16;
  const std::string& first = option.names.front();
  const std::string& name = option.long_name();
  std::string label = first == name ? "    " + name : first + ", " + name;
  if (option.value.size() > kWidest) {
    return label + ' ' + option.value.substr(0, option.value.rfind('|', kWidest)) + "|…";
  }
  return option.is_flag() ? label : label + ' ' + option.value;
}

// Text for troff: backslashes and minus signs are escaped, and so is a dot that would begin a
// request.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '"') {
      out += "\\(dq";
    } else if (c == '\'' || c == '.') {
      out += out.empty() ? "\\&" : "";
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

void append_examples(std::string& out, const CommandDescription& command) {
  for (const Example& example : command.examples) {
    out += fmt::format(".TP\n.B {}\n{}\n", escaped(example.command), escaped(example.text));
  }
}

void append_options(std::string& out, const CommandDescription& command) {
  std::string_view group;
  for (const OptionSpec& option : command.options) {
    if (option.group != group) {
      group = option.group;
      out += fmt::format(".SS {} options of {}\n", group, command.name);
    }
    std::string names;
    for (const std::string& name : option.names) {
      names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", escaped(name));
    }
    if (!option.value.empty()) {
      names += fmt::format(" \\fI{}\\fR", escaped(option.value));
    }
    out += fmt::format(".TP\n{}\n{}\n", names, escaped(option.text));
  }
}

struct Paragraph {
  const char* head;
  const char* text;
};

constexpr Paragraph kExitCodes[] = {
    {"0", "done"},
    {"1", "could not read or write"},
    {"2", "the command line is wrong"},
    {"3", "an input file is malformed"},
    {"4", "an input file is well-formed but not supported"},
    {"5", "--expect does not hold (all output is still written), or --lint-prompt found something"},
    {"130", "interrupted; unfinished files are removed, and --partial keeps the sums so far"},
};

constexpr Paragraph kEnvironment[] = {
    {"NO_COLOR", "if not empty: no colour, unless --color is given"},
    {"CLICOLOR_FORCE", "if neither empty nor 0: colour in pipes, too"},
    {"COLUMNS", "width of drawings, instead of the terminal's width"},
    {"OLLAMA_MODELS", "folder of Ollama's models, instead of ~/.ollama/models"},
    {"LLAMA_CACHE", "folder of llama.cpp's models, instead of ~/.cache/llama.cpp"},
    {"HF_HUB_CACHE, HF_HOME",
     "folder of Hugging Face's models, instead of ~/.cache/huggingface/hub; with HF_HOME, its "
     "subfolder hub"},
    {"LC_ALL, LC_CTYPE, LANG",
     "the first one set: if it names UTF-8, output into pipes is not limited to 7 bits"},
    {"COLORTERM, TERM", "number of colours of the terminal; TERM=dumb: plain ascii drawings"},
};

template <std::size_t N>
void append_list(std::string& out, const char* title, const Paragraph (&paragraphs)[N]) {
  out += fmt::format(".SH {}\n", title);
  for (const Paragraph& paragraph : paragraphs) {
    out += fmt::format(".TP\n.B {}\n{}\n", paragraph.head, escaped(paragraph.text));
  }
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
        "  A TEXT of - reads standard input, as does piped input without a TEXT (but not\n"
        "  in heads). If TEXT is also the name of a command, put show or -- before "
        "it.\n\nCommands:\n";
    for (const CommandDescription& entry : commands) {
      append_entry(out, entry.name, entry.summary, kCommandColumn);
    }
    out += "  attnviz COMMAND --help lists a command's options.\n";
  }
  std::string_view group;
  for (const OptionSpec& option : command->options) {
    if (option.group != group) {
      group = option.group;
      out += fmt::format("\n{}:\n", group);
    }
    append_entry(out, option_label(option), option.text, kOptionColumn);
  }
  return out;
}

std::string short_help(const std::vector<CommandDescription>& commands, std::string_view name) {
  constexpr std::size_t kMost = 10;
  constexpr std::size_t kOptionColumn = 28;
  const auto command = std::ranges::find(commands, name, &CommandDescription::name);
  const bool is_default = command == commands.begin();
  std::string out =
      fmt::format("{}\n\nUsage: {}\n\n", wrapped(command->summary, 0, kColumns), command->usage);
  const auto n_common = std::ranges::count_if(command->options, &OptionSpec::is_common);
  std::size_t n_others = kMost - std::min(kMost, static_cast<std::size_t>(n_common));
  for (const OptionSpec& option : command->options) {
    if (option.is_common || n_others > 0) {
      n_others -= option.is_common ? 0 : 1;
      append_entry(out, short_label(option), beginning_of(option.text, kColumns - kOptionColumn),
                   kOptionColumn);
    }
  }
  out += is_default
             ? "\nattnviz --help lists all options, the other commands and examples;\n"
               "attnviz tour explains attention on six screens.\n"
             : fmt::format("\nattnviz {} --help lists all options and examples.\n", command->name);
  return out;
}

std::string man_page(const std::vector<CommandDescription>& commands, std::string_view version,
                     std::string_view date) {
  std::string out = fmt::format(
      ".TH ATTNVIZ 1 {} \"attnviz {}\"\n.SH NAME\nattnviz \\- show what attention does, from a "
      "terminal\n.SH SYNOPSIS\n",
      date, version);
  for (const CommandDescription& command : commands) {
    out += fmt::format("{}.B {}\n", &command == &commands.front() ? "" : ".br\n",
                       escaped(command.usage));
  }
  out +=
      ".SH DESCRIPTION\nattnviz cuts a text into tokens, computes which tokens each token looks at "
      "(softmax of the "
      "scaled products of\nqueries and keys, head by head), and draws it: rows are queries, "
      "columns are keys.\nA TEXT of \\- reads standard input, as does a missing TEXT when input is "
      "piped; only\n\\fBheads\\fR needs the \\-, because without a text it tests heads on random "
      "tokens.\nPut a TEXT that equals a command's name after \\fBshow\\fR or "
      "\\fB\\-\\-\\fR.\nData goes to standard output, messages go to standard error.\nOutput files "
      "are written completely or not at all.\n.SH COMMANDS\n";
  for (const CommandDescription& command : commands) {
    out += fmt::format(".TP\n.B {}\n{}\n", command.name, escaped(command.summary));
  }
  out += ".SH EXAMPLES\n";
  for (const CommandDescription& command : commands) {
    append_examples(out, command);
  }
  out += ".SH OPTIONS\n";
  for (const CommandDescription& command : commands) {
    append_options(out, command);
  }
  append_list(out, "EXIT STATUS", kExitCodes);
  append_list(out, "ENVIRONMENT", kEnvironment);
  return out;
}

}  // namespace attnviz::app
