// Where attention weights go, row by row, while they are in cache; and a sink that stores the whole
// patterns of chosen heads.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/tensor.h"

namespace attnviz {

/// One head, 0-based. Written "5.1" or "L5H1".
struct HeadId {
  std::size_t layer = 0;
  std::size_t head = 0;

  auto operator<=>(const HeadId&) const = default;
};

/// The part of handling rows that must wait for their turn; may be empty.
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

  /// Whether the weights of a head are kept. Layers above the last wanted one are not computed at
  /// all.
  virtual bool wants(HeadId head) const = 0;

  /// Receives weights [n_rows, n] of the queries from first_query on, for the keys from first_key
  /// on; all other keys have weight 0 for these queries. Valid during the call.
  virtual void rows(HeadId head, std::size_t first_query, std::size_t first_key,
                    ConstMatrix weights) = 0;

  /// Receives the weights on a head's learned sink [n_queries], for the queries from first_query
  /// on. Called before rows(), or before the weights are written to place(). A row's weights and
  /// its sink weight add up to 1, as softmax gives them.
  virtual void sinks(HeadId /*head*/, std::size_t /*first_query*/,
                     std::span<const float> /*weights*/) {}

  /// Memory to which the weights of some queries may be written instead of calling rows():
  /// [n_queries, n_keys and zeros up to whole 64 bytes], in rows aligned to 64 bytes. Empty when
  /// rows() must be called in any case. Entries that are not written stay 0.
  virtual Matrix place(HeadId /*head*/, std::size_t /*first_query*/, std::size_t /*n_queries*/) {
    return {};
  }

  /// Whether blocks are begun in the order of layers, heads and queries, and the steps that
  /// ordered_rows() returns are called in that order, one at a time; after a call has thrown, no
  /// more are called.
  virtual bool ordered() const { return false; }

  /// Handles rows, and returns the step that must wait for its turn; the weights are valid until
  /// that step is done. Empty unless ordered().
  virtual OrderedStep ordered_rows(HeadId head, std::size_t first_query, std::size_t first_key,
                                   ConstMatrix weights) {
    rows(head, first_query, first_key, weights);
    return {};
  }
};

/// Passes on the patterns of heads in the order of layers, heads and queries, in a form that
/// threads prepare in parallel. Keeps only the rows in progress.
class RowStream : public PatternSink {
 public:
  /// Appends a row [n_keys] in the output form; called from several threads.
  using Append = std::function<void(std::string& out, std::span<const float> row)>;
  /// Receives the next `n_rows` rows; one call at a time.
  using Take = std::function<void(std::size_t n_rows, std::string_view rows)>;

  RowStream(const std::vector<HeadId>& heads, std::size_t n_keys, Append append, Take take);

  bool wants(HeadId head) const override { return heads_.contains(head); }
  /// Not for this sink, which refuses rows in arbitrary order. Throws std::logic_error.
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;
  bool ordered() const override { return true; }
  OrderedStep ordered_rows(HeadId head, std::size_t first_query, std::size_t first_key,
                           ConstMatrix weights) override;

 private:
  std::set<HeadId> heads_;
  std::size_t n_keys_;
  Append append_;
  Take take_;
};

/// Softmax weights of chosen heads, each [n_tokens, n_tokens] (query, key), or for cross-attention
/// [n_queries, n_keys].
///
/// For one run: weights that it does not receive are 0.
///
/// Units   probabilities: each row sums to 1 within 1e-5, or is all 0 when the query sees no key.
///
/// Example:
///     attnviz::PatternStore store({{.layer = 0, .head = 1}}, /*n_tokens=*/3);
///     if (store.pattern({.layer = 0, .head = 1}).rows != 3) return 1;
class PatternStore : public PatternSink {
 public:
  /// Allocates bytes() at once. Throws Error{kUsage} when that number overflows and Error{kIo} when
  /// the memory is not available. `heads` must not repeat.
  PatternStore(std::vector<HeadId> heads, std::size_t n_tokens)
      : PatternStore(std::move(heads), n_tokens, n_tokens) {}
  PatternStore(std::vector<HeadId> heads, std::size_t n_queries, std::size_t n_keys);

  /// Bytes of the weights. Rows are padded to whole cache lines, so that any number of keys can be
  /// written past the caches.
  static double bytes(std::size_t n_heads, std::size_t n_queries, std::size_t n_keys) noexcept;

  bool wants(HeadId head) const override;
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;
  Matrix place(HeadId head, std::size_t first_query, std::size_t n_queries) override;

  std::span<const HeadId> heads() const noexcept { return heads_; }
  std::size_t n_tokens() const noexcept { return n_queries_; }

  /// One head's pattern [query, key]; rows are whole cache lines apart. Throws Error{kUsage} when
  /// the head was not chosen.
  ConstMatrix pattern(HeadId head) const;

 private:
  std::optional<std::size_t> index_of(HeadId head) const noexcept;

  std::vector<HeadId> heads_;
  std::map<HeadId, std::size_t> indices_;  // in heads_; too many lookups for a search
  std::size_t n_queries_;
  std::size_t n_keys_;
  MatrixBuffer weights_;  // [heads_.size() * n_queries, n_keys and 0 up to a whole line]
};

}  // namespace attnviz
