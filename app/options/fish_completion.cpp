#include <fmt/format.h>

#include <iterator>
#include <string>
#include <vector>

#include "options/completion_values.h"
#include "options/completions.h"

namespace attnviz::app {

namespace {

constexpr const char* kFunctions = R"sh(# fish completion for attnviz
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
  std::string out = kFunctions;
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

}  // namespace attnviz::app
