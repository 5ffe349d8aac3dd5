// attnviz tour: six screens about attention, one after another.
#pragma once

#include "options/options.h"

namespace attnviz::app {

void run_tour(const TourOptions& options);

}  // namespace attnviz::app
