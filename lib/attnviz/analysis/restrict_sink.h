// Patterns between some tokens of a text only, made while they are computed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "attnviz/attention/pattern_sink.h"

namespace attnviz {

/// Hands another sink the rows and columns of chosen tokens, [n_chosen, n_chosen]; what of each row
/// is left is scaled to sum to 1, unless it is nothing.
class RestrictSink : public PatternSink {
 public:
  /// `tokens` rise and lie below `n_tokens`; `target` must outlive the sink.
  RestrictSink(PatternSink& target, std::span<const std::size_t> tokens, std::size_t n_tokens);

  bool wants(HeadId head) const override { return target_.wants(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

 private:
  PatternSink& target_;
  std::vector<std::size_t> tokens_;
  std::vector<std::size_t> place_of_;  // of each token among the chosen ones; of others no place
};

}  // namespace attnviz
