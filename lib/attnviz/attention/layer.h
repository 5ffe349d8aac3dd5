// One transformer layer: attention, and around it the norms, residual connections and the MLP.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "attnviz/attention/head_math.h"
#include "attnviz/attention/key_value_cache.h"
#include "attnviz/attention/parts/cross_attention.h"
#include "attnviz/attention/parts/layer_parts.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/row_weights.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

// The attention of one layer: projections, every head's attention in blocks of queries, output.

/// Counts the work that threads have done and reports it.
class Progress {
 public:
  /// `total` is all the work, in any unit. Without a report nothing is reported.
  Progress(ProgressReport report, double total) noexcept
      : report_(std::move(report)), total_(total) {}

  /// Adds to the work done and reports it, unless another thread is reporting at the moment.
  void add(std::uint64_t work);

 private:
  ProgressReport report_;
  double total_;
  std::atomic<std::uint64_t> done_{0};
  std::mutex informative_;
};

/// Working memory of a layer. Kept from layer to layer: for a short text, allocating fresh memory
/// costs more than the computation.
struct LayerMemory {
  MatrixBuffer tensors;   // queries, keys and values
  MatrixBuffer contexts;  // of all heads, side by side
  MatrixBuffer output;    // for the next layer
  MatrixBuffer added;     // what a branch adds before its norm
  LatentMemory latents;
  MlpMemory mlp;
  ExpertMemory experts;
  std::list<Rotation> rotations;     // most models have one or two
  MatrixBuffer normed;               // input of attention and MLP, when a norm comes first
  std::vector<BlockScratch> blocks;  // by thread
  std::vector<MatrixBuffer> keys;    // by thread
  // The cache of a text that grows: holds the tokens before x, and receives those of x. Null: x is
  // the whole text.
  KeyValueCache* cache = nullptr;
  // Whole-text caches of layers whose keys and values later layers reuse.
  std::map<std::size_t, LayerCache> lent;
  std::size_t n_lent_tokens = 0;
  std::optional<std::set<std::size_t>> lending;  // these layers, once determined
  CrossMemory cross;                             // for decoders that attend to another text
  MatrixBuffer layer_inputs;                     // output of embed_for_layers() for the tokens of x
  MatrixBuffer gated, channels;                  // for convolutions and layer inputs
  MatrixBuffer gates;                            // output gates of all heads, side by side
  RecurrenceMemory recurrence;
  MatrixBuffer streams, active;  // for models with several streams: all of them, and the active one

  /// Tokens before x.
  std::size_t n_before() const noexcept { return cache == nullptr ? 0 : cache->n_tokens(); }
  /// Returns the cache of a layer's keys and values, or of the inputs of its convolution; null when
  /// they are not kept.
  LayerCache* kept(const Model& model, std::size_t layer, std::size_t n_tokens);
  /// Returns the rotation of a layer for the tokens after n_before() in texts of `n_tokens`,
  /// created at first use.
  const Rotation& rotation(const Model& model, const LayerWeights& layer, std::size_t n_tokens);
};

/// Computes the attention of layer `layer` for x [n_tokens, d_model], which also attends to the
/// earlier tokens when memory has a cache. Returns its output, with `residual` added unless that is
/// empty, [n_tokens, d_model]; or, when the layer has no W_O, the contexts side by side, without
/// the residual. `observer` receives the weights of the heads that its sink wants, hides edges and
/// may change the contexts. Work done is added to `progress` unless it is null.
///
/// Besides the result, `memory` holds all contexts, the rotations of rotary positions, the queries,
/// keys and values of as many heads at once as 64 MB hold (counted as if none were shared; at least
/// one head), and for each thread a block of rows as long as the range of keys they see. Throws
/// Error{kMalformed} naming the first head with a number that is not finite.
MatrixBuffer attend_layer(const Model& model, std::size_t layer, ConstMatrix x,
                          ConstMatrix residual, const AttentionRequest& request,
                          RunObserver& observer, LayerMemory& memory, Progress* progress);

/// Computes only the weights of the heads that the sink of `observer` wants: no values, no other
/// heads, no output. Memory and errors as for attend_layer().
void attend_layer_patterns(const Model& model, std::size_t layer, ConstMatrix x,
                           const AttentionRequest& request, RunObserver& observer,
                           LayerMemory& memory, Progress* progress);

/// Bytes of the queries, keys and values that are in memory at once; an estimate.
double tensor_bytes(const LayerWeights& layer, std::size_t n_tokens) noexcept;

/// How far a layer is computed.
enum class LayerReach {
  kNothing,
  kInput,      // only the incoming stream is observed
  kPatterns,   // only the weights of wanted heads: no values, no other heads, no output
  kAttention,  // up to the output of attention
  kWhole,
};

/// The last layer that a run computes.
struct RunEnd {
  std::size_t layer = 0;
  LayerReach reach = LayerReach::kNothing;  // in that layer; the ones before are computed whole
  std::size_t n_heads = 0;                  // that attend in that layer
};

/// Returns where a run for `observer` ends: the last step that it wants.
RunEnd run_end(const Model& model, const RunObserver& observer);

/// Applies layer `layer` to the residual stream [n_tokens, d_model], in the model's LayerOrder.
/// Returns the new stream, [n_tokens, d_model]; meaningless unless the whole layer is computed.
/// Models with several streams (AltUp) have them side by side, as enter_layers() gives them; after
/// the last layer only one is left. An attention-only layer returns its output, with the stream
/// added when the model says so; or, without W_O, the contexts side by side, without the stream.
/// `observer` is called at the steps that it wants and may change their values. Work done is added
/// to `progress` unless it is null.
///
/// Besides the result, `memory` holds what attend_layer() and run_mlp() need. Throws
/// Error{kMalformed} naming the first head with a number that is not finite.
MatrixBuffer run_layer(const Model& model, std::size_t layer, LayerReach reach, ConstMatrix stream,
                       const AttentionRequest& request, RunObserver& observer, LayerMemory& memory,
                       Progress* progress = nullptr);

/// Runs all layers from `first` to the end, one after the other. `stream` is the input of the first
/// one; for layer 0, the output of enter_layers().
MatrixBuffer run_layers(const Model& model, std::size_t first, MatrixBuffer stream,
                        const RunEnd& end, const AttentionRequest& request, RunObserver& observer,
                        LayerMemory& memory, Progress* progress = nullptr);

/// Whether attention in layer `layer` reads a norm of the stream instead of the stream itself.
bool norms_first(const Model& model, std::size_t layer) noexcept;

/// Whether the outputs of attention and the MLP are normed or scaled before they are added.
bool changes_branches(const LayerWeights& layer) noexcept;

/// Whether a layer adds the stream to the output of attention directly, before any norm.
bool adds_stream_first(const Model& model, std::size_t layer) noexcept;

/// Turns the output of attention into the stream after attention, in place. x already contains the
/// stream if adds_stream_first(); otherwise the stream is added here, after the branch's norm and
/// scale. LAuReL and the norm of kPostNorm come last. x and stream hold the same tokens.
void join_stream(const Model& model, std::size_t layer, ConstMatrix stream, std::size_t n_threads,
                 Matrix x);

/// Bytes that run_layer() takes at most, in any layer of the model, without the rows for sinks; an
/// estimate.
double layer_bytes(const Model& model, std::size_t n_tokens);

}  // namespace attnviz
