#include "options/man_page.h"

#include <fmt/core.h>

#include <iterator>

namespace attnviz::app {

namespace {

// Text as troff takes it: a backslash or a minus is written out, a leading dot is no request.
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
    fmt::format_to(std::back_inserter(out), ".TP\n.B {}\n{}\n", escaped(example.command),
                   escaped(example.text));
  }
}

void append_options(std::string& out, const CommandDescription& command) {
  std::string_view group;
  for (const OptionSpec& option : command.options) {
    if (option.group != group) {
      group = option.group;
      fmt::format_to(std::back_inserter(out), ".SS {} options of {}\n", group, command.name);
    }
    std::string names;
    for (const std::string& name : option.names) {
      names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", escaped(name));
    }
    if (!option.value.empty()) {
      names += fmt::format(" \\fI{}\\fR", escaped(option.value));
    }
    fmt::format_to(std::back_inserter(out), ".TP\n{}\n{}\n", names, escaped(option.text));
  }
}

struct Paragraph {
  const char* head;
  const char* text;
};

constexpr Paragraph kExitCodes[] = {
    {"0", "done"},
    {"1", "could not read or write"},
    {"2", "the command line makes no sense"},
    {"3", "an input file is malformed"},
    {"4", "an input file is well-formed but not supported"},
    {"130", "interrupted; unfinished files are removed"},
};

constexpr Paragraph kEnvironment[] = {
    {"NO_COLOR", "when not empty: no colour, unless --color says otherwise"},
    {"CLICOLOR_FORCE", "when neither empty nor 0: colour into pipes too"},
    {"COLUMNS", "width of the drawing, in place of the terminal's"},
    {"OLLAMA_MODELS", "where Ollama's models are, in place of ~/.ollama/models"},
    {"LLAMA_CACHE", "where llama.cpp's are, in place of ~/.cache/llama.cpp"},
    {"HF_HUB_CACHE, HF_HOME",
     "where Hugging Face's are, in place of ~/.cache/huggingface/hub; hub in the latter"},
    {"COLORTERM, TERM", "how many colours the terminal has; TERM=dumb: drawings are plain ascii"},
};

template <std::size_t N>
void append_list(std::string& out, const char* title, const Paragraph (&paragraphs)[N]) {
  fmt::format_to(std::back_inserter(out), ".SH {}\n", title);
  for (const Paragraph& paragraph : paragraphs) {
    fmt::format_to(std::back_inserter(out), ".TP\n.B {}\n{}\n", paragraph.head,
                   escaped(paragraph.text));
  }
}

}  // namespace

std::string man_page(const std::vector<CommandDescription>& commands, std::string_view version,
                     std::string_view date) {
  std::string out = fmt::format(
      ".TH ATTNVIZ 1 {} \"attnviz {}\"\n.SH NAME\nattnviz \\- show what attention does, from a "
      "terminal\n.SH SYNOPSIS\n",
      date, version);
  for (const CommandDescription& command : commands) {
    fmt::format_to(std::back_inserter(out), "{}.B {}\n",
                   &command == &commands.front() ? "" : ".br\n", escaped(command.usage));
  }
  out +=
      ".SH DESCRIPTION\n"
      "Cuts a text into tokens, computes where each token looks (softmax of the scaled products "
      "of\n"
      "queries and keys, head by head), and draws it: rows are queries, columns are keys.\n"
      "A TEXT of \\- is standard input; so is no TEXT when input is piped.\n"
      "A TEXT that equals a command's name goes behind \\fBshow\\fR or \\fB\\-\\-\\fR.\n"
      "Data goes to standard output, everything said to a person to standard error.\n"
      "Files are complete or not there at all.\n"
      ".SH COMMANDS\n";
  for (const CommandDescription& command : commands) {
    fmt::format_to(std::back_inserter(out), ".TP\n.B {}\n{}\n", command.name,
                   escaped(command.summary));
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
