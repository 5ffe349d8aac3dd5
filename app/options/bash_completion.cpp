#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "options/completion_values.h"
#include "options/completions.h"

namespace attnviz::app {

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

}  // namespace attnviz::app
