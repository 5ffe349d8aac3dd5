// attnviz render: attention that any tool computed, drawn.
#pragma once

#include "options/options.h"

namespace attnviz::app {

void run_render(const RenderOptions& options);

}  // namespace attnviz::app
