#include "attnviz/attention/layer.h"

#include <algorithm>
#include <initializer_list>
#include <numbers>
#include <utility>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/parts/layer_parts.h"
#include "attnviz/kernels/products.h"
#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

namespace {

void norm_rows(const Norm& norm, ConstMatrix x, std::size_t n_threads, Matrix out) {
  // Norming a number takes about as long as 16 multiply-adds.
  for_each_block(x.rows, 1, 16 * x.cols, n_threads, [&](const OutputBlock& block) {
    apply_norm(norm, x.row_block(block.first_row, block.n_rows),
               out.row_block(block.first_row, block.n_rows));
  });
}

// The input of attention or the MLP: the norm of x, in memory.normed, or x itself.
ConstMatrix normed(const Norm& norm, ConstMatrix x, std::size_t n_threads, LayerMemory& memory) {
  if (!norm.present()) {
    return x;
  }
  const Matrix out = shaped(memory.normed, x.rows, x.cols);
  norm_rows(norm, x, n_threads, out);
  return out;
}

// One layer of a run, and its observer.
struct WatchedLayer {
  const Model& model;
  std::size_t layer;
  RunObserver& observer;
  std::size_t n_threads;
  LayerMemory& memory;

  const LayerWeights& weights() const noexcept { return model.layers[layer]; }
  RunPlace at(LayerStep step) const noexcept { return {layer, step, memory.n_before()}; }
  bool is_watched(LayerStep step) const { return observer.wants(layer, step); }
  void show_stream(LayerStep step, ConstMatrix x) const {
    if (is_watched(step)) {
      observer.stream(at(step), x);
    }
  }
};

// Norms and scales a branch's output before it is added to the stream.
void finish_branch(const LayerWeights& layer, const Norm& norm, std::size_t n_threads, Matrix x) {
  if (norm.present()) {
    norm_rows(norm, x, n_threads, x);
  }
  scale_rows(layer.branch_scale, x);
}

// x += Σ factor · expert(look), with experts chosen by `routed_by`.
void add_chosen_experts(const WatchedLayer& run, ConstMatrix routed_by, ConstMatrix look,
                        Matrix x) {
  const Experts& experts = run.weights().experts;
  const RoutedTokens routed = route_tokens(experts, routed_by, run.n_threads, run.memory.experts);
  if (run.is_watched(LayerStep::kRouter)) {
    run.observer.router(run.at(LayerStep::kRouter), routed);
  }
  add_experts(experts, routed, look, run.n_threads, run.memory.experts, x);
}

// out += norm'(Σ factor · expert(norm(stream))); the router has its own norms.
void add_experts_apart(const WatchedLayer& run, ConstMatrix stream, Matrix out) {
  const Experts& experts = run.weights().experts;
  ExpertMemory& memory = run.memory.experts;
  const Matrix look = shaped(memory.look, stream.rows, stream.cols);
  const Matrix sum = shaped(memory.sum, stream.rows, stream.cols);
  std::fill_n(sum.data, sum.rows * sum.stride, 0.0f);
  norm_rows(experts.norm, stream, run.n_threads, look);
  add_chosen_experts(run, stream, look, sum);
  norm_rows(experts.after_norm, sum, run.n_threads, sum);
  kernels::add(sum, out);
}

// out = mlp(look), plus the output of the experts. `look` is a norm of `stream`.
void run_branch(const WatchedLayer& run, ConstMatrix stream, ConstMatrix look, Matrix out) {
  const LayerWeights& layer = run.weights();
  if (layer.mlp.present()) {
    run_mlp(layer.mlp, look, false, run.n_threads, run.memory.mlp, out);
  } else {
    std::fill_n(out.row_data(0), out.rows * out.stride, 0.0f);
  }
  if (layer.experts.norm.present()) {
    norm_rows(layer.experts.after_shared_norm, out, run.n_threads, out);
    add_experts_apart(run, stream, out);
  } else if (layer.experts.present()) {
    gate_shared(layer.experts, look, run.n_threads, run.memory.experts, out);
    add_chosen_experts(run, look, look, out);
  }
}

// x += mlp(look), or x += norm(mlp(look)); `look` is a norm of `stream`. The MLP needs memory of
// its own when its input is x itself, or when it is observed.
void add_mlp(const WatchedLayer& run, ConstMatrix stream, ConstMatrix look, Matrix x) {
  const LayerWeights& layer = run.weights();
  const bool is_watched = run.is_watched(LayerStep::kMlp);
  if (!layer.has_mlp() && !is_watched) {
    return;
  }
  const bool is_plain = layer.mlp.present() && !layer.after_mlp_norm.present() &&
                        layer.branch_scale == 1.0f && !layer.experts.present();
  if (is_plain && look.data != x.data && !is_watched) {
    return run_mlp(layer.mlp, look, true, run.n_threads, run.memory.mlp, x);
  }
  const Matrix added = shaped(run.memory.added, x.rows, x.cols);
  run_branch(run, stream, look, added);
  if (is_watched) {
    run.observer.mlp(run.at(LayerStep::kMlp), added);
  }
  finish_branch(layer, layer.after_mlp_norm, run.n_threads, added);
  kernels::add(added, x);
}

// norm((act(x · gate) ∘ p) · projection), in memory.added.
ConstMatrix layer_input(const WatchedLayer& run, ConstMatrix x) {
  const LayerInput& input = run.weights().input;
  const std::size_t width = input.gate.d_out();
  const ConstMatrix p =
      std::as_const(run.memory.layer_inputs).view().col_block(run.layer * width, width);
  const Matrix gated = shaped(run.memory.gated, x.rows, width);
  blocked_product(x, input.gate, run.n_threads, gated);
  kernels::activate_gated(input.activation, p, gated);
  const Matrix added = shaped(run.memory.added, x.rows, x.cols);
  blocked_product(gated, input.projection, run.n_threads, added);
  norm_rows(input.norm, added, run.n_threads, added);
  return added;
}

void convolve_layer(const WatchedLayer& run, ConstMatrix look, Matrix x) {
  const Convolution& convolution = run.weights().convolution;
  LayerMemory& memory = run.memory;
  const std::size_t n_before = memory.n_before();
  const std::size_t n_tokens = n_before + look.rows;
  const LayerCache* const kept = memory.kept(run.model, run.layer, n_tokens);
  const Matrix channels = kept != nullptr
                              ? kept->channels(n_tokens)
                              : shaped(memory.channels, n_tokens, convolution.n_channels());
  convolve(convolution, look, n_before, channels, run.n_threads, memory.gated, x);
}

void recur_layer(const WatchedLayer& run, ConstMatrix look, Matrix x) {
  const Recurrence& recurrence = run.weights().recurrence;
  LayerMemory& memory = run.memory;
  const std::size_t n_before = memory.n_before();
  LayerCache* const cache = memory.cache == nullptr ? nullptr : &memory.cache->layer(run.layer);
  const Matrix kept = cache != nullptr ? cache->take_state(n_before + look.rows)
                                       : shaped(memory.recurrence.kept, 1, recurrence.n_kept());
  const bool is_watched = run.is_watched(LayerStep::kDecay);
  const Matrix decays =
      is_watched ? shaped(memory.recurrence.decays, look.rows, recurrence.n_heads) : Matrix{};
  recur(recurrence, look, n_before == 0, kept.row(0), run.n_threads, memory.recurrence, decays, x);
  if (is_watched) {
    run.observer.decay(run.at(LayerStep::kDecay), decays);
  }
}

// The mixer of a layer without heads.
MatrixBuffer mix_layer(const WatchedLayer& run, ConstMatrix look, ConstMatrix residual) {
  MatrixBuffer output;
  const Matrix x = shaped(output, look.rows, look.cols);
  switch (run.weights().mixer()) {
    case MixerKind::kConvolution:
      convolve_layer(run, look, x);
      break;
    case MixerKind::kGatedDelta:
    case MixerKind::kMamba2:
      recur_layer(run, look, x);
      break;
    case MixerKind::kAttention:
    case MixerKind::kNone:
      std::fill_n(x.data, x.rows * x.stride, 0.0f);
      break;
  }
  if (!residual.empty()) {
    kernels::add(residual, x);
  }
  check_finite(run.model, run.layer, x);
  return output;
}

// Adds the output of states beside heads to x, which may already hold the stream.
void add_states(const WatchedLayer& run, ConstMatrix look, Matrix x) {
  if (!run.weights().has_both()) {
    return;
  }
  const Matrix added = shaped(run.memory.added, x.rows, x.cols);
  recur_layer(run, look, added);
  if (run.is_watched(LayerStep::kStates)) {
    run.observer.states(run.at(LayerStep::kStates), added);
  }
  kernels::add(added, x);
  check_finite(run.model, run.layer, x);
}

// The output of attention and of states beside it, plus the stream where that is added first.
MatrixBuffer attend(const WatchedLayer& run, ConstMatrix look, ConstMatrix stream,
                    const AttentionRequest& request, Progress* progress) {
  const bool adds = adds_stream_first(run.model, run.layer);
  const bool is_watched = run.is_watched(LayerStep::kAttention);
  const ConstMatrix residual = adds && !is_watched ? stream : ConstMatrix{};
  MatrixBuffer x = run.weights().heads.empty()
                       ? mix_layer(run, look, residual)
                       : attend_layer(run.model, run.layer, look, residual, request, run.observer,
                                      run.memory, progress);
  add_states(run, look, x.view());
  if (is_watched) {
    run.observer.attention(run.at(LayerStep::kAttention), x.view());
    if (adds) {
      kernels::add(stream, x.view());
    }
    check_finite(run.model, run.layer, x.view());
  }
  return x;
}

// x += cross(norm(x)), or x = norm(x + cross(x)).
void add_cross(const WatchedLayer& run, const AttentionRequest& request, Matrix x) {
  const CrossAttention& cross = run.weights().cross;
  if (!cross.present()) {
    return;
  }
  LayerMemory& memory = run.memory;
  const bool norms_after = run.model.config.order == LayerOrder::kPostNorm;
  const ConstMatrix look = norms_after ? x : normed(cross.norm, x, run.n_threads, memory);
  const Matrix added = shaped(memory.added, x.rows, x.cols);
  attend_across(run.model, {run.layer, look, memory.n_before()}, request, run.observer,
                memory.cross, added);
  kernels::add(added, x);
  if (norms_after) {
    norm_rows(cross.norm, x, run.n_threads, x);
  }
}

// Turns the stream after attention into the output of run_layer() in place; `stream` is the layer's
// input.
void finish(const WatchedLayer& run, ConstMatrix stream, Matrix x) {
  const LayerWeights& weights = run.weights();
  const LayerOrder order = run.model.config.order;
  if (order == LayerOrder::kAttentionOnly) {
    return;
  }
  if (order == LayerOrder::kPostNorm) {
    add_mlp(run, x, x, x);
    norm_rows(weights.mlp_norm, x, run.n_threads, x);
  } else {
    const ConstMatrix before = order == LayerOrder::kParallel ? stream : ConstMatrix(x);
    add_mlp(run, before, normed(weights.mlp_norm, before, run.n_threads, run.memory), x);
  }
  if (weights.input.present() && !weights.altup.present()) {
    kernels::add(layer_input(run, x), x);
  }
  scale_rows(weights.result_scale, x);
  check_finite(run.model, run.layer, x);
}

bool wants_cross(const Model& model, std::size_t layer, const RunObserver& observer) {
  const PatternSink* const sink = observer.cross_patterns();
  for (std::size_t head = 0; sink != nullptr && head < model.layers[layer].cross.heads.size();
       ++head) {
    if (sink->wants({layer, head})) {
      return true;
    }
  }
  return false;
}

// Predicts all streams of the layer, side by side, and returns the active one.
ConstMatrix predict(const WatchedLayer& run, ConstMatrix streams) {
  const Matrix predicted = shaped(run.memory.streams, streams.rows, streams.cols);
  for (std::size_t row = 0; row < streams.rows; ++row) {
    std::ranges::copy(streams.row(row), predicted.row_data(row));
  }
  predict_streams(run.model, run.weights().altup, run.n_threads, predicted);
  const ConstMatrix active = stream_of(run.model, predicted, run.model.altup.active);
  const Matrix stream = shaped(run.memory.active, active.rows, active.cols);
  for (std::size_t row = 0; row < active.rows; ++row) {
    std::ranges::copy(active.row(row), stream.row_data(row));
  }
  return stream;
}

// Returns all streams after the layer, whose output for the active one is z; after the last layer
// the one stream that they are combined into.
MatrixBuffer correct(const WatchedLayer& run, MatrixBuffer z) {
  const Model& model = run.model;
  const AltUpLayer& altup = run.weights().altup;
  MatrixBuffer all = std::exchange(run.memory.streams, {});
  const Matrix streams = all.view();
  correct_streams(model, altup, std::as_const(z).view(), run.n_threads, streams);
  const Matrix active = stream_of(model, streams, model.altup.active);
  if (run.weights().input.present()) {
    const Matrix look = shaped(run.memory.active, active.rows, active.cols);
    for (std::size_t row = 0; row < active.rows; ++row) {
      std::ranges::copy(active.row(row), look.row_data(row));
      for (std::size_t i = 0; i < altup.input_scale.size(); ++i) {
        look(row, i) *= altup.input_scale[i];
      }
    }
    const ConstMatrix added = layer_input(run, look);
    for (std::size_t i = 1; i < model.altup.n_streams(); ++i) {
      kernels::add(added, stream_of(model, streams, i));
    }
  }
  check_finite(model, run.layer, streams);
  if (run.layer + 1 < model.n_layers()) {
    run.show_stream(LayerStep::kAfter, active);
    run.memory.output = std::move(z);
    return all;
  }
  leave_layers(model, streams, run.n_threads, z.view());
  check_finite(model, run.layer, z.view());
  run.show_stream(LayerStep::kAfter, z.view());
  return z;
}

std::size_t wanted_heads(const Model& model, std::size_t layer, const RunObserver& observer) {
  std::size_t count = 0;
  for (std::size_t head = 0; head < model.layers[layer].heads.size(); ++head) {
    count += observer.patterns() != nullptr && observer.patterns()->wants({layer, head}) ? 1u : 0u;
  }
  return count;
}

}  // namespace

RunEnd run_end(const Model& model, const RunObserver& observer) {
  const auto wants = [&observer](std::size_t layer, std::initializer_list<LayerStep> steps) {
    return std::ranges::any_of(steps, [&](LayerStep step) { return observer.wants(layer, step); });
  };
  for (std::size_t layer = model.n_layers(); layer-- > 0;) {
    const std::size_t n_heads = model.layers[layer].heads.size();
    if (wants_cross(model, layer, observer) || wants(layer, {LayerStep::kMiddle, LayerStep::kRouter,
                                                             LayerStep::kMlp, LayerStep::kAfter})) {
      return {layer, LayerReach::kWhole, n_heads};
    }
    if (wants(layer, {LayerStep::kDecay, LayerStep::kGates, LayerStep::kContexts,
                      LayerStep::kStates, LayerStep::kAttention})) {
      return {layer, LayerReach::kAttention, n_heads};
    }
    if (const std::size_t n_wanted = wanted_heads(model, layer, observer); n_wanted > 0) {
      return {layer, LayerReach::kPatterns, n_wanted};
    }
    if (wants(layer, {LayerStep::kBefore})) {
      return {layer, LayerReach::kInput, 0};
    }
  }
  return {};
}

bool norms_first(const Model& model, std::size_t layer) noexcept {
  const LayerOrder order = model.config.order;
  return (order == LayerOrder::kPreNorm || order == LayerOrder::kParallel) &&
         model.layers[layer].attention_norm.present();
}

bool changes_branches(const LayerWeights& layer) noexcept {
  return layer.after_attention_norm.present() || layer.branch_scale != 1.0f ||
         layer.laurel.present();
}

bool adds_stream_first(const Model& model, std::size_t layer) noexcept {
  const LayerWeights& weights = model.layers[layer];
  return model.config.residual && weights.has_output() && !changes_branches(weights);
}

void join_stream(const Model& model, std::size_t layer, ConstMatrix stream, std::size_t n_threads,
                 Matrix x) {
  const LayerWeights& weights = model.layers[layer];
  if (changes_branches(weights)) {
    finish_branch(weights, weights.after_attention_norm, n_threads, x);
    kernels::add(stream, x);
  }
  if (weights.laurel.present()) {
    const MatrixBuffer added = laurel(model, layer, stream, n_threads);
    kernels::add(added.view(), x);
    scale_rows(std::numbers::sqrt2_v<float> / 2.0f, x);
  }
  if (model.config.order == LayerOrder::kPostNorm) {
    norm_rows(weights.attention_norm, x, n_threads, x);
  }
}

MatrixBuffer run_layer(const Model& model, std::size_t layer, LayerReach reach, ConstMatrix stream,
                       const AttentionRequest& request, RunObserver& observer, LayerMemory& memory,
                       Progress* progress) {
  const std::size_t n_threads = request.n_threads;
  const WatchedLayer run{model, layer, observer, n_threads, memory};
  const bool has_streams = run.weights().altup.present();
  if (has_streams) {
    stream = predict(run, stream);
  }
  run.show_stream(LayerStep::kBefore, stream);
  if (reach <= LayerReach::kInput) {
    return {};
  }
  const ConstMatrix look = norms_first(model, layer) ? normed(model.layers[layer].attention_norm,
                                                              stream, n_threads, memory)
                                                     : stream;
  if (reach == LayerReach::kPatterns) {
    attend_layer_patterns(model, layer, look, request, observer, memory, progress);
    return {};
  }
  MatrixBuffer output = attend(run, look, stream, request, progress);
  if (reach == LayerReach::kAttention) {
    return output;
  }
  const Matrix x = output.view();
  join_stream(model, layer, stream, n_threads, x);
  add_cross(run, request, x);
  run.show_stream(LayerStep::kMiddle, x);
  finish(run, stream, x);
  if (has_streams) {
    return correct(run, std::move(output));
  }
  run.show_stream(LayerStep::kAfter, x);
  return output;
}

MatrixBuffer run_layers(const Model& model, std::size_t first, MatrixBuffer stream,
                        const RunEnd& end, const AttentionRequest& request, RunObserver& observer,
                        LayerMemory& memory, Progress* progress) {
  for (std::size_t layer = first; layer <= end.layer; ++layer) {
    const LayerReach reach = layer < end.layer ? LayerReach::kWhole : end.reach;
    MatrixBuffer next = run_layer(model, layer, reach, std::as_const(stream).view(), request,
                                  observer, memory, progress);
    (model.altup.present() ? memory.streams : memory.output) =
        std::exchange(stream, std::move(next));
  }
  return stream;
}

}  // namespace attnviz
