// What --help prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/command_line.h"

namespace attnviz::app {

/// Help of the command `name`, lines of at most 80 columns, examples first. The first of `commands`
/// also lists the others.
std::string help_text(const std::vector<CommandDescription>& commands, std::string_view name);

}  // namespace attnviz::app
