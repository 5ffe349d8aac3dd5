// One layer: attention, and around it the norms, residuals and the MLP of its transformer.
#pragma once

#include <cstddef>

#include "attnviz/attention/attention_layer.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

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
