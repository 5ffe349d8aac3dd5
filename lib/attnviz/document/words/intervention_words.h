// What a run left out, in words.
#pragma once

#include <string>
#include <vector>

#include "attnviz/attention/interventions.h"

namespace attnviz {

/// A line each: "without heads 2.1, 3.0 (their means in their place)", "without the MLP of layer
/// 2", "hidden from token 5: tokens 0-2, in layers 1-2". Tokens are named by their indices.
std::vector<std::string> intervention_notes(const Interventions& interventions);

/// The same in a title: "without 2.1", "without L2.mlp"; of several "changed", of edges alone
/// "edges hidden".
std::string intervention_title(const Interventions& interventions);

/// "2.1", "L2" for the attention of a layer, "L2.mlp": as options take it.
std::string ablation_name(const Ablation& ablation);

}  // namespace attnviz
