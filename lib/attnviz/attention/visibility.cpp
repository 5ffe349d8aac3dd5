#include "attnviz/attention/visibility.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "attnviz/attention/head_math.h"
#include "attnviz/attention/run_observer.h"

namespace attnviz {

namespace {

// The part of a range that lies below `size`.
IndexRange below(const IndexRange& range, std::size_t size) noexcept {
  return {std::min(range.first, size), std::min(range.end, size)};
}

bool is_none(const IndexRange& range) noexcept {
  return range.first >= range.end;
}

// Returns the first of the rising ranges that ends after `key`.
auto first_after(std::span<const IndexRange> ranges, std::size_t key) noexcept {
  return std::upper_bound(
      ranges.begin(), ranges.end(), key,
      [](std::size_t number, const IndexRange& one) { return number < one.end; });
}

// Returns the intersection of both; ranges are in rising order.
std::vector<IndexRange> in_both(std::span<const IndexRange> ranges, HiddenKeys others) {
  std::vector<IndexRange> both;
  std::optional<IndexRange> other = others.next();
  for (auto one = ranges.begin(); one != ranges.end() && other;) {
    const IndexRange shared{std::max(one->first, other->first), std::min(one->end, other->end)};
    if (!is_none(shared)) {
      both.push_back(shared);
    }
    if (one->end < other->end) {
      ++one;
    } else {
      other = others.next();
    }
  }
  return both;
}

std::vector<IndexRange> all_of(HiddenKeys keys) {
  std::vector<IndexRange> all;
  for (auto range = keys.next(); range; range = keys.next()) {
    all.push_back(*range);
  }
  return all;
}

// Each edge once, regardless of heads.
std::vector<KnockOut> without_places(std::vector<KnockOut> edges) {
  for (KnockOut& one : edges) {
    one.layers = one.heads = {};
  }
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

// Returns the edges that every one of several sets hides, in rising order, without layers and
// heads.
std::vector<KnockOut> in_every(const std::set<std::vector<KnockOut>>& sets) {
  std::vector<KnockOut> shared = *sets.begin();
  std::vector<std::size_t> turns;
  std::vector<std::unique_ptr<const HiddenEdges>> hidden;
  for (const std::vector<KnockOut>& set : sets) {
    std::erase_if(shared,
                  [&set](const KnockOut& one) { return !std::ranges::binary_search(set, one); });
    hidden.push_back(std::make_unique<const HiddenEdges>(set));
    std::ranges::copy(hidden.back()->turns(), std::back_inserter(turns));
  }
  std::ranges::sort(turns);
  turns.erase(std::unique(turns.begin(), turns.end()), turns.end());
  const HiddenEdges known(shared);
  EdgeRows rows(known);
  for (std::size_t i = 0; i + 1 < turns.size(); ++i) {
    std::vector<IndexRange> keys = all_of(hidden.front()->from(turns[i]));
    for (std::size_t other = 1; other < hidden.size() && !keys.empty(); ++other) {
      keys = in_both(keys, hidden[other]->from(turns[i]));
    }
    rows.add({turns[i], turns[i + 1]}, std::move(keys));
  }
  std::ranges::copy(rows.take(), std::back_inserter(shared));
  return shared;
}

}  // namespace

HiddenKeys::HiddenKeys(std::span<const std::span<const IndexRange>> lists,
                       std::size_t key) noexcept {
  for (const std::span<const IndexRange> list : lists) {
    const auto begin = first_after(list, key);
    if (begin != list.end()) {
      lists_[n_lists_++] = std::span(begin, list.end());
    }
  }
}

std::optional<IndexRange> HiddenKeys::next() noexcept {
  const std::span lists(lists_.data(), n_lists_);
  if (lists.empty()) {
    return std::nullopt;
  }
  IndexRange found =
      std::ranges::min_element(lists, {}, [](const auto& list) { return list.front(); })->front();
  for (bool grows = true; grows;) {
    grows = false;
    for (std::size_t i = 0; i < n_lists_;) {
      std::span<const IndexRange>& list = lists_[i];
      while (!list.empty() && list.front().first <= found.end) {
        grows = grows || list.front().end > found.end;
        found.end = std::max(found.end, list.front().end);
        list = list.subspan(1);
      }
      if (list.empty()) {
        list = lists_[--n_lists_];
      } else {
        ++i;
      }
    }
  }
  return found;
}

HiddenEdges::HiddenEdges(std::span<const KnockOut> edges, std::size_t n_queries,
                         std::size_t n_keys) {
  std::vector<std::pair<IndexRange, IndexRange>> parts;  // queries and keys
  for (const KnockOut& one : edges) {
    const IndexRange queries = below(one.queries, n_queries);
    const IndexRange keys = below(one.keys, n_keys);
    if (!is_none(queries) && !is_none(keys)) {
      parts.emplace_back(queries, keys);
      turns_.insert(turns_.end(), {queries.first, queries.end});
    }
  }
  if (parts.empty()) {
    return;
  }
  std::ranges::sort(turns_);
  turns_.erase(std::unique(turns_.begin(), turns_.end()), turns_.end());
  const std::size_t n_bands = turns_.size() - 1;
  const auto leaf_of = [&](std::size_t turn) {
    return n_bands +
           static_cast<std::size_t>(std::ranges::lower_bound(turns_, turn) - turns_.begin());
  };
  nodes_.resize(2 * n_bands);
  for (const auto& part : parts) {
    std::size_t end = leaf_of(part.first.end);
    for (std::size_t begin = leaf_of(part.first.first); begin < end; begin /= 2, end /= 2) {
      if (begin % 2 == 1) {
        nodes_[begin++].push_back(part.second);
      }
      if (end % 2 == 1) {
        nodes_[--end].push_back(part.second);
      }
    }
  }
  for (std::vector<IndexRange>& keys : nodes_) {
    keys = merged_ranges(std::move(keys));
  }
  first_list_.push_back(0);
  for (std::size_t band = 0; band < n_bands; ++band) {
    for (std::size_t node = n_bands + band; node > 0; node /= 2) {
      if (!nodes_[node].empty()) {
        lists_.emplace_back(nodes_[node]);
      }
    }
    first_list_.push_back(lists_.size());
  }
}

std::span<const std::span<const IndexRange>> HiddenEdges::lists_of(
    std::size_t query) const noexcept {
  const auto after = std::ranges::upper_bound(turns_, query);
  if (after == turns_.begin() || after == turns_.end()) {
    return {};
  }
  const auto band = static_cast<std::size_t>(after - turns_.begin()) - 1;
  return std::span(lists_).subspan(first_list_[band], first_list_[band + 1] - first_list_[band]);
}

bool HiddenEdges::has(std::size_t query, std::size_t key) const noexcept {
  return std::ranges::any_of(lists_of(query), [key](std::span<const IndexRange> list) {
    const auto range = first_after(list, key);
    return range != list.end() && range->has(key);
  });
}

std::vector<IndexRange> HiddenEdges::from_all(const IndexRange& queries) const {
  std::vector<IndexRange> keys = all_of(from(queries.first));
  for (auto turn = std::ranges::upper_bound(turns_, queries.first);
       turn != turns_.end() && *turn < queries.end && !keys.empty(); ++turn) {
    keys = in_both(keys, from(*turn));
  }
  return keys;
}

bool HiddenEdges::equals(const HiddenEdges& other) const {
  const auto same_from = [&](std::size_t query) {
    HiddenKeys here = from(query);
    HiddenKeys there = other.from(query);
    for (auto range = here.next(); range; range = here.next()) {
      if (there.next() != range) {
        return false;
      }
    }
    return !there.next();
  };
  return std::ranges::all_of(turns_, same_from) && std::ranges::all_of(other.turns_, same_from);
}

void EdgeRows::add(const IndexRange& queries, std::vector<IndexRange> keys) {
  std::erase_if(keys, [&](const IndexRange& range) {
    const auto hidden = known_.from(queries.first, range.first).next();
    return hidden && hidden->first <= range.first && hidden->end >= range.end;
  });
  if (queries_.end == queries.first && keys_ == keys) {
    queries_.end = queries.end;
    return;
  }
  close();
  queries_ = queries;
  keys_ = std::move(keys);
}

void EdgeRows::close() {
  for (const IndexRange& keys : keys_) {
    edges_.push_back({queries_, keys, {}, {}});
  }
}

std::vector<KnockOut> EdgeRows::take() {
  close();
  keys_.clear();
  return std::move(edges_);
}

HeadsByEdges::HeadsByEdges(std::span<const KnockOut> edges) {
  for (const KnockOut& one : edges) {
    places_.emplace_back(one.layers, one.heads);
  }
  std::ranges::sort(places_);
  places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
}

std::size_t HeadsByEdges::number(HeadId head) {
  std::vector<std::size_t> in;
  for (std::size_t place = 0; place < places_.size(); ++place) {
    if (places_[place].first.has(head.layer) && places_[place].second.has(head.head)) {
      in.push_back(place);
    }
  }
  return numbers_.try_emplace(std::move(in), numbers_.size()).first->second;
}

std::vector<KnockOut> edges_hidden_in(const Interventions& interventions,
                                      std::span<const HeadId> heads) {
  std::vector<HeadId> apart;  // one head for each set of hidden edges
  if (heads.size() > 1) {
    HeadsByEdges numbers(interventions.knock_outs);
    std::ranges::copy_if(heads, std::back_inserter(apart), [&](HeadId head) {
      const std::size_t n_known = numbers.count();
      return numbers.number(head) == n_known;
    });
    heads = apart;
  }
  const auto in_all = [heads](const KnockOut& one) {
    return std::ranges::all_of(heads, [&one](HeadId head) { return one.is_in(head); });
  };
  std::vector<KnockOut> edges;
  std::vector<KnockOut> others;
  std::ranges::partition_copy(interventions.knock_outs, std::back_inserter(edges),
                              std::back_inserter(others), in_all);
  if (heads.empty() || others.empty()) {
    return edges;
  }
  std::set<std::vector<KnockOut>> sets;
  for (const HeadId head : heads) {
    std::vector<KnockOut> of_head;
    std::ranges::copy_if(others, std::back_inserter(of_head),
                         [head](const KnockOut& one) { return one.is_in(head); });
    if (of_head.empty()) {
      return edges;
    }
    sets.insert(without_places(std::move(of_head)));
  }
  std::ranges::copy(in_every(sets), std::back_inserter(edges));
  return edges;
}

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

std::vector<std::uint8_t> hidden_from(const RowRule& rule, std::size_t query, std::size_t n_keys) {
  std::vector<std::uint8_t> hidden(rule.observer == nullptr ? 0 : n_keys);
  if (rule.observer != nullptr) {
    EdgeBlock edges(query, 1, 0, n_keys, hidden);
    rule.observer->hide(rule.head, edges);
  }
  return hidden;
}

void hide_masked(const RowRule& rule, std::size_t query, std::span<float> scores) {
  const std::vector<std::uint8_t> hidden = hidden_from(rule, query, scores.size());
  for (std::size_t key = 0; key < scores.size(); ++key) {
    const std::size_t distance = key < query ? query - key : key - query;
    if (!rule.mask.visible(query, key) || (!hidden.empty() && hidden[key] != 0)) {
      scores[key] = -std::numeric_limits<float>::infinity();
    } else if (rule.distance_penalty != 0.0f) {
      scores[key] -= rule.distance_penalty * static_cast<float>(distance);
    }
  }
}

}  // namespace attnviz
