// The hues of query, key and value on a terminal.
#pragma once

#include "attnviz/color/role_colors.h"
#include "attnviz/terminal/page/page.h"

namespace attnviz {

/// Text in role_color(); plain for kPlain.
Style role_style(InspectionRole role, ColorDepth depth);

}  // namespace attnviz
