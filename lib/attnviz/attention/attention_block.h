// One head's attention for one block of queries: scores, weights and context while they are in
// cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attnviz/attention/row_weights.h"
#include "attnviz/core/tensor.h"
#include "attnviz/kernels/key_panels.h"

namespace attnviz {

/// One head's projected tokens. Views: heads that share keys and values (grouped-query attention,
/// Ainslie et al. 2023) look at the same ones.
struct HeadTensors {
  ConstMatrix query;               // [n_tokens - first_token, d_head]
  const kernels::KeyPanels* keys;  // of n_tokens
  ConstMatrix value;               // [n_tokens, d_value]; empty when nobody wants contexts
  std::size_t first_token = 0;     // that has a query: those before it only have keys and values
};

/// How many queries to attend with at once: whole register tiles, and as many as their scores leave
/// in the second-level cache.
std::size_t attending_rows(std::size_t n_keys) noexcept;

/// What a thread needs for one block of queries, kept for the next one.
struct BlockScratch {
  MatrixBuffer scores;
  std::vector<KeyRange> ranges;
  std::vector<std::uint8_t> hidden;  // edges, by query, then key
  std::vector<float> sinks;
};

/// What went wrong in a block.
enum class BlockFault { kNone, kScore, kContext };

/// The weights of a block's queries for the keys from `first_key` on; 0 for all others. Valid until
/// the scratch is used again.
struct BlockWeights {
  BlockFault fault = BlockFault::kNone;
  std::size_t first_key = 0;
  ConstMatrix weights;                // [n_queries, n]
  bool stored = false;                // they are in the pattern already
  std::span<const float> sinks = {};  // [n_queries]: what goes to no key, of heads with a sink
};

/// Attends with the queries [first_query, first_query + n_queries). `context` [n_queries, d_value]
/// is written unless it is empty; `pattern` as PatternSink::place() gives it, where that takes less
/// than writing the weights there later. The bits do not depend on how queries are cut into blocks.
BlockWeights attend_block(const HeadTensors& tensors, const RowRule& rule, std::size_t first_query,
                          std::size_t n_queries, BlockScratch& scratch, Matrix context,
                          Matrix pattern = {});

}  // namespace attnviz
