// The hues of query, key and value on a terminal.
#pragma once

#include <string>

#include "attnviz/color/role_colors.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// role_color() as SGR parameters; empty for kPlain and for ColorDepth::kNone.
std::string role_style(InspectionRole role, ColorDepth depth);

}  // namespace attnviz
