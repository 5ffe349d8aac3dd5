// Who sees whom in the pattern of one head: its mask and the edges that are hidden, together. The
// edges of a pattern that are hidden, by query, in no more memory than they were said in. Which
// keys one query does not see, as the engine has it.
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

/// Keys that are hidden from one query: range by range, rising, with keys between them. Valid while
/// the edges are.
class HiddenKeys {
 public:
  /// Those from `key` on, of rising lists whose ranges lie apart.
  HiddenKeys(std::span<const std::span<const IndexRange>> lists, std::size_t key) noexcept;

  /// The next range whole, also where it begins before `key`.
  std::optional<IndexRange> next() noexcept;

 private:
  // A query has at most one list for each bit of a number.
  std::array<std::span<const IndexRange>, 64> lists_;
  std::size_t n_lists_ = 0;
};

/// Whatever their layers and heads. A segment tree over the queries: an edge stands in a few nodes,
/// however many queries it has, where a list for each query would be as long as all of them.
class HiddenEdges {
 public:
  /// What `edges` hide in a pattern of [n_queries, n_keys].
  explicit HiddenEdges(std::span<const KnockOut> edges, std::size_t n_queries = IndexRange::kNoEnd,
                       std::size_t n_keys = IndexRange::kNoEnd);
  HiddenEdges(const HiddenEdges&) = delete;
  HiddenEdges& operator=(const HiddenEdges&) = delete;

  bool empty() const noexcept { return turns_.empty(); }
  bool has(std::size_t query, std::size_t key) const noexcept;

  /// What is hidden from `query`, from `first_key` on.
  HiddenKeys from(std::size_t query, std::size_t first_key = 0) const noexcept {
    return {lists_of(query), first_key};
  }
  /// What is hidden from every one of `queries`, at least one; rising, apart.
  std::vector<IndexRange> from_all(const IndexRange& queries) const;

  /// Where queries begin from which other keys may be hidden than from the one before; rising.
  std::span<const std::size_t> turns() const noexcept { return turns_; }

  /// The lists that are kept.
  std::span<const std::vector<IndexRange>> nodes() const noexcept { return nodes_; }

  /// Whether the same edges are hidden, however they were said.
  bool equals(const HiddenEdges& other) const;

 private:
  std::span<const std::span<const IndexRange>> lists_of(std::size_t query) const noexcept;

  std::vector<std::size_t> turns_;
  std::vector<std::vector<IndexRange>> nodes_;      // [2 * bands], those of the bands last
  std::vector<std::span<const IndexRange>> lists_;  // of all bands: nodes above them with keys
  std::vector<std::size_t> first_list_;             // [bands + 1]
};

/// Edges that are hidden from ranges of queries, taken one after the other.
class EdgeRows {
 public:
  /// Leaves out what `known`, which must outlive this, hides anyway.
  explicit EdgeRows(const HiddenEdges& known) : known_(known) {}

  /// `queries` rising, over no turn of what is known; `keys` rising, apart.
  void add(const IndexRange& queries, std::vector<IndexRange> keys);
  /// Of every layer and head.
  std::vector<KnockOut> take();

 private:
  void close();

  const HiddenEdges& known_;
  IndexRange queries_{0, 0};
  std::vector<IndexRange> keys_;
  std::vector<KnockOut> edges_;
};

/// Numbers heads: those in which the same edges are hidden have the same number.
class HeadsByEdges {
 public:
  explicit HeadsByEdges(std::span<const KnockOut> edges);

  /// From 0 on, in the order in which they are asked for.
  std::size_t number(HeadId head);
  /// How many layers and heads together are said of edges.
  std::size_t n_places() const noexcept { return places_.size(); }
  /// How many numbers there are so far.
  std::size_t count() const noexcept { return numbers_.size(); }

 private:
  std::vector<std::pair<IndexRange, IndexRange>> places_;    // layers and heads, each pair once
  std::map<std::vector<std::size_t>, std::size_t> numbers_;  // by the places that a head is in
};

/// Of the edges to be hidden those that are so in every one of `heads`, by one request or by
/// several together.
std::vector<KnockOut> edges_hidden_in(const Interventions& interventions,
                                      std::span<const HeadId> heads);

/// What a mask lets through, less edges that do not exist. Without such edges it is as fast as the
/// mask; a copy shares them.
class Visibility {
 public:
  /// All that `mask` lets through: a mask is taken wherever a visibility is.
  Visibility(Mask mask = {}) noexcept : mask_(mask) {}
  /// Without the queries' edges to the keys of `edges`, whatever their layers and heads, in a
  /// pattern of [n_queries, n_keys].
  Visibility(Mask mask, const std::vector<KnockOut>& edges, std::size_t n_queries,
             std::size_t n_keys);

  /// Whether the same edges are hidden by the same mask.
  bool operator==(const Visibility& other) const;

  /// The same edges hidden by another mask.
  Visibility under(Mask mask) const {
    Visibility other = *this;
    other.mask_ = mask;
    return other;
  }

  const Mask& mask() const noexcept { return mask_; }
  /// Null where there are none; the same for those that share them.
  const HiddenEdges* hidden_edges() const noexcept { return hidden_.get(); }
  bool hides_edges() const noexcept { return hidden_ != nullptr; }

  bool visible(std::size_t query, std::size_t key) const noexcept;

  /// The mask's: every visible key of `query` lies in [first_key, end_key).
  std::size_t first_key(std::size_t query) const noexcept { return mask_.first_key(query); }
  std::size_t end_key(std::size_t query, std::size_t n_keys) const noexcept {
    return mask_.end_key(query, n_keys);
  }

  /// How many of the keys [first_key, end_key) `query` sees; takes no longer for more of them.
  std::size_t n_visible(std::size_t query, std::size_t first_key,
                        std::size_t end_key) const noexcept;

  /// take(begin, end) for each range of keys that holds what `query` sees, rising; inside of one
  /// only a mask with gaps hides keys.
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
  std::shared_ptr<const HiddenEdges> hidden_;  // null: no edges
};

/// Makes what sees without the same edges once, for as many heads as miss these.
class VisibilityCache {
 public:
  using Change = std::function<std::vector<KnockOut>(std::vector<KnockOut>)>;

  /// Of patterns of [n_queries, n_keys]; `change`, where there is one, makes their edges of those
  /// that are asked for.
  VisibilityCache(std::size_t n_queries, std::size_t n_keys, Change change = {})
      : n_queries_(n_queries), n_keys_(n_keys), change_(std::move(change)) {}

  Visibility of(Mask mask, std::vector<KnockOut> edges);

 private:
  std::size_t n_queries_, n_keys_;
  Change change_;
  std::map<std::vector<KnockOut>, Visibility> known_;  // by edges without their heads
};

/// In the pattern that a run over `n_tokens` has for `head`.
Visibility visibility_of(const Model& model, HeadId head, const AttentionRequest& request,
                         std::size_t n_tokens);

/// The same for one head after another; heads that miss the same edges share them. `model` and
/// `request` must outlive it.
std::function<Visibility(HeadId)> visibilities(const Model& model, const AttentionRequest& request,
                                               std::size_t n_tokens);

/// What all of `heads`, at least one, have in common: the mask of the first and the edges that are
/// hidden in every one of them.
Visibility shared_visibility(const Model& model, std::span<const HeadId> heads,
                             const AttentionRequest& request, std::size_t n_tokens);

/// 1 for each of the keys [n_keys] that is hidden from the query beside those that the mask hides;
/// empty: none is.
std::vector<std::uint8_t> hidden_from(const RowRule& rule, std::size_t query, std::size_t n_keys);

/// One query's scores of all keys, in place: minus infinity where a key is hidden, ALiBi's bias put
/// in elsewhere.
void hide_masked(const RowRule& rule, std::size_t query, std::span<float> scores);

}  // namespace attnviz
