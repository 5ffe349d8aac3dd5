#include "options/completions.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <string_view>

#include "attnviz/core/message.h"

namespace attnviz::app {

namespace {

bool is_long(std::string_view name) {
  return name.starts_with("--");
}

// What can be completed: of "window:W" the part up to its colon.
std::vector<std::string_view> choices_of(const OptionSpec& option) {
  if (option.value.find('|') == std::string::npos) {
    return {};
  }
  std::vector<std::string_view> choices = list_parts(option.value, '|');
  for (std::string_view& choice : choices) {
    if (const std::size_t colon = choice.find(':'); colon != std::string_view::npos) {
      choice = choice.substr(0, colon + 1);
    }
  }
  return choices;
}

// Inside single quotes, for a shell.
std::string quoted(std::string_view text, std::string_view quote_inside) {
  std::string out;
  for (const char c : text) {
    out += c == '\'' ? quote_inside : std::string_view(&c, 1);
  }
  return out;
}

std::vector<std::string> names_of(const CommandDescription& command) {
  std::vector<std::string> names;
  for (const OptionSpec& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::string command_names(const std::vector<CommandDescription>& commands) {
  std::string names;
  for (const CommandDescription& command : commands) {
    names += (names.empty() ? "" : " ") + std::string(command.name);
  }
  return names;
}

std::string zsh_action(const OptionSpec& option) {
  if (option.value == "FILE") {
    return ":file:_files";
  }
  const auto choices = choices_of(option);
  return choices.empty() ? fmt::format(":{}: ", option.value)
                         : fmt::format(":value:({})", fmt::join(choices, " "));
}

// zsh reads brackets, colons and quotes of a description.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : quoted(text, "'\\''")) {
    if (c == '[' || c == ']' || c == ':') {
      out += '\\';
    }
    out += c;
  }
  return out;
}

}  // namespace

std::string bash_completion(const std::vector<CommandDescription>& commands) {
  std::string out =
      "# bash completion for attnviz\n"
      "_attnviz() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local command=${COMP_WORDS[1]} options=\n"
      "  COMPREPLY=()\n"
      "  case $before in\n";
  std::string seen = " ";
  for (const CommandDescription& command : commands) {
    for (const OptionSpec& option : command.options) {
      const std::string pattern = fmt::format("{}", fmt::join(option.names, "|"));
      if (option.value.empty() || seen.find(" " + option.names.back() + " ") != std::string::npos) {
        continue;
      }
      seen += option.names.back() + " ";
      const auto choices = choices_of(option);
      if (option.value == "FILE") {
        fmt::format_to(std::back_inserter(out),
                       "    {}) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "
                       "\"$word\"); return ;;\n",
                       pattern);
      } else if (choices.empty()) {
        fmt::format_to(std::back_inserter(out), "    {}) return ;;\n", pattern);
      } else {
        fmt::format_to(std::back_inserter(out),
                       "    {}) mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$word\"); return "
                       ";;\n",
                       pattern, fmt::join(choices, " "));
      }
    }
  }
  out += "  esac\n  case $command in\n";
  for (std::size_t i = 1; i <= commands.size(); ++i) {
    const bool is_default = i == commands.size();  // the pattern * comes last
    const CommandDescription& command = is_default ? commands.front() : commands[i];
    fmt::format_to(std::back_inserter(out), "    {}) options='{}' ;;\n",
                   is_default ? "*" : command.name, fmt::join(names_of(command), " "));
  }
  fmt::format_to(std::back_inserter(out),
                 "  esac\n"
                 "  if [[ $word == -* ]]; then\n"
                 "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
                 "  elif [[ $COMP_CWORD -eq 1 ]]; then\n"
                 "    mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$word\")\n"
                 "  fi\n"
                 "}}\n"
                 "complete -F _attnviz attnviz\n",
                 command_names(commands));
  return out;
}

std::string zsh_completion(const std::vector<CommandDescription>& commands) {
  std::string out = "#compdef attnviz\n\n_attnviz() {\n  local command=$words[2]\n";
  fmt::format_to(std::back_inserter(out),
                 "  if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then\n"
                 "    compadd -- {0}\n"
                 "    return\n"
                 "  fi\n"
                 "  if [[ \" {0} \" == *\" $command \"* ]] && (( CURRENT > 2 )); then\n"
                 "    shift words\n"
                 "    (( CURRENT-- ))\n"
                 "  fi\n"
                 "  case $command in\n",
                 command_names(commands));
  for (std::size_t i = 1; i <= commands.size(); ++i) {
    const bool is_default = i == commands.size();
    const CommandDescription& command = is_default ? commands.front() : commands[i];
    fmt::format_to(std::back_inserter(out), "    {})\n      _arguments -s \\\n",
                   is_default ? "*" : command.name);
    for (const OptionSpec& option : command.options) {
      for (const std::string& name : option.names) {
        fmt::format_to(std::back_inserter(out), "        '*{}[{}]{}' \\\n", name,
                       zsh_text(option.text), option.value.empty() ? "" : zsh_action(option));
      }
    }
    out += "        '*:text: '\n      ;;\n";
  }
  out += "  esac\n}\n\n_attnviz \"$@\"\n";
  return out;
}

std::string fish_completion(const std::vector<CommandDescription>& commands) {
  std::string out = "# fish completion for attnviz\ncomplete -c attnviz -f\n";
  std::string others;
  for (const CommandDescription& command : commands) {
    fmt::format_to(std::back_inserter(out),
                   "complete -c attnviz -n '__fish_is_first_arg' -a {} -d '{}'\n", command.name,
                   quoted(command.summary, "\\'"));
    others += &command == &commands.front() ? "" : " " + command.name;
  }
  for (const CommandDescription& command : commands) {
    const std::string condition = &command == &commands.front()
                                      ? fmt::format("not __fish_seen_subcommand_from{}", others)
                                      : fmt::format("__fish_seen_subcommand_from {}", command.name);
    for (const OptionSpec& option : command.options) {
      fmt::format_to(std::back_inserter(out), "complete -c attnviz -n '{}'", condition);
      for (const std::string& name : option.names) {
        fmt::format_to(std::back_inserter(out), " {} {}", is_long(name) ? "-l" : "-s",
                       name.substr(is_long(name) ? 2 : 1));
      }
      const auto choices = choices_of(option);
      if (option.value == "FILE") {
        out += " -r -F";
      } else if (!choices.empty()) {
        fmt::format_to(std::back_inserter(out), " -x -a '{}'", fmt::join(choices, " "));
      } else if (!option.value.empty()) {
        out += " -x";
      }
      fmt::format_to(std::back_inserter(out), " -d '{}'\n", quoted(option.text, "\\'"));
    }
  }
  return out;
}

}  // namespace attnviz::app
