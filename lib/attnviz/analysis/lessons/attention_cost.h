// What attention takes as texts grow: a textbook's three loops beside the engine's blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attnviz/attention/request.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

/// softmax(Q K^T / √d) V in plain loops, with all of `weights` [n, n] kept. query and key [n,
/// d_head], value and context [n, d_value]; every key is visible. `report` may be empty.
void attend_naively(ConstMatrix query, ConstMatrix key, ConstMatrix value, Matrix weights,
                    Matrix context, const ProgressReport& report = {});

/// The same by the engine, whose weights live in cache for a block of queries at a time. Returns
/// the bytes that it took beside its input and the contexts.
std::size_t attend_in_blocks(ConstMatrix query, ConstMatrix key, ConstMatrix value, Matrix context);

/// One head over `n_tokens`, on one thread; seconds and bytes beside Q, K, V and the contexts.
struct CostPoint {
  std::size_t n_tokens = 0;
  double naive_seconds = 0.0;
  double blocked_seconds = 0.0;
  std::size_t naive_bytes = 0;
  std::size_t blocked_bytes = 0;
};

struct CostRequest {
  std::size_t d_head = 64;
  std::size_t first = 64;  // tokens; each next point has twice as many
  std::size_t last = 4096;
  double seconds = 8.0;  // no point is begun that would take more, but for the first
  std::uint64_t seed = 42;
  ProgressReport report;  // may be empty
};

/// The least of several runs where these are short.
std::vector<CostPoint> measure_cost(const CostRequest& request);

}  // namespace attnviz
