#include "attnviz/attention/parts/layer_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/kernels/row_kernels.h"
#include "attnviz/kernels/stored_numbers.h"

namespace attnviz {

namespace {

// Searches weights until it finds one that is not finite.
class WeightSearch {
 public:
  std::string_view found() const noexcept { return found_; }

  void in(std::span<const float> numbers) {
    if (found_.empty() && !kernels::all_finite(numbers)) {
      const bool is_nan = std::ranges::any_of(numbers, [](float x) { return std::isnan(x); });
      found_ = is_nan ? "a weight is NaN" : "a weight is infinite, or too large for float32";
    }
  }
  void in(const StoredMatrix& matrix) {
    StoredMatrix stored = matrix;
    if (std::exchange(stored.transposed, false)) {  // by rows, as stored in the file
      std::swap(stored.rows, stored.cols);
    }
    std::vector<float> row(stored.cols);
    for (std::size_t i = 0; i < stored.rows && found_.empty(); ++i) {
      copy_row(stored, i, row);
      in(row);
    }
  }
  void in(const Projection& projection) {
    in(projection.weight);
    in(projection.bias);
  }
  void in(const Norm& norm) {
    in(norm.weight);
    in(norm.bias);
  }
  void in(const Mlp& mlp) {
    for (const Projection* part : {&mlp.gate, &mlp.up, &mlp.down}) {
      in(*part);
    }
  }
  void in(const Experts& experts) {
    for (const Projection* part :
         {&experts.router.gate, &experts.latent_in, &experts.latent_out, &experts.shared_gate}) {
      in(*part);
    }
    for (const Norm* norm :
         {&experts.router.norm, &experts.norm, &experts.after_norm, &experts.after_shared_norm}) {
      in(*norm);
    }
    in(experts.router.choice_bias);
    in(experts.router.expert_scale);
    Experts::Memory memory;
    for (std::size_t i = 0; i < experts.each.size(); ++i) {
      in(experts.at(i, memory));
    }
  }
  void in(const std::vector<HeadWeights>& heads) {
    for (const HeadWeights& head : heads) {
      for (const Projection* part : {&head.query, &head.key, &head.value, &head.output_gate}) {
        in(*part);
      }
      in(head.output);
    }
  }
  void in(const Recurrence& states) {
    for (const PlacedProjection& part : states.in) {
      in(part.projection);
    }
    for (const std::span<const float> numbers :
         {states.kernel, states.bias, states.step_bias, states.skip}) {
      in(numbers);
    }
    in(states.norm);
    in(states.out);
  }
  void in(const LayerWeights& layer) {
    in(layer.heads);
    in(layer.cross.heads);
    in(layer.recurrence);
    for (const Projection* part :
         {&layer.latents.query_down, &layer.latents.key_down, &layer.convolution.in,
          &layer.convolution.out, &layer.output, &layer.cross.output, &layer.input.gate,
          &layer.input.projection, &layer.laurel.left, &layer.laurel.right, &layer.altup.router,
          &layer.altup.prediction, &layer.altup.correction}) {
      in(*part);
    }
    for (const Norm* norm : {&layer.attention_norm, &layer.after_attention_norm, &layer.mlp_norm,
                             &layer.after_mlp_norm, &layer.query_norm, &layer.key_norm,
                             &layer.latents.query_norm, &layer.latents.key_norm, &layer.cross.norm,
                             &layer.input.norm, &layer.laurel.norm, &layer.altup.norm}) {
      in(*norm);
    }
    for (const std::span<const float> numbers :
         {layer.sinks, layer.convolution.kernel, layer.convolution.bias, layer.altup.input_scale}) {
      in(numbers);
    }
    in(std::span(&layer.result_scale, 1));
    if (layer.distance_bias != nullptr) {
      in(StoredMatrix(layer.distance_bias->of_heads.view()));
    }
    in(layer.mlp);
    in(layer.experts);
  }

 private:
  std::string_view found_;
};

}  // namespace

std::string_view why_not_finite(const Model& model, std::size_t layer, float temperature) {
  WeightSearch search;
  if (layer == 0) {
    search.in(model.embeddings);
    search.in(model.embedding_projection);
    search.in(model.position_embeddings);
    search.in(model.segment_embeddings);
    search.in(model.embedding_norm);
    search.in(model.layer_embeddings.table);
    search.in(model.layer_embeddings.projection);
    search.in(model.layer_embeddings.norm);
    for (const Projection& projection : model.altup.enter) {
      search.in(projection);
    }
  }
  if (layer < model.n_layers()) {
    search.in(model.layers[layer]);
  } else {
    search.in(model.head.norm);
    search.in(model.head.transform);
    search.in(model.head.transform_norm);
    search.in(model.head.projection);
    search.in(model.head.unembedding);
  }
  if (layer + 1 >= model.n_layers()) {  // weights that combine several streams
    for (const Projection& projection : model.altup.leave) {
      search.in(projection);
    }
  }
  if (!search.found().empty()) {
    return search.found();
  }
  return temperature < 1.0f ? "temperature too small?" : "weights too large?";
}

void check_finite(const Model& model, std::size_t layer, ConstMatrix x) {
  if (!kernels::all_finite(x)) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: layer {}, the output is not a finite number ({})",
                            model.config.name, layer, why_not_finite(model, layer)));
  }
}

}  // namespace attnviz
