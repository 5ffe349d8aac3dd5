// From one query's raw scores to its attention weights: positions, mask, softmax, dropout. Also the
// inputs from which a layer's heads compute their queries, keys and values.
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

/// Inputs of the heads' projections; rows are tokens. Without latents both are y, the input of
/// attention.
struct HeadInputs {
  ConstMatrix queries;  // [n, d_in of the heads' queries]
  // [n, d_in of the heads' keys and values]; with latents, the part that heads' keys share follows.
  ConstMatrix keys;

  HeadInputs row_block(std::size_t first, std::size_t count) const noexcept {
    return {queries.row_block(first, count), keys.row_block(first, count)};
  }
};

/// Working memory of the latents.
struct LatentMemory {
  MatrixBuffer queries, keys;
};

/// Returns the head inputs for the tokens y [n, d_model]: views into y, or into `memory`, valid as
/// long as these. The bits of a row do not depend on other rows, nor on n_threads.
HeadInputs head_inputs(const LayerWeights& layer, ConstMatrix y, std::size_t n_threads,
                       LatentMemory& memory);

/// Computes a head's values from its key inputs, [n, d_value] in `out`, normed if the layer norms
/// them.
void project_values(const LayerWeights& layer, const Projection& value, ConstMatrix keys,
                    Matrix out) noexcept;

using kernels::KeyRange;

/// Whether a weight is dropped depends only on (seed, layer, head, query, key), so that threads and
/// the order of work change nothing. Source: Srivastava et al. 2014, in the inverted form.
struct Dropout {
  float rate = 0.0f;  // in [0, 1): the share of weights that become 0
  std::uint64_t seed = 0;

  /// Applies dropout to the weights of `query` on keys first_key, first_key + 1, …: dropped ones
  /// become exactly 0, the others are divided by 1 - rate.
  void apply(HeadId head, std::size_t query, std::size_t first_key,
             std::span<float> weights) const noexcept;
};

/// How one head turns q·k into weights.
struct RowRule {
  HeadId head;
  Mask mask;
  float factor = 1.0f;         // of q·k: scale / temperature; with a soft cap, the scale
  float soft_cap = 0.0f;       // c: scores become c · tanh(score / c); 0: none
  float capped_factor = 1.0f;  // of capped scores: 1 / temperature
  // A learned sink's logit beside those of the keys, divided by the temperature; minus infinity:
  // none.
  float sink = -std::numeric_limits<float>::infinity();
  float distance_penalty = 0.0f;  // score per token of distance: ALiBi's slope / temperature
  // Relative position bias by key - query; the middle entry is for 0, the two ends are for all
  // larger distances. Empty: none.
  std::span<const float> distance_bias = {};
  float bias_factor = 1.0f;  // of distance_bias: 1 / temperature
  Dropout dropout = {};
  const RunObserver* observer = nullptr;  // hides edges of the head; null: none are hidden
};

/// Returns a range with every key that one of the queries [first_query, end_query) sees; the
/// smallest one unless the mask has gaps. Precondition: first_query < end_query <= n_keys.
KeyRange visible_range(const Mask& mask, std::size_t first_query, std::size_t end_query,
                       std::size_t n_keys) noexcept;

/// Turns rows of q·k in place into the weights of the queries from `first_query` on. ranges[i] is
/// the visible_range() of query i; column 0 is key `first_key`. Keys that a query does not see, or
/// that `edges` hides (unless null), get exactly 0. Returns the first row that has a score between
/// its first and last visible key that is not finite, or rows.rows; with a soft cap, infinities
/// count as the cap. `copy` as in kernels::softmax_rows(), allowed only when can_copy(). `sinks`,
/// unless it is empty, receives each row's weight on the learned sink.
std::size_t scores_to_weights(const RowRule& rule, std::size_t first_query,
                              std::span<const KeyRange> ranges, std::size_t first_key, Matrix rows,
                              const EdgeBlock* edges = nullptr, Matrix copy = {},
                              std::span<float> sinks = {}) noexcept;

/// Whether the weights are exactly those that softmax gives, and begin with column 0.
bool can_copy(const RowRule& rule, std::span<const KeyRange> ranges,
              std::size_t first_key) noexcept;

}  // namespace attnviz
