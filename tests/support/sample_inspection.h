// A head that can be computed by hand, and pages about heads of small models.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/report/steps/inspection_document.h"
#include "support/model_builder.h"

namespace attnviz::test {

/// A model with its text and its inspection; `page` shows exactly this.
class SampleInspection {
 public:
  SampleInspection(const Model& model, std::vector<std::string> tokens, std::size_t query,
                   const AttentionRequest& request = {}, std::vector<HeadId> heads = {{0, 0}});

  const Inspection& head() const { return heads_.front(); }

  InspectionPage page;

 private:
  Model model_;
  std::vector<std::string> tokens_;
  std::vector<Inspection> heads_;
};

/// A step of the sample's first head with its sentence, as in a document; empty if the head does
/// not have the step. Tokens are 7-bit if `ascii`.
InspectedStep inspected_step(const SampleInspection& sample, InspectionStep step,
                             bool ascii = false);

/// "The cat sat" with x = one number per token, d_head 4, d_value 2. For "sat" q = [2 0 0 2]; the
/// keys are [1 0 0 0], [1 0 0 1] and [0 0 0 1], so that q·k is 2, 4, 2 and over √4 = 2 it is 1,
/// 2, 1. The values are [1 0], [0 2], [4 0]; W_O = [[1 0 0] [0 0.5 0]].
Model model_by_hand();

/// One random head with d_head and d_value 6 over `n_tokens` tokens of d_model 8, W_O and b_O.
Model random_head(std::size_t n_tokens, Positions positions = Positions::kNone);

/// Two heads that share keys and values in a layer like Gemma's: norms with weight + 1 before and
/// after attention and for queries and keys, partial rotary positions, a soft cap, a window of 3
/// tokens, its own scale. d_model 8, d_head 6, 4 dimensions of which rotate.
Model whole_layer(std::size_t n_tokens);

/// "t0", "t1", …
std::vector<std::string> numbered_tokens(std::size_t n_tokens);

}  // namespace attnviz::test
