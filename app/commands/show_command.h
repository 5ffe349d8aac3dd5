// attnviz show: text in, attention out as a drawing, a picture or numbers.
#pragma once

#include "options/options.h"

namespace attnviz::app {

void run_show(const ShowOptions& options);

}  // namespace attnviz::app
