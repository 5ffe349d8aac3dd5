// What one head does with one block of tokens: the parts that the layer and whoever follows a
// single query must compute alike, to the bit. One head's attention for one block of queries:
// scores, weights and context while they are in cache.
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

/// How queries and keys of one layer take in where their tokens stand.
class Rotation {
 public:
  /// Of the tokens from `first_token` on in texts of `n_tokens`; nothing turns unless the model's
  /// positions are rope. `layer` must outlive it.
  Rotation(const Model& model, const LayerWeights& layer, std::size_t n_tokens,
           std::size_t first_token = 0);

  /// Whether it is what the constructor would make for another layer of the same model.
  bool is_for(const LayerWeights& layer, std::size_t n_tokens,
              std::size_t first_token) const noexcept {
    return rope_ == layer.rope.get() && n_tokens_ == n_tokens && first_token_ == first_token;
  }

  /// Radians a token of each pair of dimensions (i, i + their number) that turns in heads of
  /// `d_head`; empty when none do.
  std::vector<double> frequencies(std::size_t d_head) const;

  /// In place: rows of x [n, d_head] are tokens from `first_position` on in the text.
  void apply(std::size_t first_position, Matrix x) const noexcept;
  /// What queries alone are multiplied by, where they grow with their position.
  void grow_queries(std::size_t first_position, Matrix x) const noexcept;

 private:
  bool rotates_;
  std::size_t n_tokens_;
  std::size_t first_token_;
  const Rope* rope_;    // null: the frequencies follow from d_head
  MatrixBuffer turns_;  // [n_tokens - first_token, n_rotated], of `rope_`
};

/// What a head makes its queries, or its keys, of tokens with.
struct HeadSide {
  const Projection& projection;
  Norm norm;
  bool is_query = false;
  /// 1 / root mean square over all heads of each token; empty: the norm's own, of this head.
  std::span<const float> joint_factors = {};
  bool norms_turned = false;  // the norm comes after the rotation
};

/// Queries or keys as they come out of a projection, with the bias. Of x [n, any width] it reads
/// the first d_in columns; those behind them, which latents have, become the last ones of out. out
/// [n, d_out + what x is wider than d_in].
void project_side(const Projection& projection, ConstMatrix x, Matrix out) noexcept;

/// Changes in place what project_side() gives, whose first token stands at `first_position`: norms
/// it if the layer has such norms, before or after the rotation, and scales queries that grow with
/// the position. x [n, d_head]; joint factors, if any, [n].
void norm_and_rotate(const HeadSide& side, const Rotation& rotation, std::size_t first_position,
                     Matrix x) noexcept;

/// Both: queries or keys of what a head reads of the tokens. Shapes as above.
void project_rotated(const HeadSide& side, const Rotation& rotation, ConstMatrix x,
                     std::size_t first_position, Matrix out) noexcept;

/// In place, x [n, d_head]: the norm of a head's queries or keys. Factors as in HeadSide, [n].
void norm_head(const Norm& norm, std::span<const float> joint_factors, Matrix x) noexcept;

/// HeadSide's joint factors of the tokens x [n, d_model]; nothing of layers that norm each head for
/// itself, or none.
struct JointFactors {
  std::vector<float> queries, keys;
};
JointFactors joint_factors(const LayerWeights& layer, ConstMatrix x, std::size_t n_threads);

/// The request's mask, or the layer's own, or the model's.
Mask mask_of(const Model& model, std::size_t layer, const AttentionRequest& request) noexcept;

/// The ALiBi slope m of `head` among `n_heads`, at which scores fall off linearly with distance:
/// 2^(-8 (head + 1) / n_heads) when n_heads is a power of two; otherwise the slopes of the power of
/// two p below, followed by every other slope of 2p. Source: Press et al. 2022, section 3 and their
/// published code. Precondition: head < n_heads.
double alibi_slope(std::size_t head, std::size_t n_heads) noexcept;

/// What q·k is multiplied with: the layer's scale, 1 / √d_head unless it has another, or 1 without
/// scaling. Over the temperature unless a soft cap stands between.
float score_factor(const LayerWeights& layer, std::size_t head,
                   const AttentionRequest& request) noexcept;

/// From q·k to weights: the mask, the scale, the soft cap, ALiBi's penalty or the bias of relative
/// positions over the temperature, dropout.
RowRule row_rule(const Model& model, HeadId head, const AttentionRequest& request) noexcept;

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
