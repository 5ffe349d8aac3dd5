// The steps of attention: what they are called, and which of them a head takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/inspection.h"

namespace attnviz {

/// The steps of attention in the order in which a head takes them.
enum class InspectionStep {
  kX,
  kNorm,
  kLatents,
  kQuery,
  kKeys,
  kQueryKeyNorm,
  kRope,
  kScores,
  kScale,
  kCap,
  kMask,
  kSoftmax,
  kValues,
  kContext,
  kOutput,
  kResidual,
};

/// "x", "norm", …
std::string_view inspection_step_name(InspectionStep step);

/// "x", "norm", "latents", "query", "keys", "qk-norm", "rope", "scores", "scale", "cap", "mask",
/// "softmax", "values", "context", "output", "residual", in the order of the enumerators.
std::vector<std::string> inspection_step_names();

/// For a help text: "x, query (q), keys (k), …", each with its other name.
std::string inspection_step_list();

/// Whether the head takes this step: many have no norm before attention (norm), read the tokens
/// themselves (latents), and have no norm of queries and keys (qk-norm), no rotation (rope) and no
/// soft cap (cap).
bool has_step(const Inspection& head, InspectionStep step);

/// The steps that a list with commas names, in order and each once; "q", "k", "v" and "weights"
/// mean query, keys, values and softmax. Throws Error{kUsage} that begins with `option` and names
/// the steps, with did-you-mean.
std::vector<InspectionStep> parse_inspection_steps(std::string_view option, std::string_view list);

}  // namespace attnviz
