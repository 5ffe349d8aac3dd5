// A sink that keeps the patterns of chosen heads whole.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

/// Softmax weights of chosen heads, each [n_tokens, n_tokens] (query, key), or of cross-attention
/// [n_queries, n_keys].
///
/// For one run: what it is not given is 0.
///
/// Units   probabilities: each row sums to 1 within 1e-5, or is all 0 when the query sees nothing.
///
/// Example:
///     attnviz::PatternStore store({{.layer = 0, .head = 1}}, /*n_tokens=*/3);
///     if (store.pattern({.layer = 0, .head = 1}).rows != 3) return 1;
class PatternStore : public PatternSink {
 public:
  /// Takes the memory at once: bytes(). Throws Error{kUsage} when that overflows and Error{kIo}
  /// when it is not to be had. `heads` without repeats.
  PatternStore(std::vector<HeadId> heads, std::size_t n_tokens)
      : PatternStore(std::move(heads), n_tokens, n_tokens) {}
  PatternStore(std::vector<HeadId> heads, std::size_t n_queries, std::size_t n_keys);

  /// What it takes: rows are as long as whole lines of the cache, so that weights of any number of
  /// keys can be written past the caches.
  static double bytes(std::size_t n_heads, std::size_t n_queries, std::size_t n_keys) noexcept;

  bool wants(HeadId head) const override;
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;
  Matrix place(HeadId head, std::size_t first_query, std::size_t n_queries) override;

  std::span<const HeadId> heads() const noexcept { return heads_; }
  std::size_t n_tokens() const noexcept { return n_queries_; }

  /// One head's pattern [query, key], in rows that lie whole lines apart. Throws Error{kUsage} when
  /// it was not chosen.
  ConstMatrix pattern(HeadId head) const;

 private:
  std::optional<std::size_t> index_of(HeadId head) const noexcept;

  std::vector<HeadId> heads_;
  std::map<HeadId, std::size_t> indices_;  // of heads_: asked once a block, so a search would show
  std::size_t n_queries_;
  std::size_t n_keys_;
  MatrixBuffer weights_;  // [heads_.size() * n_queries, n_keys and 0 up to a whole line]
};

}  // namespace attnviz
