// The command line that made an output, as the output tells it.
#pragma once

#include <string>

#include "options/option_parser.h"

namespace attnviz::app {

/// What computes the same attention as the command `name`, without its text: what is drawn of it,
/// and how, a page says itself.
std::string computing_command(const std::string& name, const ParsedWords& parsed);

}  // namespace attnviz::app
