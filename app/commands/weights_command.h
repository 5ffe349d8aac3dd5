// attnviz weights: random weights as JSON, a template to edit.
#pragma once

#include "options/options.h"

namespace attnviz::app {

void run_weights(const WeightsOptions& options);

}  // namespace attnviz::app
