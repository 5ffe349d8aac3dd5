// Which keys each query of a head's pattern sees: the mask and the hidden edges together. Hidden
// edges take no more memory than the ranges that describe them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/attention/interventions.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/row_weights.h"
#include "attnviz/model/mask.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Keys that are hidden from one query: ranges in rising order, with gaps between them. Valid while
/// the edges are.
class HiddenKeys {
 public:
  /// The ranges from `key` on, from lists in rising order whose ranges do not touch.
  HiddenKeys(std::span<const std::span<const IndexRange>> lists, std::size_t key) noexcept;

  /// Returns the next range, whole even if it begins before `key`.
  std::optional<IndexRange> next() noexcept;

 private:
  // A query has at most one list for each bit of an index.
  std::array<std::span<const IndexRange>, 64> lists_;
  std::size_t n_lists_ = 0;
};

/// Hidden edges by query, regardless of layers and heads. A segment tree over the queries: each
/// edge range is stored in a few nodes, however long its range of queries; a list per query would
/// take memory for all edges.
class HiddenEdges {
 public:
  /// The edges that `edges` hide in a pattern of [n_queries, n_keys].
  explicit HiddenEdges(std::span<const KnockOut> edges, std::size_t n_queries = IndexRange::kNoEnd,
                       std::size_t n_keys = IndexRange::kNoEnd);
  HiddenEdges(const HiddenEdges&) = delete;
  HiddenEdges& operator=(const HiddenEdges&) = delete;

  bool empty() const noexcept { return turns_.empty(); }
  bool has(std::size_t query, std::size_t key) const noexcept;

  /// The keys hidden from `query`, from `first_key` on.
  HiddenKeys from(std::size_t query, std::size_t first_key = 0) const noexcept {
    return {lists_of(query), first_key};
  }
  /// Returns the keys hidden from every one of `queries`, at least one; in rising order, not
  /// touching.
  std::vector<IndexRange> from_all(const IndexRange& queries) const;

  /// The queries at which the hidden keys may change from the query before; in rising order.
  std::span<const std::size_t> turns() const noexcept { return turns_; }

  /// The stored lists.
  std::span<const std::vector<IndexRange>> nodes() const noexcept { return nodes_; }

  /// Whether the same edges are hidden, even if they were described by other ranges.
  bool equals(const HiddenEdges& other) const;

 private:
  std::span<const std::span<const IndexRange>> lists_of(std::size_t query) const noexcept;

  std::vector<std::size_t> turns_;
  std::vector<std::vector<IndexRange>> nodes_;      // [2 * bands], the bands' own last
  std::vector<std::span<const IndexRange>> lists_;  // of all bands: the nonempty nodes above them
  std::vector<std::size_t> first_list_;             // [bands + 1]
};

/// Collects edges that are hidden from successive ranges of queries.
class EdgeRows {
 public:
  /// Leaves out what `known`, which must outlive this, already hides.
  explicit EdgeRows(const HiddenEdges& known) : known_(known) {}

  /// `queries` in rising order, not across a turn of the known edges; `keys` in rising order, not
  /// touching.
  void add(const IndexRange& queries, std::vector<IndexRange> keys);
  /// Returns the edges, for every layer and head.
  std::vector<KnockOut> take();

 private:
  void close();

  const HiddenEdges& known_;
  IndexRange queries_{0, 0};
  std::vector<IndexRange> keys_;
  std::vector<KnockOut> edges_;
};

/// Numbers heads: heads in which the same edges are hidden have the same number.
class HeadsByEdges {
 public:
  explicit HeadsByEdges(std::span<const KnockOut> edges);

  /// From 0 on, in the order of first use.
  std::size_t number(HeadId head);
  /// Number of distinct pairs of layer and head ranges in the edges.
  std::size_t n_places() const noexcept { return places_.size(); }
  /// Number of different numbers so far.
  std::size_t count() const noexcept { return numbers_.size(); }

 private:
  std::vector<std::pair<IndexRange, IndexRange>> places_;    // layers and heads, each pair once
  std::map<std::vector<std::size_t>, std::size_t> numbers_;  // by the places that contain a head
};

/// Returns the edges that are hidden in every one of `heads`, by one knock-out or by several
/// together.
std::vector<KnockOut> edges_hidden_in(const Interventions& interventions,
                                      std::span<const HeadId> heads);

/// A mask without the hidden edges. Without hidden edges it is as fast as the mask; copies share
/// them.
class Visibility {
 public:
  /// All that `mask` lets through. Implicit, so that a mask can be passed as a visibility.
  Visibility(Mask mask = {}) noexcept : mask_(mask) {}
  /// Hides the edges `edges`, regardless of their layers and heads, in a pattern of [n_queries,
  /// n_keys].
  Visibility(Mask mask, const std::vector<KnockOut>& edges, std::size_t n_queries,
             std::size_t n_keys);

  /// Whether the same edges are hidden by the same mask.
  bool operator==(const Visibility& other) const;

  /// The same hidden edges under another mask.
  Visibility under(Mask mask) const {
    Visibility other = *this;
    other.mask_ = mask;
    return other;
  }

  const Mask& mask() const noexcept { return mask_; }
  /// Null without hidden edges; copies share the pointer.
  const HiddenEdges* hidden_edges() const noexcept { return hidden_.get(); }
  bool hides_edges() const noexcept { return hidden_ != nullptr; }

  bool visible(std::size_t query, std::size_t key) const noexcept;

  /// The mask's bounds: every visible key of `query` lies in [first_key, end_key).
  std::size_t first_key(std::size_t query) const noexcept { return mask_.first_key(query); }
  std::size_t end_key(std::size_t query, std::size_t n_keys) const noexcept {
    return mask_.end_key(query, n_keys);
  }

  /// Returns how many of the keys [first_key, end_key) `query` sees, in a time that does not grow
  /// with their number.
  std::size_t n_visible(std::size_t query, std::size_t first_key,
                        std::size_t end_key) const noexcept;

  /// Calls take(begin, end) for each range of keys that `query` sees, in rising order; within a
  /// range only a mask with gaps hides keys.
  template <class Take>
  void each_range(std::size_t query, std::size_t n_keys, const Take& take) const {
    std::size_t begin = first_key(query);
    const std::size_t end = end_key(query, n_keys);
    if (hidden_ != nullptr) {
      HiddenKeys keys = hidden_->from(query, begin);
      for (auto range = keys.next(); range && begin < end; range = keys.next()) {
        if (const std::size_t stop = std::min(range->first, end); begin < stop) {
          take(begin, stop);
        }
        begin = std::max(begin, range->end);
      }
    }
    if (begin < end) {
      take(begin, end);
    }
  }

 private:
  Mask mask_;
  std::shared_ptr<const HiddenEdges> hidden_;  // null: no hidden edges
};

/// Builds each distinct visibility once; heads that hide the same edges share it.
class VisibilityCache {
 public:
  using Change = std::function<std::vector<KnockOut>(std::vector<KnockOut>)>;

  /// For patterns of [n_queries, n_keys]. `change`, unless it is empty, transforms the edges of
  /// each request.
  VisibilityCache(std::size_t n_queries, std::size_t n_keys, Change change = {})
      : n_queries_(n_queries), n_keys_(n_keys), change_(std::move(change)) {}

  Visibility of(Mask mask, std::vector<KnockOut> edges);

 private:
  std::size_t n_queries_, n_keys_;
  Change change_;
  std::map<std::vector<KnockOut>, Visibility> known_;  // by edges without layers and heads
};

/// Returns the visibility in the pattern of `head` in a run over `n_tokens`.
Visibility visibility_of(const Model& model, HeadId head, const AttentionRequest& request,
                         std::size_t n_tokens);

/// The same for one head after another; heads that hide the same edges share them. `model` and
/// `request` must outlive it.
std::function<Visibility(HeadId)> visibilities(const Model& model, const AttentionRequest& request,
                                               std::size_t n_tokens);

/// Returns what all of `heads`, at least one, have in common: the mask of the first, and the edges
/// that are hidden in every one of them.
Visibility shared_visibility(const Model& model, std::span<const HeadId> heads,
                             const AttentionRequest& request, std::size_t n_tokens);

/// Returns 1 for each of the keys [n_keys] that is hidden from the query in addition to the mask;
/// empty without hidden keys.
std::vector<std::uint8_t> hidden_from(const RowRule& rule, std::size_t query, std::size_t n_keys);

/// Changes one query's scores of all keys in place: minus infinity where a key is hidden, ALiBi's
/// bias added elsewhere.
void hide_masked(const RowRule& rule, std::size_t query, std::span<float> scores);

}  // namespace attnviz
