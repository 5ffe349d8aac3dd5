#include <fmt/format.h>

#include <iterator>
#include <string>
#include <vector>

#include "options/completion_values.h"
#include "options/completions.h"

namespace attnviz::app {

namespace {

// `typed` and `at` are the whole line's words and the one to complete, which _arguments cuts.
constexpr const char* kFunctions = R"sh(#compdef attnviz

_attnviz_models() {
  local -a names=(${(f)"$($typed[1] models --names 2>/dev/null)"})
  compadd -a names
}

_attnviz_tokens() {
  local -i last=$(( at - 2 ))
  if [[ $typed[at] == --*=* ]]; then last=$(( at - 1 )); fi
  local -a tokens=(${(f)"$($typed[1] --complete-tokens "${(@)typed[2,last]}" \
    "${(@)typed[at+1,-1]}" 2>/dev/null)"})
  compadd -a tokens
}

_attnviz() {
  local -a typed=("${(@Q)words}")
  local -i at=$CURRENT
  local command= word=
)sh";

// zsh reads brackets, colons and quotes of a description.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : in_single_quotes(text, "'\\''")) {
    if (c == '[' || c == ']' || c == ':') {
      out += '\\';
    }
    out += c;
  }
  return out;
}

// "{compadd -- a b; _files}"; " " alone: nothing.
std::string zsh_action(const CompletionValues& values) {
  std::string does;
  std::string closed;
  std::string open;
  for (const std::string& word : values.words) {
    (is_open_ended(word) ? open : closed) += " " + word;
  }
  does += closed.empty() ? "" : "compadd --" + closed + "; ";
  // In a specification a colon is written with a backslash.
  does += open.empty() ? "" : "compadd -S \"\" --" + zsh_text(open) + "; ";
  does += values.models ? "_attnviz_models; " : "";
  does += values.tokens ? "_attnviz_tokens; " : "";
  does += values.files ? "_files; " : "";
  return does.empty() ? " " : "{" + does.substr(0, does.size() - 2) + "}";
}

}  // namespace

std::string zsh_completion(const std::vector<CommandDescription>& commands) {
  const std::string names = names_of_commands(commands);
  std::string out = kFunctions;
  fmt::format_to(std::back_inserter(out),
                 "  if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then\n"
                 "    compadd -- {0}\n"
                 "    return\n"
                 "  fi\n"
                 "  for word in \"${{(@)typed[2,at-1]}}\"; do\n"
                 "    if [[ \" {0} \" == *\" $word \"* ]]; then\n"
                 "      command=$word\n"
                 "      words[$words[(i)$word]]=()\n"
                 "      (( CURRENT-- ))\n"
                 "      break\n"
                 "    fi\n"
                 "  done\n"
                 "  case $command in\n",
                 names);
  for (std::size_t i = 1; i <= commands.size(); ++i) {
    const bool is_default = i == commands.size();  // the pattern * comes last
    const CommandDescription& command = is_default ? commands.front() : commands[i];
    fmt::format_to(std::back_inserter(out), "    {})\n      _arguments -s \\\n",
                   is_default ? "*" : command.name);
    for (const OptionSpec& option : command.options) {
      for (const std::string& name : option.names) {
        const bool is_long = name.starts_with("--");
        fmt::format_to(std::back_inserter(out), "        '*{}{}[{}]{}' \\\n", name,
                       !option.is_flag() && is_long ? "=" : "", zsh_text(option.text),
                       option.is_flag() ? ""
                                        : fmt::format(":{}:{}", zsh_text(option.value),
                                                      zsh_action(completion_values(option))));
      }
    }
    CompletionValues values;
    for (const OptionSpec& argument : command.arguments) {
      values = completion_values(argument);
    }
    fmt::format_to(std::back_inserter(out), "        '*:text:{}'\n      ;;\n", zsh_action(values));
  }
  out += "  esac\n}\n\n_attnviz \"$@\"\n";
  return out;
}

}  // namespace attnviz::app
