#include "attnviz/attention/layer.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/kept_memory.h"
#include "attnviz/attention/mlp.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/matmul.h"

namespace attnviz {

namespace {

void norm_rows(const Norm& norm, ConstMatrix x, std::size_t n_threads, Matrix out) {
  constexpr std::size_t kWorkPerNumber = 16;  // in multiply-adds, about
  for_each_block(x.rows, 1, kWorkPerNumber * x.cols, n_threads, [&](const OutputBlock& block) {
    apply_norm(norm, x.row_block(block.first_row, block.n_rows),
               out.row_block(block.first_row, block.n_rows));
  });
}

// What attention or the MLP looks at: the norm of x, in memory.normed, or x itself.
ConstMatrix normed(const Norm& norm, ConstMatrix x, std::size_t n_threads, LayerMemory& memory) {
  if (!norm.present()) {
    return x;
  }
  const Matrix out = shaped(memory.normed, x.rows, x.cols);
  norm_rows(norm, x, n_threads, out);
  return out;
}

// x += mlp(look), or x += norm(mlp(look)). When x is looked at itself, what is added must wait.
void add_mlp(const LayerWeights& layer, ConstMatrix look, std::size_t n_threads,
             LayerMemory& memory, Matrix x) {
  if (!layer.after_mlp_norm.present() && look.data != x.data) {
    return run_mlp(layer.mlp, look, true, n_threads, memory.mlp, x);
  }
  const Matrix added = shaped(memory.added, x.rows, x.cols);
  run_mlp(layer.mlp, look, false, n_threads, memory.mlp, added);
  if (layer.after_mlp_norm.present()) {
    norm_rows(layer.after_mlp_norm, added, n_threads, added);
  }
  kernels::add(added, x);
}

void check_finite(const Model& model, std::size_t layer, ConstMatrix x) {
  if (!all_finite(x)) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: layer {}, the output is not a finite number (weights too large?)",
                            model.config.name, layer));
  }
}

// Whether attention looks at the norm of the stream.
bool norms_first(const Model& model) noexcept {
  return model.config.order == LayerOrder::kPreNorm || model.config.order == LayerOrder::kParallel;
}

}  // namespace

ConstMatrix attention_input(const Model& model, std::size_t layer, ConstMatrix stream,
                            std::size_t n_threads, LayerMemory& memory) {
  return norms_first(model) ? normed(model.layers[layer].attention_norm, stream, n_threads, memory)
                            : stream;
}

MatrixBuffer attention_output(const Model& model, std::size_t layer, ConstMatrix look,
                              ConstMatrix stream, const AttentionRequest& request,
                              PatternSink& sink, LayerMemory& memory, Progress* progress) {
  const bool adds_now =
      model.config.residual && !model.layers[layer].after_attention_norm.present();
  const ConstMatrix residual = adds_now ? stream : ConstMatrix{};
  return attend_layer(model, layer, look, residual, request, sink, memory, progress);
}

void join_stream(const Model& model, std::size_t layer, ConstMatrix stream, std::size_t n_threads,
                 Matrix x) {
  const LayerWeights& weights = model.layers[layer];
  if (weights.after_attention_norm.present()) {
    norm_rows(weights.after_attention_norm, x, n_threads, x);
    kernels::add(stream, x);
  }
  if (model.config.order == LayerOrder::kPostNorm) {
    norm_rows(weights.attention_norm, x, n_threads, x);
  }
}

void finish_layer(const Model& model, std::size_t layer, ConstMatrix stream, std::size_t n_threads,
                  LayerMemory& memory, Matrix x) {
  const LayerWeights& weights = model.layers[layer];
  const LayerOrder order = model.config.order;
  if (order == LayerOrder::kAttentionOnly) {
    return;
  }
  if (order == LayerOrder::kPostNorm) {
    add_mlp(weights, x, n_threads, memory, x);
    norm_rows(weights.mlp_norm, x, n_threads, x);
  } else {
    const ConstMatrix before = order == LayerOrder::kParallel ? stream : ConstMatrix(x);
    add_mlp(weights, normed(weights.mlp_norm, before, n_threads, memory), n_threads, memory, x);
  }
  check_finite(model, layer, x);
}

MatrixBuffer run_layer(const Model& model, std::size_t layer, ConstMatrix stream,
                       const AttentionRequest& request, PatternSink& sink, LayerMemory& memory,
                       Progress* progress) {
  const std::size_t n_threads = request.n_threads;
  const ConstMatrix look = attention_input(model, layer, stream, n_threads, memory);
  MatrixBuffer output =
      attention_output(model, layer, look, stream, request, sink, memory, progress);
  join_stream(model, layer, stream, n_threads, output.view());
  finish_layer(model, layer, stream, n_threads, memory, output.view());
  return output;
}

MatrixBuffer run_layers(const Model& model, MatrixBuffer stream, std::size_t end_layer,
                        const AttentionRequest& request, PatternSink& sink, LayerMemory& memory,
                        Progress* progress) {
  for (std::size_t layer = 0; layer < end_layer; ++layer) {
    memory.output = std::exchange(stream, run_layer(model, layer, std::as_const(stream).view(),
                                                    request, sink, memory, progress));
  }
  return stream;
}

void run_layer_patterns(const Model& model, std::size_t layer, ConstMatrix stream,
                        const AttentionRequest& request, PatternSink& sink, LayerMemory& memory,
                        Progress* progress) {
  const ConstMatrix look = attention_input(model, layer, stream, request.n_threads, memory);
  attend_layer_patterns(model, layer, look, request, sink, memory, progress);
}

double layer_bytes(const Model& model, std::size_t n_tokens) noexcept {
  // Its input and its output, and what is normed and added.
  const double streams = model.config.order == LayerOrder::kAttentionOnly ? 2.0 : 4.0;
  const double token_bytes = static_cast<double>(n_tokens) * static_cast<double>(sizeof(float));
  double most = 0.0;
  for (const LayerWeights& layer : model.layers) {
    double contexts = 0.0;
    for (const HeadWeights& head : layer.heads) {
      contexts += token_bytes * static_cast<double>(head.d_value());
    }
    const double turns =
        layer.rope ? token_bytes * static_cast<double>(layer.rope->n_rotated()) : 0.0;
    most = std::max(
        most, tensor_bytes(layer, n_tokens) + mlp_bytes(layer.mlp, n_tokens) + contexts + turns);
  }
  return most + streams * token_bytes * static_cast<double>(model.config.d_model);
}

}  // namespace attnviz
