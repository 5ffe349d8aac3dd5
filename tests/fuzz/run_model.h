// Runs a model that a fuzz target has read.
#pragma once

#include "attnviz/model/model.h"

namespace attnviz::test {

/// Computes attention and logits of three tokens, and checks that weights are finite. Throws what
/// runs throw.
void run_model(const Model& model);

}  // namespace attnviz::test
