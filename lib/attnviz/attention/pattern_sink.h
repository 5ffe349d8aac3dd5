// Where attention rows go while they are in cache.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <span>

#include "attnviz/core/tensor.h"

namespace attnviz {

/// One head, 0-based. Written "5.1" or "L5H1".
struct HeadId {
  std::size_t layer = 0;
  std::size_t head = 0;

  auto operator<=>(const HeadId&) const = default;
};

/// What is left to do with rows when their turn comes; may be empty.
using OrderedStep = std::function<void()>;

/// Receives attention weights in blocks of whole rows. Blocks of one head are disjoint and cover
/// every query once; calls for different blocks may come from different threads at the same time.
///
/// Example:
///     struct Counted : attnviz::PatternSink {
///       bool wants(attnviz::HeadId head) const override { return head.layer == 0; }
///       void rows(attnviz::HeadId, std::size_t, std::size_t, attnviz::ConstMatrix block) override
///       {
///         n_rows += block.rows;
///       }
///       std::atomic<std::size_t> n_rows = 0;
///     };
///     if (!Counted().wants({.layer = 0, .head = 3})) return 1;
class PatternSink {
 public:
  virtual ~PatternSink() = default;

  /// Heads that nobody wants are computed without keeping weights; layers above the last wanted one
  /// are not computed at all.
  virtual bool wants(HeadId head) const = 0;

  /// weights [n_rows, n] of the queries from first_query on, for the keys from first_key on; all
  /// other keys have weight 0 for these queries. Valid during the call.
  virtual void rows(HeadId head, std::size_t first_query, std::size_t first_key,
                    ConstMatrix weights) = 0;

  /// What goes to no key [n_queries], of the queries from first_query on of a head that has a
  /// learned sink; told before rows(), or where they are placed. With the row's weights, as softmax
  /// gives them, it adds up to 1.
  virtual void sinks(HeadId /*head*/, std::size_t /*first_query*/,
                     std::span<const float> /*weights*/) {}

  /// Where the weights of some queries may be written, in place of a call of rows(): [n_queries,
  /// n_keys and zeros up to whole 64 bytes], in rows aligned to 64 bytes. Nothing when rows() is to
  /// be called in any case. What is not written stays 0.
  virtual Matrix place(HeadId /*head*/, std::size_t /*first_query*/, std::size_t /*n_queries*/) {
    return {};
  }

  /// Whether blocks are begun in the order of layers, heads and queries, and what ordered_rows()
  /// returns is called in that order, one block at a time; not any more once a call has thrown.
  virtual bool ordered() const { return false; }

  /// rows(), and what must wait for its turn; the weights are valid until that is done. Empty
  /// unless ordered().
  virtual OrderedStep ordered_rows(HeadId head, std::size_t first_query, std::size_t first_key,
                                   ConstMatrix weights) {
    rows(head, first_query, first_key, weights);
    return {};
  }
};

}  // namespace attnviz
