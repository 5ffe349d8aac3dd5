// attnviz inspect: one query of a text, followed through every step of a head.
#pragma once

#include "options/options.h"

namespace attnviz::app {

void run_inspect(const InspectOptions& options);

}  // namespace attnviz::app
