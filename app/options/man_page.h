// The manual page, made from the option definitions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/command_line.h"

namespace attnviz::app {

/// attnviz(1) in man(7) markup. `date` is YYYY-MM-DD.
std::string man_page(const std::vector<CommandDescription>& commands, std::string_view version,
                     std::string_view date);

}  // namespace attnviz::app
