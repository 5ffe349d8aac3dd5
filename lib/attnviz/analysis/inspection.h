// One query of one head, followed through every step of attention.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/attention/interventions.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// The mean that a norm subtracts from one row, and the number it divides the row by.
struct NormNumbers {
  double mean = 0.0;     // of the row; 0 for kRms, which subtracts nothing
  double square = 0.0;   // mean of (x - mean)²
  double divisor = 1.0;  // √(square + epsilon)
};

NormNumbers norm_numbers(const Norm& norm, std::span<const float> x) noexcept;

/// How rotary positions turn queries and keys.
struct InspectedRope {
  std::vector<double> frequencies;  // radians per token, one for each pair of dimensions
  RopePairing pairing = RopePairing::kHalves;
  float magnitude = 1.0f;             // the length of turned pairs is multiplied by this
  std::string_view scaling = "none";  // "linear", "yarn", …
  double factor = 1.0;                // of the scaling
  std::size_t short_text = 0;         // longer texts have other frequencies; 0: none do
  std::size_t n_still = 0;            // leading dimensions that are not turned

  std::size_t n_pairs() const noexcept { return frequencies.size(); }
  /// The dimensions that turn together.
  std::pair<std::size_t, std::size_t> dimensions(std::size_t pair) const noexcept {
    const auto [first, second] = kernels::rope_pair(pairing, pair, n_pairs());
    return {n_still + first, n_still + second};
  }
};

/// A learned logit in the softmax next to the keys' scores; its weight goes to no key.
struct InspectedSink {
  float score = 0.0f;  // divided by the temperature; never masked
  float exponential = 0.0f;
  float weight = 0.0f;
};

/// What a head computes for all queries. Rows are queries, columns are keys.
struct InspectedMatrices {
  MatrixBuffer scores;   // q·k, [n_tokens, n_tokens]
  MatrixBuffer scaled;   // scores · factor
  MatrixBuffer capped;   // after the soft cap; empty without one
  MatrixBuffer masked;   // plus ALiBi's bias; -infinity where the key is hidden
  MatrixBuffer weights;  // after softmax and dropout
  MatrixBuffer context;  // [n_tokens, d_value]; or what replaces it
  MatrixBuffer output;   // context · W_O, [n_tokens, d_model]; empty without W_O
};

/// Everything that one head computes for one query, in the order of computation. Keys are 0-based,
/// and n_keys is the number of tokens. The float kernels are the engine's, so weights and context
/// are bit-identical to its results.
///
/// Holds views into the model and into shared matrices: valid as long as the model lives.
struct Inspection {
  HeadId head;
  std::size_t query = 0;       // the token whose query is followed
  std::size_t n_heads = 1;     // in the layer
  std::size_t kv_head = 0;     // the layer's pair of key and value matrices that it uses,
  std::size_t n_kv_heads = 1;  // and how many pairs the layer has

  // The request and how the model is set up.
  AttentionRequest request;
  Mask mask;
  std::vector<std::uint8_t> knocked_out;  // [n_keys], 1: hidden from the query, as by a mask;
                                          // empty: none
  std::optional<Ablation> ablation;       // of this head: what replaces its context
  std::optional<Ablation> mlp_ablation;   // of its layer's MLP
  Positions positions = Positions::kNone;
  LayerOrder order = LayerOrder::kAttentionOnly;
  bool residual = true;
  bool has_segments = false;  // layer 0's x includes segment embeddings
  std::size_t segment = 0;    // of the query

  // Inputs. `input` holds the rows x of all tokens as they enter the layer, [n_tokens, d_model];
  // `look` is y, which attention reads: x's norm, or x itself.
  std::shared_ptr<const MatrixBuffer> input;
  std::shared_ptr<const MatrixBuffer> look;
  std::shared_ptr<const MatrixBuffer> key_look;  // source of keys and values, usually y
  std::optional<std::size_t> keys_from;          // the layer whose y that is, if another
  Norm norm;                                     // of x, before attention; absent: y is x
  // In layers with latents: their matrices, as floats in row order, and what W_Q (query_latents)
  // and W_K and W_V (key_latents) read instead of y, [n_tokens, their d_in]. key_latents end with
  // the numbers that all heads' keys share. Null: y itself is read.
  Latents latents;
  std::shared_ptr<const MatrixBuffer> query_latents, key_latents;
  HeadWeights weights_in;     // W_Q, W_K, W_V with biases, as floats in row order
  Norm query_norm, key_norm;  // of q and k; may be absent
  bool norms_turned = false;  // whether these follow the rotation instead of preceding it
  // The query's divisor, if its norm takes one root over all heads together (OLMo 2).
  std::optional<float> joint_root;
  Norm value_norm;            // of v; may be absent
  float query_factor = 1.0f;  // multiplies q after the rotation; grows with the position
  std::optional<InspectedRope> rope;
  ConstMatrix w_output;             // this head's rows of W_O, [d_value, d_model], or empty
  std::span<const float> b_output;  // the layer's b_O, or empty
  Norm after_norm;                  // applied to what attention adds to x; may be absent
  float branch_scale = 1.0f;        // multiplies what attention adds to x, after that norm
  Norm result_norm;                 // applied to the sum; may be absent
  std::vector<std::shared_ptr<const MatrixBuffer>>
      converted;  // float copies that the views above point into

  // Queries and keys [n_tokens, d_head] and values [n_tokens, d_value] of all tokens. q and k are
  // normed and turned; q_projected precedes both steps, and q_normed (or q_turned, if norms follow
  // the rotation) lies between them. Stages that the head lacks are empty.
  MatrixBuffer q, q_projected, q_normed, q_turned;
  MatrixBuffer k, k_projected, k_normed, k_turned;
  MatrixBuffer v;

  // For the one query, [n_keys] each.
  std::vector<float> scores;         // q·k
  std::vector<float> scaled;         // scores · factor
  std::vector<float> capped;         // c · tanh(scaled / c); empty without a soft cap c
  std::vector<float> bias;           // ALiBi's, added to the scaled scores; empty without it
  std::vector<float> masked;         // scaled, or capped · capped_factor, plus bias; -infinity
                                     // where the key is hidden
  std::vector<float> exponentials;   // exp(masked - max); 0 for masked keys
  std::vector<float> probabilities;  // exponentials / sum: the softmax
  std::vector<float> weights;        // probabilities after dropout
  double own_scale = 0.0;            // the model's, instead of 1 / √d_head; 0: it has none
  float factor = 1.0f;         // 1 / (√d_head · temperature); with a soft cap 1 / √d_head
  float soft_cap = 0.0f;       // c; 0: none
  float capped_factor = 1.0f;  // 1 / temperature
  std::optional<InspectedSink> sink;
  float max = 0.0f;  // of the visible keys' masked scores and the sink's; 0 without any
  float sum = 0.0f;  // of the exponentials, including the sink's

  MatrixBuffer shares;                // weights[k] · v[k], [n_keys, d_value]
  std::vector<float> mixture;         // sum of the shares, if a gate follows; else empty
  std::vector<float> gate;            // σ(y · W_G), which multiplies the mixture; or empty
  std::vector<float> context;         // sum of the shares, gated, or what replaces it, [d_value]
  std::vector<float> output;          // context · w_output, [d_model]; empty without W_O
  std::vector<float> others;          // what the layer's other heads add, [d_model]; empty if none
  std::vector<float> states;          // what states next to the heads add, [d_model]; empty if none
  std::vector<float> attended;        // output + others + b_O + states, plus x unless a norm or a
                                      // factor comes between or the model does not add it; without
                                      // W_O, all heads' contexts side by side
  std::vector<float> added;           // attended after after_norm and branch_scale; empty unless
                                      // changes_branch()
  std::vector<float> laurel;          // what the layer's LAuReL adds, [d_model]; empty without it
  std::vector<float> result;          // the stream after attention: attended, or x + added, or
                                      // result_norm of these; or (x + added + laurel) / √2
  std::size_t context_in_result = 0;  // without W_O: where this head's context begins in it

  std::shared_ptr<const InspectedMatrices> all;  // for every query; only on request

  std::size_t n_tokens() const noexcept { return k.rows(); }
  std::size_t d_model() const noexcept { return input->cols(); }
  std::size_t d_head() const noexcept { return k.cols(); }
  std::size_t d_value() const noexcept { return v.cols(); }
  bool has_output() const noexcept { return !w_output.empty(); }
  bool changes_branch() const noexcept {
    return after_norm.present() || branch_scale != 1.0f || !laurel.empty();
  }
  /// What W_Q reads for all tokens, and what W_K and W_V read.
  ConstMatrix query_inputs() const noexcept {
    return (query_latents ? query_latents : look)->view();
  }
  ConstMatrix key_inputs() const noexcept { return (key_latents ? key_latents : key_look)->view(); }
  bool norms_queries() const noexcept { return query_norm.present() || key_norm.present(); }
  bool is_knocked_out(std::size_t key) const noexcept {
    return !knocked_out.empty() && knocked_out[key] != 0;
  }
  bool is_visible(std::size_t key) const noexcept {
    return mask.visible(query, key) && !is_knocked_out(key);
  }
  std::span<const float> x() const noexcept { return input->view().row(query); }
  std::span<const float> y() const noexcept { return look->view().row(query); }

  /// Directly after the projection.
  ConstMatrix projected_queries() const noexcept { return first(q_projected, q); }
  ConstMatrix projected_keys() const noexcept { return first(k_projected, k); }
  /// Before and after the rotation.
  ConstMatrix upright_queries() const noexcept {
    return first(q_normed, rope ? q_projected : q, q);
  }
  ConstMatrix upright_keys() const noexcept { return first(k_normed, rope ? k_projected : k, k); }
  ConstMatrix turned_queries() const noexcept { return first(q_turned, q); }
  ConstMatrix turned_keys() const noexcept { return first(k_turned, k); }
  /// Input and output of the norms of queries and keys.
  ConstMatrix unnormed_queries() const noexcept { return first(q_turned, q_projected, q); }
  ConstMatrix normed_queries() const noexcept {
    return norms_turned ? q.view() : upright_queries();
  }
  ConstMatrix normed_keys() const noexcept { return norms_turned ? k.view() : upright_keys(); }

 private:
  static ConstMatrix first(const MatrixBuffer& a, const MatrixBuffer& b) noexcept {
    return a.rows() > 0 ? a.view() : b.view();
  }
  static ConstMatrix first(const MatrixBuffer& a, const MatrixBuffer& b,
                           const MatrixBuffer& c) noexcept {
    return a.rows() > 0 ? a.view() : first(b, c);
  }
};

/// Follows `query` through each of `heads` (ordered by layer, without repeats, as select_heads
/// returns them). With `all_queries`, also fills InspectedMatrices.
///
/// Throws what run() throws, and Error{kUsage} if query is not the index of a token.
/// Precondition: the model has the heads.
std::vector<Inspection> inspect_heads(const Model& model, const ModelInput& input,
                                      const AttentionRequest& request,
                                      std::span<const HeadId> heads, std::size_t query,
                                      bool all_queries);

/// Estimates the bytes that inspect_heads() takes at most, in addition to the model.
double inspection_bytes(const Model& model, std::span<const HeadId> heads, std::size_t n_tokens,
                        bool all_queries) noexcept;

}  // namespace attnviz
