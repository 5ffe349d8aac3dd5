#include "attnviz/attention/parts/not_finite.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/kernels/softmax.h"
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
      found_ = is_nan ? "a weight is NaN" : "a weight is infinite";
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
  void in(const LayerWeights& layer) {
    in(layer.heads);
    in(layer.cross.heads);
    for (const PlacedProjection& part : layer.recurrence.in) {
      in(part.projection);
    }
    for (const Projection* part :
         {&layer.recurrence.out, &layer.convolution.in, &layer.convolution.out, &layer.output}) {
      in(*part);
    }
    for (const Norm* norm : {&layer.attention_norm, &layer.after_attention_norm, &layer.mlp_norm,
                             &layer.after_mlp_norm, &layer.query_norm, &layer.key_norm}) {
      in(*norm);
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
  }
  if (layer < model.n_layers()) {
    search.in(model.layers[layer]);
  } else {
    search.in(model.head.norm);
    search.in(model.head.transform);
    search.in(model.head.unembedding);
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
