#include "options/advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "options/command_line.h"

namespace attnviz::app {

namespace {

constexpr std::string_view kWordCharacters = "abcdefghijklmnopqrstuvwxyz_";

// "--d-model" of d_model, "--heads" of n_heads.
std::string option_of(std::string_view parameter) {
  std::string option(parameter.substr(parameter.starts_with("n_") ? 2 : 0));
  std::ranges::replace(option, '_', '-');
  return "--" + option;
}

}  // namespace

std::string in_option_names(std::string message, std::string_view parameter) {
  if (parameter.empty() || message.empty()) {
    return message;
  }
  const std::vector<CommandDescription> commands = describe_commands();
  const auto is_option = [&commands](const std::string& name) {
    return std::ranges::any_of(commands, [&name](const CommandDescription& command) {
      return std::ranges::any_of(command.options, [&name](const OptionSpec& option) {
        return std::ranges::find(option.names, name) != option.names.end();
      });
    });
  };
  // The first word may be the parameter; elsewhere its name is a word of the language, unless it
  // has a low line.
  for (std::size_t begin = 0; begin < message.size();) {
    const std::size_t end =
        std::min(message.find_first_not_of(kWordCharacters, begin), message.size());
    const std::string word = message.substr(begin, end - begin);
    const std::string option = option_of(word);
    const bool is_parameter = begin == 0 ? word == parameter : word.find('_') != std::string::npos;
    if (is_parameter && is_option(option)) {
      message.replace(begin, word.size(), option);
      begin += option.size();
    } else {
      begin = std::max(end, begin + 1);
    }
  }
  std::vector<std::string> to_type;
  for (const CommandDescription& command : commands) {
    for (const OptionSpec& option : command.options) {
      for (const auto& [about, words] : option.parameters) {
        if (about == parameter && message.find(words) == std::string::npos &&
            std::ranges::find(to_type, words) == to_type.end()) {
          to_type.push_back(words);
        }
      }
    }
  }
  return to_type.empty() ? message : fmt::format("{} ({})", message, fmt::join(to_type, ", "));
}

}  // namespace attnviz::app
