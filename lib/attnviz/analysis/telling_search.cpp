#include "attnviz/analysis/telling_search.h"

#include <algorithm>
#include <set>
#include <utility>

namespace attnviz {

TellingSearch::TellingSearch(TokenRoles roles, const std::vector<MaskedHeads>& groups,
                             std::size_t n_queries, std::size_t n_keys, bool of_two_texts) {
  const auto shared = std::make_shared<const TokenRoles>(std::move(roles));
  for (const MaskedHeads& group : groups) {
    const bool reads_on = n_keys > 1 && !group.visibility.visible(0, n_keys - 1);
    groups_.push_back(std::make_unique<TellingHeads>(group.heads, group.visibility, n_queries,
                                                     n_keys, of_two_texts));
    groups_.back()->judge([shared, reads_on](std::size_t query, std::size_t key) {
      return shared->evidence(query, key, reads_on);
    });
    for (const HeadId head : group.heads) {
      group_of_.emplace(head, groups_.back().get());
    }
  }
}

double TellingSearch::bytes(const std::vector<HeadId>& heads, std::size_t n_tokens) {
  std::set<std::size_t> of_a_layer;
  for (const HeadId head : heads) {
    of_a_layer.insert(head.head);
  }
  return TellingHeads::bytes(of_a_layer.size(), n_tokens);
}

bool TellingSearch::wants(HeadId head) const {
  return group_of_.contains(head);
}

void TellingSearch::rows(HeadId head, std::size_t first_query, std::size_t first_key,
                         ConstMatrix weights) {
  if (const auto group = group_of_.find(head); group != group_of_.end()) {
    group->second->rows(head, first_query, first_key, weights);
  }
}

TellingHead TellingSearch::best() const {
  TellingHead choice = groups_.front()->best();
  for (const auto& group : groups_) {
    const TellingHead best = group->best();
    choice = best.is_before(choice) ? best : choice;
  }
  return choice;
}

}  // namespace attnviz
