// From the words of the command line to a Command, and what the commands say of themselves.
#pragma once

#include <string>
#include <vector>

#include "options/options.h"

namespace attnviz::app {

/// `arguments` without the program's name. Throws Error{kUsage}; --help and --version win over
/// every other mistake.
Command parse_command_line(std::vector<std::string> arguments);

struct OptionDescription {
  std::vector<std::string> names;  // "-m", "--model", …: short ones first
  std::string value;               // "FILE", "N", "a|b|c"; empty for a flag
  std::string text;
  std::string group;
};

struct ExampleDescription {
  std::string command;
  std::string text;
};

struct CommandDescription {
  std::string name;
  std::string summary;
  std::string usage;
  std::vector<ExampleDescription> examples;
  std::vector<OptionDescription> options;  // by group, in the order of help
};

/// The default command (show) first.
std::vector<CommandDescription> describe_commands();

/// The commands' names, the default one first.
std::vector<std::string> command_names();

}  // namespace attnviz::app
