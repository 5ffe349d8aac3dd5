// From the words of the command line to a Command, and what the commands say of themselves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options/option_parser.h"
#include "options/options.h"
#include "options/usage_suggestion.h"

namespace attnviz::app {

/// What a line asks for, and how much memory that may take.
struct CommandLine {
  Command command;
  std::optional<double> max_memory = {};  // bytes
};

/// `arguments` without the program's name. The command comes first, or behind options of its own;
/// `help`, alone or before a command, is --help. Throws Error{kUsage}; --help and --version win
/// over every other mistake.
CommandLine parse_command_line(std::vector<std::string> arguments, const NamesModel& names_model);

struct Example {
  std::string command;
  std::string text;
};

struct CommandDescription {
  std::string name;
  std::string summary;
  std::string usage;
  std::vector<Example> examples;
  std::vector<OptionSpec> options;         // by group, in the order of help; only to be read
  std::vector<OptionSpec> arguments = {};  // words without an option before them; only to be read
};

/// The default command (show) first.
std::vector<CommandDescription> describe_commands();

/// The commands' names, the default one first.
std::vector<std::string> command_names();

}  // namespace attnviz::app
