// The edges of a pattern that are hidden, by query, in no more memory than they were said in.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/attention/interventions.h"

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

}  // namespace attnviz
