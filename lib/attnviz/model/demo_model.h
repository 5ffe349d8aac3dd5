// The model in the box: a small Llama, trained on generated sentences, that is part of the library.
#pragma once

#include "attnviz/model/model.h"

namespace attnviz {

/// The embedded model; assets/demo says what it was trained on and what its heads do.
/// Its weights stay where the program was loaded to.
Model demo_model();

}  // namespace attnviz
