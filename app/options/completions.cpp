#include "options/completions.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "attnviz/core/message.h"

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

namespace {

// Words of the line as a person sees them (bash cuts at colons and equals signs), the last the one
// to complete, and the candidates that fit it. None is expanded by the shell, neither while it is
// looked for nor on the line that it is put in: models, texts and files may be called anything.
constexpr const char* kBeginning = R"sh(# bash completion for attnviz
# Candidates that fit the word, one a line, quoted as the word is.
_attnviz_add() {
  local candidate plain=$word quote=
  if [[ $word == [\'\"]* ]]; then
    quote=yes plain=${word:1}
  else
    plain=${word//\\/}
  fi
  while IFS= read -r candidate; do
    if [[ -z $candidate || $candidate != "$plain"* ]]; then
      continue
    elif [[ $quote ]]; then
      if [[ $candidate != *[\$\`\\\'\"!]* ]]; then COMPREPLY+=("$candidate"); fi
    else
      printf -v candidate %q "$candidate"
      COMPREPLY+=("$candidate")
    fi
  done
}

# Names of files alone bash quotes itself, and it puts slashes behind folders.
_attnviz_files() {
  local file
  if [[ ${#COMPREPLY[@]} -eq 0 ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$word")
  else
    _attnviz_add < <(compgen -f -- "$word")
  fi
}

_attnviz_models() {
  _attnviz_add < <("${words[0]}" models --names 2>/dev/null)
}

_attnviz_tokens() {
  _attnviz_add < <("${words[0]}" --complete-tokens "${words[@]:1:${#words[@]}-3}" \
    "${COMP_WORDS[@]:COMP_CWORD+1}" 2>/dev/null)
}

_attnviz() {
  local -a words=()
  local i piece is_glued=
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece=${COMP_WORDS[i]}
    if [[ $piece == :* && ${#words[@]} -gt 0 ]]; then
      words[-1]+=$piece is_glued=yes
    elif [[ $piece == = ]]; then
      is_glued=
      if [[ $i -eq $COMP_CWORD ]]; then words+=(''); fi
    elif [[ $is_glued ]]; then
      words[-1]+=$piece is_glued=
    else
      words+=("$piece")
    fi
  done
  COMPREPLY=()
  if [[ ${#words[@]} -lt 2 ]]; then return; fi
  local word=${words[-1]} before=${words[-2]} command={default} options= arguments=
  for piece in "${words[@]:1:${#words[@]}-2}"; do
    case $piece in
      {pattern}) command=$piece; break ;;
    esac
  done
  case $command:$before in
)sh";

constexpr const char* kEnd = R"sh(  esac
  if [[ $word == -* ]]; then
    _attnviz_add < <(printf '%s\n' $options)
  elif [[ ${#words[@]} -eq 2 ]]; then
    _attnviz_add < <(printf '%s\n' {names})
  elif [[ $arguments == files ]]; then
    _attnviz_files
  elif [[ -n $arguments ]]; then
    _attnviz_add < <(printf '%s\n' $arguments)
  fi
  _attnviz_end
}

# Of what stands behind a colon bash takes the part behind it; behind one more is typed.
_attnviz_end() {
  if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
    local prefix=${word%"${word##*:}"}
    COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
  fi
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:=] ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -F _attnviz attnviz
)sh";

std::string replaced_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string propose(const CompletionValues& values) {
  std::string does;
  if (!values.words.empty()) {
    does += fmt::format("_attnviz_add < <(printf '%s\\n' {}); ", fmt::join(values.words, " "));
  }
  does += values.models ? "_attnviz_models; " : "";
  does += values.tokens ? "_attnviz_tokens; " : "";
  does += values.files ? "_attnviz_files; " : "";
  return does + "_attnviz_end; return ;;";
}

// One line for the options of all commands that propose the same: "show:--style|tour:--style".
std::string value_cases(const std::vector<CommandDescription>& commands) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> cases;  // name, does, of
  for (const CommandDescription& command : commands) {
    for (const OptionSpec& option : command.options) {
      for (const std::string& name : option.names) {
        const std::string does = option.is_flag() ? "" : propose(completion_values(option));
        cases[name][does].push_back(command.name);
      }
    }
  }
  std::map<std::string, std::string> patterns;  // does, where
  for (const auto& [name, of] : cases) {
    for (const auto& [does, names] : of) {
      for (const std::string& command : of.size() == 1 ? std::vector<std::string>{"*"} : names) {
        std::string& pattern = patterns[does];
        pattern += fmt::format("{}{}:{}", pattern.empty() ? "" : "|", command, name);
      }
    }
  }
  std::string out;
  for (const auto& [does, pattern] : patterns) {
    if (!does.empty()) {
      fmt::format_to(std::back_inserter(out), "    {}) {}\n", pattern, does);
    }
  }
  return out;
}

}  // namespace

std::string bash_completion(const std::vector<CommandDescription>& commands) {
  const std::string names = names_of_commands(commands);
  std::string out = replaced_all(kBeginning, "{pattern}", replaced_all(names, " ", "|"));
  out = replaced_all(out, "{default}", commands.front().name) + value_cases(commands);
  out += "  esac\n  case $command in\n";
  for (const CommandDescription& command : commands) {
    std::vector<std::string> options;
    for (const OptionSpec& option : command.options) {
      options.insert(options.end(), option.names.begin(), option.names.end());
    }
    fmt::format_to(std::back_inserter(out), "    {}) options='{}'", command.name,
                   fmt::join(options, " "));
    for (const OptionSpec& argument : command.arguments) {
      const CompletionValues values = completion_values(argument);
      if (!values.empty()) {
        fmt::format_to(std::back_inserter(out), " arguments='{}'",
                       values.files ? "files" : fmt::format("{}", fmt::join(values.words, " ")));
      }
    }
    out += " ;;\n";
  }
  return out + replaced_all(kEnd, "{names}", names);
}

namespace {

constexpr const char* kFishFunctions = R"sh(# fish completion for attnviz
function __attnviz_models
    set -l typed (commandline -opc)
    $typed[1] models --names 2>/dev/null
end

function __attnviz_tokens
    set -l typed (commandline -opc)
    if test (count $typed) -gt 2
        $typed[1] --complete-tokens $typed[2..-2] 2>/dev/null
    end
end

complete -c attnviz -f
)sh";

// " -x -a 'a b (__attnviz_models)'"; with files no -x, which would keep them away.
std::string fish_values(const CompletionValues& values) {
  std::string words = fmt::format("{}", fmt::join(values.words, " "));
  const auto add = [&words](const char* call) {
    words += (words.empty() ? "" : " ") + std::string(call);
  };
  if (values.models) {
    add("(__attnviz_models)");
  }
  if (values.tokens) {
    add("(__attnviz_tokens)");
  }
  return (values.files ? " -r -F" : " -x") + (words.empty() ? "" : " -a '" + words + "'");
}

}  // namespace

std::string fish_completion(const std::vector<CommandDescription>& commands) {
  std::string out = kFishFunctions;
  std::string others;
  for (const CommandDescription& command : commands) {
    fmt::format_to(std::back_inserter(out),
                   "complete -c attnviz -n '__fish_is_first_arg' -a {} -d '{}'\n", command.name,
                   in_single_quotes(command.summary, "\\'"));
    others += &command == &commands.front() ? "" : " " + command.name;
  }
  for (const CommandDescription& command : commands) {
    const std::string condition = &command == &commands.front()
                                      ? fmt::format("not __fish_seen_subcommand_from{}", others)
                                      : fmt::format("__fish_seen_subcommand_from {}", command.name);
    for (const OptionSpec& option : command.options) {
      fmt::format_to(std::back_inserter(out), "complete -c attnviz -n '{}'", condition);
      for (const std::string& name : option.names) {
        const bool is_long = name.starts_with("--");
        fmt::format_to(std::back_inserter(out), " {} {}", is_long ? "-l" : "-s",
                       name.substr(is_long ? 2 : 1));
      }
      out += option.is_flag() ? "" : fish_values(completion_values(option));
      fmt::format_to(std::back_inserter(out), " -d '{}'\n", in_single_quotes(option.text, "\\'"));
    }
    for (const OptionSpec& argument : command.arguments) {
      if (const CompletionValues values = completion_values(argument); !values.empty()) {
        fmt::format_to(
            std::back_inserter(out), "complete -c attnviz -n '{}'{}\n", condition,
            values.files ? " -F" : fmt::format(" -a '{}'", fmt::join(values.words, " ")));
      }
    }
  }
  return out;
}

namespace {

// `typed` and `at` are the whole line's words and the one to complete, which _arguments cuts.
constexpr const char* kZshFunctions = R"sh(#compdef attnviz

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
  std::string out = kZshFunctions;
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
