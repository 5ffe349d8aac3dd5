#include "options/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "attnviz/core/message.h"

namespace attnviz::app {

namespace {

// Whether the word is a placeholder: "FILE", "K", "LO:HI".
bool is_placeholder(std::string_view word) {
  return std::ranges::none_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
}

bool is_safe(std::string_view word) {
  constexpr std::string_view kSpecial = "\"'\\$`!&;()<>|*?[]{}~#";
  return !word.starts_with('-') && !word.starts_with('=') &&
         word.find_first_of(kSpecial) == std::string_view::npos && printable_line(word) == word;
}

// The words of a text that can name a token, each once; a repeated one also as "cat#2". Words that
// a shell would not read literally are left out.
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

// Candidates for an option's value or a positional argument, without placeholders ("TOKEN", "N").
std::string value_lines(const OptionSpec& option, std::string_view text) {
  std::vector<std::string> words = option.choices;
  bool has_files = false;
  for (const std::string_view part : list_parts(option.value, '|')) {
    if (part == "FILE" || part == "PATH") {
      has_files = true;
    } else if (part == "TOKEN" && part != option.value) {  // TOKEN alone is a vocabulary token
      std::ranges::move(token_words(text), std::back_inserter(words));
    } else if (!is_placeholder(part)) {
      // "window:W" is proposed up to its colon.
      const std::size_t colon = part.find(':');
      words.emplace_back(part.substr(0, colon == std::string_view::npos ? colon : colon + 1));
    }
  }
  if (option.long_name() == "--model") {
    words.emplace_back("<models>");
  }
  if (has_files) {
    words.emplace_back("<files>");
  }
  return words.empty() ? "" : fmt::format("{}\n", joined_by(words, "\n"));
}

}  // namespace

std::string completion_lines(const std::vector<CommandDescription>& commands,
                             const OptionList& options, const CompletedLine& line) {
  const OptionSpec* const before = options.find(line.before);
  if (before != nullptr && !before->is_positional() && !before->is_flag()) {
    // In bash the text still has its quotes.
    const std::size_t begin = line.text.find_first_not_of("\"'");
    return value_lines(*before, line.text.substr(std::min(begin, line.text.size())));
  }
  std::string lines;
  if (line.word.starts_with('-')) {
    for (const OptionSpec& option : options.all()) {
      for (const std::string& name : option.names) {
        // fish would also search the descriptions for the word.
        if (!option.is_positional() && name.starts_with(line.word)) {
          lines += fmt::format("{}\t{}\n", name, option.text);
        }
      }
    }
  } else if (line.is_first) {
    for (const CommandDescription& command : commands) {
      lines += fmt::format("{}\t{}\n", command.name, command.summary);
    }
  } else {
    for (const OptionSpec& option : options.all()) {
      lines += option.is_positional() ? value_lines(option, "") : "";
    }
  }
  return lines;
}

// The words of the line as the user sees them (bash splits at colons and equals signs), the last
// one to be completed, and the candidates that match it. The shell expands none of them, neither
// during the search nor on the line: models, texts and files may have any name.
const char* const kBashCompletion = R"sh(# bash completion for attnviz
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

# Names of files alone bash quotes itself, and it puts slashes after folders.
_attnviz_files() {
  local file
  if [[ ${#COMPREPLY[@]} -eq 0 ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$word")
  else
    _attnviz_add < <(compgen -f -- "$word")
  fi
}

_attnviz() {
  local -a words=()
  local i piece is_glued= line
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
  local word=${words[-1]}
  while IFS= read -r line; do
    case $line in
      '<models>') _attnviz_add < <("${words[0]}" models --names 2>/dev/null) ;;
      '<files>') _attnviz_files ;;
      *) _attnviz_add <<<"${line%%$'\t'*}" ;;
    esac
  done < <("${words[0]}" --complete $((${#words[@]} - 1)) "${words[@]:1}" \
    "${COMP_WORDS[@]:COMP_CWORD+1}" 2>/dev/null)
  # bash replaces only what stands after a colon; after one more is typed.
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

const char* const kFishCompletion = R"sh(# fish completion for attnviz
function __attnviz
    set -l typed (commandline -opc)
    set -l program $typed[1]
    set -e typed[1]
    set -l word (commandline -ct)
    set -l option (string match -r -- '^--[^=]+=' $word)
    if test -n "$option"
        set typed $typed (string replace -r -- '=$' '' $option)
        set word (string replace -- $option '' $word)
    end
    for line in ($program --complete (math (count $typed) + 1) $typed "$word" 2>/dev/null)
        switch $line
            case '<models>'
                printf '%s\n' "$option"($program models --names 2>/dev/null)
            case '<files>'
                printf '%s\n' "$option"(__fish_complete_path "$word")
            case '*'
                printf '%s\n' "$option$line"
        end
    end
end

complete -c attnviz -f -a '(__attnviz)'
)sh";

const char* const kZshCompletion = R"sh(#compdef attnviz
_attnviz() {
  local program=${(Q)words[1]} line
  local -a typed=("${(@Q)words[2,-1]}") open plain described
  local -i at=$(( CURRENT - 1 ))
  if [[ $PREFIX == --*=* ]]; then
    typed[at]=("${typed[at]%%=*}" "${typed[at]#*=}")
    (( at++ ))
    compset -P '*='
  fi
  for line in ${(f)"$($program --complete $at "${(@)typed}" 2>/dev/null)"}; do
    case $line in
      '<models>') plain+=(${(f)"$($program models --names 2>/dev/null)"}) ;;
      '<files>') _files ;;
      *$'\t'*) described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
      *[:=]) open+=($line) ;;
      *) plain+=($line) ;;
    esac
  done
  compadd -S "" -a open
  compadd -a plain
  if (( $#described )); then _describe attnviz described; fi
}

_attnviz "$@"
)sh";

}  // namespace attnviz::app
