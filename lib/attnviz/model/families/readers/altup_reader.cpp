#include "attnviz/model/families/readers/altup_reader.h"

#include <fmt/core.h>

#include <cstddef>
#include <string>

namespace attnviz {

namespace {

// One of each stream but the first: in one tensor behind one another, or in tensors of their own.
std::vector<Projection> of_streams(std::string_view name, const Traits& traits,
                                   WeightReader& weights) {
  const std::size_t d = traits.d_model;
  const std::size_t n = traits.altup.n_streams - 1;
  if (name.find("{}") == std::string_view::npos) {
    return weights.linears(name, {}, n, d, d, /*is_turned=*/false, Presence::kNo);
  }
  std::vector<Projection> each;
  for (std::size_t i = 0; i < n; ++i) {
    each.push_back(weights.linear(fmt::format(fmt::runtime(name), i), d, d, Presence::kNo));
  }
  return each;
}

Norm norm_of_stream(const std::string& name, const Traits& traits, WeightReader& weights) {
  return read_norm(weights, name, {traits.d_model},
                   {traits.norm_kind, traits.norm_bias, traits.epsilon, traits.norm_offset});
}

}  // namespace

AltUp read_altup(const Traits& traits, WeightReader& weights) {
  AltUp read;
  read.enter = of_streams(traits.names.altup_enter, traits, weights);
  read.leave = of_streams(traits.names.altup_leave, traits, weights);
  read.active = traits.altup.active;
  return read;
}

AltUpLayer read_altup_layer(const Traits& traits, const LayerNaming& named, WeightReader& weights) {
  const TensorNames& names = traits.names;
  const std::size_t d = traits.d_model;
  const std::size_t n = traits.altup.n_streams;
  AltUpLayer read;
  read.norm = norm_of_stream(named(names.altup_norm), traits, weights);
  read.router = weights.linear(named(names.altup_router), d, n, Presence::kNo);
  read.prediction = weights.linear(named(names.altup_prediction), n, n * n, Presence::kNo);
  read.correction = weights.linear(named(names.altup_correction), n, n, Presence::kNo);
  if (traits.altup.input_scale) {
    read.input_scale = weights.vector(named(names.altup_input_scale), d);
  }
  return read;
}

Laurel read_laurel(const Traits& traits, const LayerNaming& named, WeightReader& weights) {
  const TensorNames& names = traits.names;
  return {
      weights.linear(named(names.laurel_left), traits.d_model, traits.laurel_rank, Presence::kNo),
      weights.linear(named(names.laurel_right), traits.laurel_rank, traits.d_model, Presence::kNo),
      norm_of_stream(named(names.laurel_norm), traits, weights)};
}

}  // namespace attnviz
