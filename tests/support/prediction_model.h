// A small model that predicts five tokens, and its predictions computed in double loops.
#pragma once

#include <vector>

#include "attnviz/model/model.h"
#include "support/naive_model.h"

namespace attnviz::test {

/// Three layers of two heads each, with MLPs unless there is only attention, 11 tokens; its
/// `inputs` are five.
Model prediction_model(LayerOrder order);

/// [n_tokens][n_vocab]
using Rows = std::vector<std::vector<double>>;

/// ln p of every token as the next one at each position of a model that has `inputs`, from
/// naive_run().
Rows naive_log_probabilities(const Model& model, const NaiveEdits& edits = {},
                             const AttentionRequest& request = {});

}  // namespace attnviz::test
