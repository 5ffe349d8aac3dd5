// attnviz tokenize: tokens, ids and byte ranges of texts.
#pragma once

#include "options/options.h"

namespace attnviz::app {

void run_tokenize(const TokenizeOptions& options);

}  // namespace attnviz::app
