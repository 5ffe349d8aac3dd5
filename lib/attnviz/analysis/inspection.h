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

/// What a norm takes away from one row and divides it by.
struct NormNumbers {
  double mean = 0.0;     // of the row; 0 for kRms, which takes nothing away
  double square = 0.0;   // the mean of (x - mean)²
  double divisor = 1.0;  // √(square + epsilon)
};

NormNumbers norm_numbers(const Norm& norm, std::span<const float> x) noexcept;

/// How queries and keys are turned by their positions.
struct InspectedRope {
  std::vector<double> frequencies;  // radians a token, of the pairs of dimensions
  RopePairing pairing = RopePairing::kHalves;
  float magnitude = 1.0f;             // turned pairs are longer by this
  std::string_view scaling = "none";  // "linear", "yarn", …
  double factor = 1.0;                // of the scaling
  std::size_t short_text = 0;         // more tokens have other frequencies; 0: none have
  std::size_t n_still = 0;            // dimensions in front of those that turn

  std::size_t n_pairs() const noexcept { return frequencies.size(); }
  /// The dimensions that turn together.
  std::pair<std::size_t, std::size_t> dimensions(std::size_t pair) const noexcept {
    const auto [first, second] = kernels::rope_pair(pairing, pair, n_pairs());
    return {n_still + first, n_still + second};
  }
};

/// A learned logit beside those of the keys, whose weight goes to none of them.
struct InspectedSink {
  float score = 0.0f;  // over the temperature; no mask hides it
  float exponential = 0.0f;
  float weight = 0.0f;
};

/// What a head does for all queries at once. Row = query, column = key.
struct InspectedMatrices {
  MatrixBuffer scores;   // q·k, [n_tokens, n_tokens]
  MatrixBuffer scaled;   // · factor
  MatrixBuffer capped;   // by the soft cap; empty without one
  MatrixBuffer masked;   // with ALiBi's bias; -infinity where the key is hidden
  MatrixBuffer weights;  // after softmax and dropout
  MatrixBuffer context;  // [n_tokens, d_value]; or what stands in its place
  MatrixBuffer output;   // context · W_O, [n_tokens, d_model]; empty without W_O
};

/// All that one head computes for one query, in the order in which it does; keys 0-based, n_keys is
/// the number of tokens. The same float kernels as the engine's: weights and context have the
/// same bits.
///
/// Views into the model and into shared matrices: valid as long as the model lives.
struct Inspection {
  HeadId head;
  std::size_t query = 0;       // the token that is followed
  std::size_t n_heads = 1;     // of the layer
  std::size_t kv_head = 0;     // which of the layer's pairs of key and value matrices is used,
  std::size_t n_kv_heads = 1;  // and how many there are

  // What was asked for.
  AttentionRequest request;
  Mask mask;
  std::vector<std::uint8_t> knocked_out;  // [n_keys], 1: hidden from the query as the mask hides
                                          // others; empty: none is
  std::optional<Ablation> ablation;       // of this head: what stands in place of its context
  std::optional<Ablation> mlp_ablation;   // of its layer's MLP
  Positions positions = Positions::kNone;
  LayerOrder order = LayerOrder::kAttentionOnly;
  bool residual = true;
  bool has_segments = false;  // in layer 0's x
  std::size_t segment = 0;    // of the query

  // What goes in. `input` are the rows x of all tokens as they enter the layer, [n_tokens,
  // d_model]; `look` is what attention looks at, y: x's norm, or the same as input.
  std::shared_ptr<const MatrixBuffer> input;
  std::shared_ptr<const MatrixBuffer> look;
  std::shared_ptr<const MatrixBuffer> key_look;  // what keys and values are made of: mostly y, too
  std::optional<std::size_t> keys_from;          // another layer, whose y that is
  Norm norm;                                     // of x, before attention; absent: y is x
  // Of layers with latents: their matrices, as floats in row order, and what W_Q and what W_K and
  // W_V read in y's place, [n_tokens, their d_in]; behind the latter what all heads' keys share.
  // Null: y itself.
  Latents latents;
  std::shared_ptr<const MatrixBuffer> query_latents, key_latents;
  HeadWeights weights_in;     // W_Q, W_K, W_V with biases, as floats in row order
  Norm query_norm, key_norm;  // of q and k; may be absent
  bool norms_turned = false;  // whether these come after the rotation, not before it
  // What they divide the query by, where that is the root of all heads' means together: OLMo 2.
  std::optional<float> joint_root;
  Norm value_norm;            // of v; may be absent
  float query_factor = 1.0f;  // of q behind its turn: what grows with the position
  std::optional<InspectedRope> rope;
  ConstMatrix w_output;             // this head's rows of W_O, [d_value, d_model], or empty
  std::span<const float> b_output;  // the layer's b_O, or empty
  Norm after_norm;                  // of what attention adds to x; may be absent
  float branch_scale = 1.0f;        // of what attention adds to x, behind that norm
  Norm result_norm;                 // of the sum; may be absent
  std::vector<std::shared_ptr<const MatrixBuffer>>
      converted;  // what these look at, if stored otherwise

  // All tokens' queries, keys [n_tokens, d_head] and values [n_tokens, d_value]. q and k are normed
  // and turned; q_projected is before both steps, q_normed (or q_turned, if norms come after the
  // turn) between them. Those of steps that the head lacks are empty.
  MatrixBuffer q, q_projected, q_normed, q_turned;
  MatrixBuffer k, k_projected, k_normed, k_turned;
  MatrixBuffer v;

  // For the query alone, [n_keys] each.
  std::vector<float> scores;        // q·k
  std::vector<float> scaled;        // scores · factor
  std::vector<float> capped;        // c · tanh(scaled / c); empty without a soft cap c
  std::vector<float> bias;          // ALiBi: added to what is scaled; empty without it
  std::vector<float> masked;        // scaled, or capped · capped_factor, and bias; -infinity where
                                    // the key is hidden
  std::vector<float> exponentials;  // exp(masked - max); 0 for masked keys
  std::vector<float> probabilities;  // exponentials / sum: the softmax
  std::vector<float> weights;        // the same after dropout
  double own_scale = 0.0;            // the model's in place of 1 / √d_head; 0: it has none
  float factor = 1.0f;         // 1 / (√d_head · temperature); with a soft cap 1 / √d_head
  float soft_cap = 0.0f;       // c; 0: none
  float capped_factor = 1.0f;  // 1 / temperature
  std::optional<InspectedSink> sink;
  float max = 0.0f;  // of the visible keys' masked scores and the sink's; 0 when there are none
  float sum = 0.0f;  // of the exponentials, the sink's too

  MatrixBuffer shares;          // weights[k] · v[k], [n_keys, d_value]
  std::vector<float> mixture;   // the shares' sum where a gate comes behind it; else empty
  std::vector<float> gate;      // σ(y · W_G), what the mixture is multiplied by; or empty
  std::vector<float> context;   // the shares' sum, gated, or what stands in its place, [d_value]
  std::vector<float> output;    // context · w_output, [d_model]; empty without W_O
  std::vector<float> others;    // what the layer's other heads add, [d_model]; empty if none
  std::vector<float> states;    // what states beside the heads add, [d_model]; empty if none
  std::vector<float> attended;  // output + others + b_O + states, and x unless a norm or a factor
                                // comes between or the model does not add it; without W_O all
                                // heads' contexts side by side
  std::vector<float> added;     // what after_norm and branch_scale make of it; empty without both
  std::vector<float> laurel;    // what the layer's LAuReL adds, [d_model]; empty without
  std::vector<float> result;    // the stream behind attention: attended, or x + added, or
                                // result_norm of these; or (x + added + laurel) / √2
  std::size_t context_in_result = 0;  // without W_O: where this head's context begins in it

  std::shared_ptr<const InspectedMatrices> all;  // for every query; only when asked for

  std::size_t n_tokens() const noexcept { return k.rows(); }
  std::size_t d_model() const noexcept { return input->cols(); }
  std::size_t d_head() const noexcept { return k.cols(); }
  std::size_t d_value() const noexcept { return v.cols(); }
  bool has_output() const noexcept { return !w_output.empty(); }
  bool changes_branch() const noexcept {
    return after_norm.present() || branch_scale != 1.0f || !laurel.empty();
  }
  /// What W_Q reads of all tokens, and what W_K and W_V do.
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

  /// As x · W gives them.
  ConstMatrix projected_queries() const noexcept { return first(q_projected, q); }
  ConstMatrix projected_keys() const noexcept { return first(k_projected, k); }
  /// Before and after the rotation.
  ConstMatrix upright_queries() const noexcept {
    return first(q_normed, rope ? q_projected : q, q);
  }
  ConstMatrix upright_keys() const noexcept { return first(k_normed, rope ? k_projected : k, k); }
  ConstMatrix turned_queries() const noexcept { return first(q_turned, q); }
  ConstMatrix turned_keys() const noexcept { return first(k_turned, k); }
  /// Input and output of the norms.
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

/// Follows `query` through each of `heads` (in order of layer, without repeats; as select_heads
/// gives them). `all_queries`: InspectedMatrices, too.
///
/// Throws what run() throws, and Error{kUsage} when query is no token's index.
/// Precondition: the model has the heads.
std::vector<Inspection> inspect_heads(const Model& model, const ModelInput& input,
                                      const AttentionRequest& request,
                                      std::span<const HeadId> heads, std::size_t query,
                                      bool all_queries);

/// Bytes that inspect_heads() takes at most, beside the model; an estimate.
double inspection_bytes(const Model& model, std::span<const HeadId> heads, std::size_t n_tokens,
                        bool all_queries) noexcept;

}  // namespace attnviz
