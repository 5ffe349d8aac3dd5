// One layer: attention, and around it the norms, residuals and the MLP of its transformer.
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

/// Counts work that threads have done and tells of it.
class Progress {
 public:
  /// `total` work in all, in any unit. Without a report nothing is told.
  Progress(ProgressReport report, double total) noexcept
      : report_(std::move(report)), total_(total) {}

  /// Tells of it unless another thread is just telling.
  void add(std::uint64_t work);

 private:
  ProgressReport report_;
  double total_;
  std::atomic<std::uint64_t> done_{0};
  std::mutex informative_;
};

/// What a layer computes in. Kept from layer to layer: fresh memory costs more than what a short
/// text does in it.
struct LayerMemory {
  MatrixBuffer tensors;   // queries, keys and values
  MatrixBuffer contexts;  // every head's, side by side
  MatrixBuffer output;    // for the next one
  MatrixBuffer added;     // what a norm comes behind
  LatentMemory latents;
  MlpMemory mlp;
  ExpertMemory experts;
  std::list<Rotation> rotations;     // most models have one or two
  MatrixBuffer normed;               // what attention and MLP look at, where a norm comes first
  std::vector<BlockScratch> blocks;  // by thread
  std::vector<MatrixBuffer> keys;    // by thread
  // Of a text that grows: has what came before x, and gets what x adds. Null: x is the whole text.
  KeyValueCache* cache = nullptr;
  // Of the whole text, of layers whose keys others look at: they stay for those.
  std::map<std::size_t, LayerCache> lent;
  std::size_t n_lent_tokens = 0;
  std::optional<std::set<std::size_t>> lending;  // these layers, once one has asked
  CrossMemory cross;                             // of decoders that look at another text
  MatrixBuffer layer_inputs;                     // what embed_for_layers() gave for the tokens of x
  MatrixBuffer gated, channels;                  // of convolutions and layer inputs
  MatrixBuffer gates;  // of all heads, side by side: what opens their contexts
  RecurrenceMemory recurrence;
  MatrixBuffer streams, active;  // of models with several streams: all of them, and the active one

  /// Tokens before x.
  std::size_t n_before() const noexcept { return cache == nullptr ? 0 : cache->n_tokens(); }
  /// What keeps a layer's keys and values, or of a convolution what it looks back at; null when
  /// nothing does.
  LayerCache* kept(const Model& model, std::size_t layer, std::size_t n_tokens);
  /// That of a layer for the tokens behind those before x in texts of `n_tokens`, made when it is
  /// not there yet.
  const Rotation& rotation(const Model& model, const LayerWeights& layer, std::size_t n_tokens);
};

/// The attention of layer `layer` to x [n_tokens, d_model], and to the tokens before x when memory
/// has a cache of their keys and values: its output with `residual` added unless
/// that is empty, [n_tokens, d_model]; or the contexts side by side, without the residual, when the
/// layer has no W_O. `observer` gets the weights of the heads that its sink wants, hides edges and
/// may change the contexts; work done goes to `progress` unless it is null.
///
/// Needs in `memory`, beside its result, all contexts, the turns of rotary positions, the queries,
/// keys and values of as many heads at once as 64 MB hold (counted as if none shared theirs), or of
/// one, and for each thread a block of rows as long as the range of keys they see. Throws
/// Error{kMalformed} naming the first head with a number that is not finite.
MatrixBuffer attend_layer(const Model& model, std::size_t layer, ConstMatrix x,
                          ConstMatrix residual, const AttentionRequest& request,
                          RunObserver& observer, LayerMemory& memory, Progress* progress);

/// Only the weights of the heads that the sink of `observer` wants: no values, no other heads, no
/// output. Needs and throws as attend_layer does.
void attend_layer_patterns(const Model& model, std::size_t layer, ConstMatrix x,
                           const AttentionRequest& request, RunObserver& observer,
                           LayerMemory& memory, Progress* progress);

/// Bytes of the queries, keys and values that lie in memory at once; an estimate.
double tensor_bytes(const LayerWeights& layer, std::size_t n_tokens) noexcept;

/// How far a layer is computed.
enum class LayerReach {
  kNothing,
  kInput,      // only the stream that enters is looked at
  kPatterns,   // only the weights of wanted heads: no values, no other heads, no output
  kAttention,  // up to what attention gives
  kWhole,
};

/// The last layer that a run computes.
struct RunEnd {
  std::size_t layer = 0;
  LayerReach reach = LayerReach::kNothing;  // of it; those before are whole
  std::size_t n_heads = 0;                  // that attend in it
};

/// Of a run for `observer`: where it wants something for the last time.
RunEnd run_end(const Model& model, const RunObserver& observer);

/// What layer `layer` makes of the residual stream [n_tokens, d_model], in the model's LayerOrder:
/// [n_tokens, d_model]; of no use when the reach is not the whole layer. Models with several
/// streams (AltUp) have them side by side, as enter_layers() gives them; behind the last layer
/// there is one. A layer that is attention alone gives its output with the stream added when the
/// model says so; or the contexts side by side, without the stream, when it has no W_O. `observer`
/// is told and may step in; work done goes to `progress` unless it is null.
///
/// Needs in `memory`, beside its result, what attend_layer() and run_mlp() need. Throws
/// Error{kMalformed} naming the first head with a number that is not finite.
MatrixBuffer run_layer(const Model& model, std::size_t layer, LayerReach reach, ConstMatrix stream,
                       const AttentionRequest& request, RunObserver& observer, LayerMemory& memory,
                       Progress* progress = nullptr);

/// run_layer() for all layers from `first` up to the end, one after the other. `stream` is what
/// enters the first one: of layer 0 what enter_layers() gives.
MatrixBuffer run_layers(const Model& model, std::size_t first, MatrixBuffer stream,
                        const RunEnd& end, const AttentionRequest& request, RunObserver& observer,
                        LayerMemory& memory, Progress* progress = nullptr);

/// Whether attention looks at a norm of the stream in layer `layer`, not at the stream itself.
bool norms_first(const Model& model, std::size_t layer) noexcept;

/// Whether what attention and the MLP add is normed or scaled before it is added.
bool changes_branches(const LayerWeights& layer) noexcept;

/// Whether a layer adds the stream to what attention gives before any norm, and as it is.
bool adds_stream_first(const Model& model, std::size_t layer) noexcept;

/// In place: what attention gives, with the stream added where adds_stream_first(), becomes the
/// stream behind attention. Normed where a norm comes after it, and the stream added if it was not
/// yet; x and stream are the same rows of both.
void join_stream(const Model& model, std::size_t layer, ConstMatrix stream, std::size_t n_threads,
                 Matrix x);

/// Bytes that run_layer takes at most, in any layer of the model, without the rows for sinks; an
/// estimate.
double layer_bytes(const Model& model, std::size_t n_tokens);

}  // namespace attnviz
