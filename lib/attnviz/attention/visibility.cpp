#include "attnviz/attention/visibility.h"

#include "attnviz/attention/head_math.h"

namespace attnviz {

Visibility::Visibility(Mask mask, const std::vector<KnockOut>& edges, std::size_t n_queries,
                       std::size_t n_keys)
    : mask_(mask) {
  auto hidden = std::make_shared<const HiddenEdges>(edges, n_queries, n_keys);
  if (!hidden->empty()) {
    hidden_ = std::move(hidden);
  }
}

bool Visibility::operator==(const Visibility& other) const {
  if (mask_ != other.mask_ || hides_edges() != other.hides_edges()) {
    return false;
  }
  return hidden_ == other.hidden_ || hidden_->equals(*other.hidden_);
}

bool Visibility::visible(std::size_t query, std::size_t key) const noexcept {
  return mask_.visible(query, key) && (hidden_ == nullptr || !hidden_->has(query, key));
}

std::size_t Visibility::n_visible(std::size_t query, std::size_t first_key,
                                  std::size_t end_key) const noexcept {
  std::size_t count = mask_.n_visible(query, first_key, end_key);
  if (hidden_ == nullptr || count == 0) {
    return count;
  }
  HiddenKeys keys = hidden_->from(query, first_key);
  for (auto range = keys.next(); range && range->first < end_key; range = keys.next()) {
    count -=
        mask_.n_visible(query, std::max(range->first, first_key), std::min(range->end, end_key));
  }
  return count;
}

Visibility VisibilityCache::of(Mask mask, std::vector<KnockOut> edges) {
  if (edges.empty()) {
    return mask;
  }
  for (KnockOut& one : edges) {
    one.layers = one.heads = {};
  }
  auto known = known_.find(edges);
  if (known == known_.end()) {
    const Visibility made(mask, change_ ? change_(edges) : edges, n_queries_, n_keys_);
    known = known_.emplace(std::move(edges), made).first;
  }
  return known->second.under(mask);
}

Visibility visibility_of(const Model& model, HeadId head, const AttentionRequest& request,
                         std::size_t n_tokens) {
  return shared_visibility(model, std::span(&head, 1), request, n_tokens);
}

std::function<Visibility(HeadId)> visibilities(const Model& model, const AttentionRequest& request,
                                               std::size_t n_tokens) {
  const auto known = std::make_shared<VisibilityCache>(n_tokens, n_tokens);
  return [&model, &request, known](HeadId head) {
    const Mask mask = mask_of(model, head.layer, request);
    return request.interventions == nullptr
               ? Visibility(mask)
               : known->of(mask, edges_hidden_in(*request.interventions, std::span(&head, 1)));
  };
}

Visibility shared_visibility(const Model& model, std::span<const HeadId> heads,
                             const AttentionRequest& request, std::size_t n_tokens) {
  const Mask mask = mask_of(model, heads.front().layer, request);
  if (request.interventions == nullptr) {
    return mask;
  }
  return {mask, edges_hidden_in(*request.interventions, heads), n_tokens, n_tokens};
}

}  // namespace attnviz
