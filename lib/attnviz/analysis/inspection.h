// One query of one head, followed through every step of attention.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// What a head does for all queries at once. Row = query, column = key.
struct InspectedMatrices {
  MatrixBuffer scores;   // q·k, [n_tokens, n_tokens]
  MatrixBuffer scaled;   // over √d_head and the temperature
  MatrixBuffer masked;   // with ALiBi's bias; -infinity where the mask hides the key
  MatrixBuffer weights;  // after softmax and dropout
  MatrixBuffer context;  // [n_tokens, d_value]
  MatrixBuffer output;   // context · W_O, [n_tokens, d_model]; empty without W_O
};

/// All that one head computes for one query, in the order in which it does; keys 0-based, n_keys is
/// the number of tokens. The same float kernels as run_attention's: the weights have the same bits.
///
/// Views into the model and into shared matrices: valid as long as the model lives.
struct Inspection {
  HeadId head;
  std::size_t query = 0;    // the token that is followed
  std::size_t n_heads = 1;  // of the layer

  // What was asked for.
  AttentionRequest request;
  Mask mask;
  Positions positions = Positions::kNone;
  bool residual = true;

  // What goes in. `input` are the rows x of all tokens as they enter the layer, [n_tokens,
  // d_model].
  std::shared_ptr<const MatrixBuffer> input;
  HeadWeights weights_in;           // W_Q, W_K, W_V with biases, as floats in row order
  ConstMatrix w_output;             // this head's rows of W_O, [d_value, d_model], or empty
  std::span<const float> b_output;  // the layer's b_O, or empty
  std::vector<std::shared_ptr<const MatrixBuffer>>
      converted;  // what these look at, if stored otherwise

  // All tokens' queries, keys [n_tokens, d_head] and values [n_tokens, d_value]; queries and keys
  // are rotated when positions are rope.
  MatrixBuffer q;
  MatrixBuffer k;
  MatrixBuffer v;

  // For the query alone, [n_keys] each.
  std::vector<float> scores;         // q·k
  std::vector<float> scaled;         // scores · factor
  std::vector<float> bias;           // ALiBi: added to `scaled`; empty without it
  std::vector<float> masked;         // scaled + bias; -infinity where the mask hides the key
  std::vector<float> exponentials;   // exp(masked - max); 0 for masked keys
  std::vector<float> probabilities;  // exponentials / sum: the softmax
  std::vector<float> weights;        // the same after dropout
  float factor = 1.0f;               // 1 / (√d_head · temperature)
  float max = 0.0f;                  // of the visible keys' masked scores; 0 when there are none
  float sum = 0.0f;                  // of the exponentials

  MatrixBuffer shares;         // weights[k] · v[k], [n_keys, d_value]
  std::vector<float> context;  // the shares' sum, [d_value]
  std::vector<float> output;   // context · w_output, [d_model]; empty without W_O
  std::vector<float> others;   // what the layer's other heads add, [d_model]; empty if none
  std::vector<float> result;   // the layer's row for the query: x + output + others + b_O, or
                               // without W_O all heads' contexts side by side
  std::size_t context_in_result = 0;  // without W_O: where this head's context begins in it

  std::shared_ptr<const InspectedMatrices> all;  // for every query; only when asked for

  std::size_t n_tokens() const noexcept { return k.rows(); }
  std::size_t d_model() const noexcept { return input->cols(); }
  std::size_t d_head() const noexcept { return k.cols(); }
  std::size_t d_value() const noexcept { return v.cols(); }
  bool has_output() const noexcept { return !w_output.empty(); }
  bool is_visible(std::size_t key) const noexcept { return mask.visible(query, key); }
  std::span<const float> x() const noexcept { return input->view().row(query); }
};

/// Follows `query` through each of `heads` (in order of layer, without repeats; as select_heads
/// gives them). `all_queries`: InspectedMatrices, too.
///
/// Throws what run_attention throws, Error{kUsage} when query is no token's index, and
/// Error{kUnsupported} for models with more than attention.
/// Precondition: the model has the heads.
std::vector<Inspection> inspect_heads(const Model& model, const ModelInput& input,
                                      const AttentionRequest& request,
                                      std::span<const HeadId> heads, std::size_t query,
                                      bool all_queries);

/// Bytes that inspect_heads() takes at most, beside the model; an estimate.
double inspection_bytes(const Model& model, std::span<const HeadId> heads, std::size_t n_tokens,
                        bool all_queries) noexcept;

}  // namespace attnviz
