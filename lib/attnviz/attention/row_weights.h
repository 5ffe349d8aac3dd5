// From one query's raw scores to its attention weights: positions, mask, softmax, dropout. What a
// layer's heads make their queries, keys and values of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "attnviz/attention/run_observer.h"
#include "attnviz/core/tensor.h"
#include "attnviz/kernels/products.h"
#include "attnviz/model/mask.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Rows are tokens. Without latents both are y, the tokens as attention looks at them.
struct HeadInputs {
  ConstMatrix queries;  // [n, d_in of the heads' queries]
  // [n, d_in of the heads' keys and values]; of latents what heads' keys share stands behind.
  ConstMatrix keys;

  HeadInputs row_block(std::size_t first, std::size_t count) const noexcept {
    return {queries.row_block(first, count), keys.row_block(first, count)};
  }
};

/// What latents are computed in.
struct LatentMemory {
  MatrixBuffer queries, keys;
};

/// Of the tokens y [n, d_model]. Views into y, or into `memory`, valid as long as these. The bits
/// of a row do not depend on other rows, nor on n_threads.
HeadInputs head_inputs(const LayerWeights& layer, ConstMatrix y, std::size_t n_threads,
                       LatentMemory& memory);

/// Values of what a head reads, [n, d_value] in `out`, normed if the layer norms them.
void project_values(const LayerWeights& layer, const Projection& value, ConstMatrix keys,
                    Matrix out) noexcept;

using kernels::KeyRange;

/// Whether a weight is dropped depends on (seed, layer, head, query, key) only, so that threads and
/// the order of work change nothing. Source: Srivastava et al. 2014, in the inverted form.
struct Dropout {
  float rate = 0.0f;  // in [0, 1): the share of weights that become 0
  std::uint64_t seed = 0;

  /// Weights of `query` on keys first_key, first_key + 1, …: dropped ones become exactly 0, the
  /// others are divided by 1 - rate.
  void apply(HeadId head, std::size_t query, std::size_t first_key,
             std::span<float> weights) const noexcept;
};

/// How one head turns q·k into weights.
struct RowRule {
  HeadId head;
  Mask mask;
  float factor = 1.0f;         // of q·k: the scale over the temperature; the scale with a soft cap
  float soft_cap = 0.0f;       // c: scores become c · tanh(score / c); 0: none
  float capped_factor = 1.0f;  // of capped scores: one over the temperature
  // A logit beside those of the keys, over the temperature; minus infinity: there is none.
  float sink = -std::numeric_limits<float>::infinity();
  float distance_penalty = 0.0f;  // score per token of distance: ALiBi's slope over the temperature
  // Of relative positions: score by key - query, of which the middle one is 0; those at the ends
  // are of all that is farther. Empty: none.
  std::span<const float> distance_bias = {};
  float bias_factor = 1.0f;  // of these: one over the temperature
  Dropout dropout = {};
  const RunObserver* observer = nullptr;  // that hides edges of the head; null: nobody does
};

/// A range with every key that one of the queries [first_query, end_query) sees; the smallest one
/// unless the mask has gaps. Precondition: first_query < end_query <= n_keys.
KeyRange visible_range(const Mask& mask, std::size_t first_query, std::size_t end_query,
                       std::size_t n_keys) noexcept;

/// In place: rows of q·k become the weights of the queries from `first_query` on. ranges[i] is the
/// visible_range() of one of them; column 0 is key `first_key`. Keys that a query does not see get
/// exactly 0. Returns the first row with a score between its first and its last visible key that is
/// not finite, or rows.rows; with a soft cap, infinities count as the cap. What `edges` hides,
/// unless it is null, is not seen either. `copy` as in kernels::softmax_rows(); only when
/// can_copy(). `sinks`, unless it is empty, gets the weight of each row that goes to no key.
std::size_t scores_to_weights(const RowRule& rule, std::size_t first_query,
                              std::span<const KeyRange> ranges, std::size_t first_key, Matrix rows,
                              const EdgeBlock* edges = nullptr, Matrix copy = {},
                              std::span<float> sinks = {}) noexcept;

/// Weights are what softmax makes of them, and begin with column 0.
bool can_copy(const RowRule& rule, std::span<const KeyRange> ranges,
              std::size_t first_key) noexcept;

}  // namespace attnviz
