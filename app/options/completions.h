// Shell completions, made from the option definitions. The first command is the default one.
#pragma once

#include <string>
#include <vector>

#include "options/command_line.h"

namespace attnviz::app {

std::string bash_completion(const std::vector<CommandDescription>& commands);
std::string zsh_completion(const std::vector<CommandDescription>& commands);
std::string fish_completion(const std::vector<CommandDescription>& commands);

}  // namespace attnviz::app
