// One head and one block of tokens: scores, weights and contexts while they are in cache. The
// layer, and code that traces a single query, share these functions so that they agree to the bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/row_weights.h"
#include "attnviz/core/tensor.h"
#include "attnviz/kernels/products.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// How queries and keys of one layer are rotated by their positions (RoPE).
class Rotation {
 public:
  /// For the tokens from `first_token` on in texts of `n_tokens`. Nothing is rotated unless the
  /// model's positions are RoPE. `layer` must outlive it.
  Rotation(const Model& model, const LayerWeights& layer, std::size_t n_tokens,
           std::size_t first_token = 0);

  /// Whether the constructor would build the same rotation for another layer of this model.
  bool is_for(const LayerWeights& layer, std::size_t n_tokens,
              std::size_t first_token) const noexcept {
    return rope_ == layer.rope.get() && n_tokens_ == n_tokens && first_token_ == first_token;
  }

  /// Radians per token of each pair of dimensions (i, i + number of pairs) that is rotated in heads
  /// of `d_head`; empty without rotation.
  std::vector<double> frequencies(std::size_t d_head) const;

  /// Rotates x [n, d_head] in place; its rows are the tokens from `first_position` on.
  void apply(std::size_t first_position, Matrix x) const noexcept;
  /// Scales queries, but not keys, in models where queries grow with their position.
  void grow_queries(std::size_t first_position, Matrix x) const noexcept;

 private:
  bool rotates_;
  std::size_t n_tokens_;
  std::size_t first_token_;
  const Rope* rope_;    // null: the frequencies follow from d_head
  MatrixBuffer turns_;  // [n_tokens - first_token, n_rotated], from `rope_`
};

/// How a head computes its queries, or its keys, from tokens.
struct HeadSide {
  const Projection& projection;
  Norm norm;
  bool is_query = false;
  /// 1 / root mean square over all heads of each token; empty: the norm computes its own for this
  /// head.
  std::span<const float> joint_factors = {};
  bool norms_turned = false;  // the norm comes after the rotation
};

/// Queries or keys as the projection gives them, with the bias. The projection reads the first d_in
/// columns of x [n, any width]; further columns, which latent attention has, are appended to out.
/// out [n, d_out + (width of x - d_in)].
void project_side(const Projection& projection, ConstMatrix x, Matrix out) noexcept;

/// Norms and rotates the output of project_side() in place. The first row stands at
/// `first_position`. The norm, if the layer has one, comes before or after the rotation; queries
/// that grow with the position are scaled. x [n, d_head]; joint factors, if any, [n].
void norm_and_rotate(const HeadSide& side, const Rotation& rotation, std::size_t first_position,
                     Matrix x) noexcept;

/// project_side(), then norm_and_rotate(). Shapes as above.
void project_rotated(const HeadSide& side, const Rotation& rotation, ConstMatrix x,
                     std::size_t first_position, Matrix out) noexcept;

/// Applies the norm of a head's queries or keys in place, x [n, d_head]. Factors as in HeadSide,
/// [n].
void norm_head(const Norm& norm, std::span<const float> joint_factors, Matrix x) noexcept;

/// HeadSide's joint factors for the tokens x [n, d_model]; empty for layers that norm each head by
/// itself, or not at all.
struct JointFactors {
  std::vector<float> queries, keys;
};
JointFactors joint_factors(const LayerWeights& layer, ConstMatrix x, std::size_t n_threads);

/// Returns the request's mask; without one the layer's, else the model's.
Mask mask_of(const Model& model, std::size_t layer, const AttentionRequest& request) noexcept;

/// Returns the ALiBi slope m of `head` among `n_heads`, at which scores fall off linearly with
/// distance: 2^(-8 (head + 1) / n_heads) when n_heads is a power of two. Otherwise the slopes for
/// the largest power of two p below n_heads come first, then every other slope for 2p. Source:
/// Press et al. 2022, section 3 and their published code. Precondition: head < n_heads.
double alibi_slope(std::size_t head, std::size_t n_heads) noexcept;

/// Returns the factor of q·k: the layer's scale (by default 1 / √d_head), or 1 without scaling. It
/// is divided by the temperature unless a soft cap comes first.
float score_factor(const LayerWeights& layer, std::size_t head,
                   const AttentionRequest& request) noexcept;

/// Returns the rule that turns q·k into weights: mask, scale, soft cap, ALiBi's penalty or the
/// relative position bias divided by the temperature, and dropout.
RowRule row_rule(const Model& model, HeadId head, const AttentionRequest& request) noexcept;

/// One head's projected tokens, as views: heads that share keys and values (grouped-query
/// attention, Ainslie et al. 2023) view the same ones.
struct HeadTensors {
  ConstMatrix query;               // [n_tokens - first_token, d_head]
  const kernels::KeyPanels* keys;  // all n_tokens
  ConstMatrix value;               // [n_tokens, d_value]; empty without contexts
  std::size_t first_token = 0;     // first with a query; earlier ones only have keys and values
};

/// Number of queries to process at once: whole register tiles, and as many as fit the second-level
/// cache with their scores.
std::size_t attending_rows(std::size_t n_keys) noexcept;

/// A thread's memory for one block of queries, reused for the next.
struct BlockScratch {
  MatrixBuffer scores;
  std::vector<KeyRange> ranges;
  std::vector<std::uint8_t> hidden;  // hidden edges, by query, then key
  std::vector<float> sinks;
};

/// Which numbers of a block are not finite.
enum class BlockFault { kNone, kScore, kContext };

/// The weights of a block's queries for the keys from `first_key` on; 0 for all other keys. Valid
/// until the scratch is used again.
struct BlockWeights {
  BlockFault fault = BlockFault::kNone;
  std::size_t first_key = 0;
  ConstMatrix weights;                // [n_queries, n]
  bool stored = false;                // the weights are in the pattern already
  std::span<const float> sinks = {};  // [n_queries]: weights on the head's learned sink
};

/// Attends with the queries [first_query, first_query + n_queries). `context` [n_queries, d_value]
/// is written unless it is empty. `pattern` comes from PatternSink::place(); weights are written
/// there directly where that is cheaper than copying them later. The bits do not depend on how
/// queries are cut into blocks.
BlockWeights attend_block(const HeadTensors& tensors, const RowRule& rule, std::size_t first_query,
                          std::size_t n_queries, BlockScratch& scratch, Matrix context,
                          Matrix pattern = {});

}  // namespace attnviz
