// One layer: attention, and around it the norms, residuals and the MLP of its transformer.
#pragma once

#include <cstddef>

#include "attnviz/attention/attention_layer.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/progress.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// What layer `layer` makes of the residual stream [n_tokens, d_model], in the model's LayerOrder:
/// [n_tokens, d_model]. A layer that is attention alone gives its output with the stream added when
/// the model says so; or the contexts side by side, without the stream, when it has no W_O. Weights
/// of wanted heads go to `sink`, work done to `progress` unless it is null.
///
/// Needs in `memory`, beside its result, what attend_layer() and run_mlp() need. Throws
/// Error{kMalformed} naming the first head with a number that is not finite.
MatrixBuffer run_layer(const Model& model, std::size_t layer, ConstMatrix stream,
                       const AttentionRequest& request, PatternSink& sink, LayerMemory& memory,
                       Progress* progress = nullptr);

/// run_layer() for all layers before `end_layer`, one after the other. `stream` [n_tokens, d_model]
/// is what enters the first one.
MatrixBuffer run_layers(const Model& model, MatrixBuffer stream, std::size_t end_layer,
                        const AttentionRequest& request, PatternSink& sink, LayerMemory& memory,
                        Progress* progress = nullptr);

/// What attention looks at in layer `layer`: the norm of the stream where one comes first, or the
/// stream itself. Valid until `memory` is used again. This and the three functions below are the
/// parts of run_layer(), for whoever looks between them.
ConstMatrix attention_input(const Model& model, std::size_t layer, ConstMatrix stream,
                            std::size_t n_threads, LayerMemory& memory);

/// What attention makes of attention_input(): attend_layer()'s result, with the stream added unless
/// the model does not add it or a norm comes between.
MatrixBuffer attention_output(const Model& model, std::size_t layer, ConstMatrix look,
                              ConstMatrix stream, const AttentionRequest& request,
                              PatternSink& sink, LayerMemory& memory, Progress* progress = nullptr);

/// In place: attention_output() becomes the stream behind attention. Normed where a norm comes
/// after it, and the stream added if it was not yet; x and stream are the same rows of both.
void join_stream(const Model& model, std::size_t layer, ConstMatrix stream, std::size_t n_threads,
                 Matrix x);

/// In place: the stream behind attention becomes what run_layer() gives; `stream` is what entered
/// the layer.
void finish_layer(const Model& model, std::size_t layer, ConstMatrix stream, std::size_t n_threads,
                  LayerMemory& memory, Matrix x);

/// Only the weights of the heads that `sink` wants: no values, no other heads, no output. Needs and
/// throws as run_layer does.
void run_layer_patterns(const Model& model, std::size_t layer, ConstMatrix stream,
                        const AttentionRequest& request, PatternSink& sink, LayerMemory& memory,
                        Progress* progress = nullptr);

/// Bytes that run_layer takes at most, in any layer of the model, without the rows for sinks; an
/// estimate.
double layer_bytes(const Model& model, std::size_t n_tokens) noexcept;

}  // namespace attnviz
