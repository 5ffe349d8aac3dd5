// The most telling head of those whose rows come, by what the tokens are.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "attnviz/analysis/telling_head.h"
#include "attnviz/analysis/token_roles.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/visibility.h"

namespace attnviz {

/// Heads whose queries see the same keys.
struct MaskedHeads {
  Visibility visibility;
  std::vector<HeadId> heads;
};

/// Scores heads by what their tokens are, while their rows come: pronouns and repeated words speak
/// for a head before others do.
class TellingSearch : public PatternSink {
 public:
  /// `groups`: at least one head; together by layer, then head. Each pattern is of [n_queries,
  /// n_keys] tokens, which are what `roles` says; of one text, or, as in cross-attention, of two.
  TellingSearch(TokenRoles roles, const std::vector<MaskedHeads>& groups, std::size_t n_queries,
                std::size_t n_keys, bool of_two_texts = false);

  /// What it takes, about, for heads that are computed layer by layer.
  static double bytes(const std::vector<HeadId>& heads, std::size_t n_tokens);

  bool wants(HeadId head) const override;
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  /// The head that is before all others, once all rows have come.
  TellingHead best() const;

 private:
  std::vector<std::unique_ptr<TellingHeads>> groups_;  // as they were given
  std::map<HeadId, TellingHeads*> group_of_;
};

}  // namespace attnviz
