#include "attnviz/attention/visibility.h"

#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "attnviz/attention/head_math.h"

namespace attnviz {

namespace {

// The part of a range that lies below `size`.
IndexRange below(const IndexRange& range, std::size_t size) noexcept {
  return {std::min(range.first, size), std::min(range.end, size)};
}

bool is_none(const IndexRange& range) noexcept {
  return range.first >= range.end;
}

}  // namespace

Visibility::Visibility(Mask mask, const std::vector<KnockOut>& edges, std::size_t n_queries,
                       std::size_t n_keys)
    : mask_(mask) {
  std::vector<std::pair<IndexRange, IndexRange>> coming;  // queries and keys
  std::set<std::size_t> turns;                            // queries where others are hidden
  for (const KnockOut& one : edges) {
    const IndexRange queries = below(one.queries, n_queries);
    const IndexRange keys = below(one.keys, n_keys);
    if (!is_none(queries) && !is_none(keys)) {
      coming.emplace_back(queries, keys);
      turns.insert({queries.first, queries.end});
    }
  }
  if (coming.empty()) {
    return;
  }
  std::ranges::sort(coming, std::greater(), [](const auto& one) { return one.first.first; });
  std::vector<std::pair<IndexRange, IndexRange>> open;
  std::vector<Band> bands;
  for (auto turn = turns.begin(); std::next(turn) != turns.end(); ++turn) {
    const std::size_t query = *turn;
    std::erase_if(open, [query](const auto& one) { return one.first.end <= query; });
    for (; !coming.empty() && coming.back().first.first == query; coming.pop_back()) {
      open.push_back(coming.back());
    }
    if (open.empty()) {
      continue;
    }
    std::vector<IndexRange> keys;
    keys.reserve(open.size());
    for (const auto& one : open) {
      keys.push_back(one.second);
    }
    keys = merged_ranges(std::move(keys));
    if (!bands.empty() && bands.back().queries.end == query && bands.back().keys == keys) {
      bands.back().queries.end = *std::next(turn);
    } else {
      bands.push_back({{query, *std::next(turn)}, std::move(keys)});
    }
  }
  hidden_ = std::make_shared<const std::vector<Band>>(std::move(bands));
}

bool Visibility::operator==(const Visibility& other) const noexcept {
  if (mask_ != other.mask_ || hides_edges() != other.hides_edges()) {
    return false;
  }
  return hidden_ == other.hidden_ || *hidden_ == *other.hidden_;
}

std::span<const IndexRange> Visibility::hidden_from(std::size_t query) const noexcept {
  if (hidden_ == nullptr) {
    return {};
  }
  const auto band = std::upper_bound(
      hidden_->begin(), hidden_->end(), query,
      [](std::size_t number, const Band& one) { return number < one.queries.end; });
  return band != hidden_->end() && band->queries.has(query) ? std::span(band->keys)
                                                            : std::span<const IndexRange>();
}

bool Visibility::visible(std::size_t query, std::size_t key) const noexcept {
  if (!mask_.visible(query, key)) {
    return false;
  }
  const std::span<const IndexRange> hidden = hidden_from(query);
  const auto range =
      std::upper_bound(hidden.begin(), hidden.end(), key,
                       [](std::size_t number, const IndexRange& one) { return number < one.end; });
  return range == hidden.end() || !range->has(key);
}

std::size_t Visibility::n_visible(std::size_t query, std::size_t first_key,
                                  std::size_t end_key) const noexcept {
  std::size_t count = mask_.n_visible(query, first_key, end_key);
  const std::span<const IndexRange> hidden = hidden_from(query);
  auto range =
      std::upper_bound(hidden.begin(), hidden.end(), first_key,
                       [](std::size_t number, const IndexRange& one) { return number < one.end; });
  for (; range != hidden.end() && range->first < end_key; ++range) {
    count -=
        mask_.n_visible(query, std::max(range->first, first_key), std::min(range->end, end_key));
  }
  return count;
}

Visibility visibility_of(const Model& model, HeadId head, const AttentionRequest& request,
                         std::size_t n_tokens) {
  return shared_visibility(model, std::span(&head, 1), request, n_tokens);
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
