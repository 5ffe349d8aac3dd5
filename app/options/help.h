// What is said of the commands: by --help, and in the manual page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/command_line.h"

namespace attnviz::app {

/// Help of the command `name`, lines of at most 80 columns, examples first. The first of `commands`
/// also lists the others.
std::string help_text(const std::vector<CommandDescription>& commands, std::string_view name);

/// At most 24 lines of at most 80 columns: how the command is used, and its most used options.
std::string short_help(const std::vector<CommandDescription>& commands, std::string_view name);

/// attnviz(1) in man(7) markup. `date` is YYYY-MM-DD.
std::string man_page(const std::vector<CommandDescription>& commands, std::string_view version,
                     std::string_view date);

}  // namespace attnviz::app
