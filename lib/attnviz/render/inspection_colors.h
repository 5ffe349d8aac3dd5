// The hues of query, key and value, the same in every step, on a terminal and in a picture.
#pragma once

#include <string>

#include "attnviz/render/colormap.h"
#include "attnviz/render/terminal.h"

namespace attnviz {

enum class InspectionRole { kPlain, kQuery, kKey, kValue };

/// Blue, orange, green: told apart by colour-blind eyes (after Okabe and Ito 2008), and at least
/// 3 : 1 in contrast with white and with black. kPlain: the text colour of a white page.
Rgb role_color(InspectionRole role) noexcept;

/// The same as SGR parameters; empty for kPlain and for ColorDepth::kNone.
std::string role_style(InspectionRole role, ColorDepth depth);

}  // namespace attnviz
