// Runs a model that a fuzz target has read.
#pragma once

#include "attnviz/model/model.h"

namespace attnviz::test {

/// The attention and the logits of three tokens, whose weights are finite. Throws what runs throw.
void run_model(const Model& model);

}  // namespace attnviz::test
