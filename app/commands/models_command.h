// attnviz models: what -m NAME finds on this machine.
#pragma once

#include "options/options.h"

namespace attnviz::app {

/// Looks at no tensor, and ends for no broken file. Throws Error{kIo} when it cannot write.
void run_models(const ModelsOptions& options);

}  // namespace attnviz::app
