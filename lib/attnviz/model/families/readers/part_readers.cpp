#include "attnviz/model/families/readers/part_readers.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"

namespace attnviz {

namespace {

// One for each stream but the first: one after another in one tensor, or in separate tensors.
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

namespace {

class LatentReader {
 public:
  LatentReader(const Traits& traits, const LayerNaming& named, const LayerTraits& shape,
               WeightReader& weights)
      : traits_(traits),
        names_(traits.names),
        of_(traits.latents),
        named_(named),
        shape_(shape),
        weights_(weights) {}

  void read(LayerWeights& layer) {
    if (of_.n_shared >= shape_.d_head) {
      throw Error(ErrorKind::kMalformed,
                  fmt::format("{}expected keys of more than the {} numbers that heads share, found "
                              "{}",
                              traits_.where, of_.n_shared, shape_.d_head));
    }
    layer.latents = read_latents();
    const std::size_t d_in = of_.query_rank == 0 ? traits_.d_model : of_.query_rank;
    const Projection queries =
        weights_.linear(named_(names_.query), d_in, shape_.n_heads * shape_.d_head, Presence::kNo);
    read_keys_and_values(layer.heads);
    for (std::size_t head = 0; head < shape_.n_heads; ++head) {
      layer.heads[head].query = columns(queries, head * shape_.d_head, shape_.d_head);
    }
  }

 private:
  Norm norm(std::string_view name, std::size_t size) {
    return read_norm(weights_, named_(name), {size}, {NormKind::kRms, Presence::kNo, of_.epsilon});
  }

  Latents read_latents() {
    Latents latents;
    if (of_.query_rank > 0) {
      latents.query_down = weights_.linear(named_(names_.query_down), traits_.d_model,
                                           of_.query_rank, of_.down_bias);
      latents.query_norm = norm(names_.query_down_norm, of_.query_rank);
    }
    latents.key_down = weights_.linear(named_(names_.key_down), traits_.d_model,
                                       of_.rank + of_.n_shared, of_.down_bias);
    latents.key_norm = norm(names_.key_down_norm, of_.rank);
    return latents;
  }

  void read_keys_and_values(std::vector<HeadWeights>& heads) {
    const std::size_t d_key = shape_.d_head - of_.n_shared;
    const std::size_t width = d_key + of_.d_value;
    heads.resize(shape_.n_heads);
    if (of_.is_one) {
      const Projection both = weights_.linear(named_(names_.key_value_up), of_.rank,
                                              heads.size() * width, Presence::kNo);
      for (std::size_t head = 0; head < heads.size(); ++head) {
        heads[head].key = columns(both, head * width, d_key);
        heads[head].value = columns(both, head * width + d_key, of_.d_value);
      }
      return;
    }
    const auto keys = weights_.linears(named_(names_.key_up), {}, heads.size(), of_.rank, d_key,
                                       /*is_turned=*/true, Presence::kNo);
    const auto values = weights_.linears(named_(names_.value_up), {}, heads.size(), of_.rank,
                                         of_.d_value, /*is_turned=*/false, Presence::kNo);
    for (std::size_t head = 0; head < heads.size(); ++head) {
      heads[head].key = keys[head];
      heads[head].value = values[head];
    }
  }

  const Traits& traits_;
  const TensorNames& names_;
  const LatentTraits& of_;
  const LayerNaming& named_;
  const LayerTraits& shape_;
  WeightReader& weights_;
};

}  // namespace

void read_latent_heads(const Traits& traits, const LayerNaming& named, const LayerTraits& shape,
                       WeightReader& weights, LayerWeights& layer) {
  LatentReader(traits, named, shape, weights).read(layer);
}

namespace {

class ExpertReader {
 public:
  ExpertReader(const Traits& traits, const LayerNaming& named, WeightReader& weights)
      : traits_(traits), of_(traits.experts), named_(named), weights_(weights) {}

  Experts read() {
    check();
    Experts experts;
    experts.router = read_router();
    const TensorNames& names = traits_.names;
    if (of_.apart) {
      experts.norm = norm(names.expert_norm);
      experts.after_norm = norm(names.after_expert_norm);
      experts.after_shared_norm = norm(names.after_shared_norm);
    }
    const std::string blocks = named_(fmt::format("{}_blocks", names.experts_gate_up));
    if (of_.interleaved &&
        (weights_.has(blocks) || weights_.is_bytes(named_(names.experts_gate_up)))) {
      read_split(experts);
      return experts;
    }
    read_each(experts);
    if (of_.d_latent > 0) {
      const std::size_t d = traits_.d_model;
      experts.latent_in =
          weights_.linear(named_(names.expert_latent_in), d, of_.d_latent, traits_.mlp_bias);
      experts.latent_out =
          weights_.linear(named_(names.expert_latent_out), of_.d_latent, d, traits_.mlp_bias);
    }
    if (of_.has_shared_gate) {
      experts.shared_gate =
          weights_.linear(named_(names.shared_gate), traits_.d_model, 1, Presence::kNo);
    }
    return experts;
  }

 private:
  void read_each(Experts& experts) {
    const TensorNames& names = traits_.names;
    const std::size_t width = of_.d_latent > 0 ? of_.d_latent : traits_.d_model;
    const bool is_one = traits_.gated && is_together(names.expert_gate.empty() ? names.experts_gate
                                                                               : names.expert_gate,
                                                     names.experts_gate_up);
    const auto up =
        is_one ? all({}, names.experts_gate_up, names.experts_gate_up_bias, width, 2 * of_.d_ff)
               : all(names.expert_up, names.experts_up, names.experts_up_bias, width, of_.d_ff);
    const auto gate = is_one || !traits_.gated ? std::vector<Projection>()
                                               : all(names.expert_gate, names.experts_gate,
                                                     names.experts_gate_bias, width, of_.d_ff);
    const auto down =
        all(names.expert_down, names.experts_down, names.experts_down_bias, of_.d_ff, width);
    for (std::size_t i = 0; i < of_.n; ++i) {
      Mlp expert;
      expert.activation = traits_.activation;
      expert.interleaved = is_one && of_.interleaved;
      expert.limit = of_.limit;
      if (is_one && !of_.interleaved) {
        expert.gate = columns(up[i], 0, of_.d_ff);
        expert.up = columns(up[i], of_.d_ff, of_.d_ff);
      } else {
        expert.gate = gate.empty() ? Projection() : gate[i];
        expert.up = up[i];
      }
      expert.down = down[i];
      experts.each.push_back(expert);
    }
  }

  // MXFP4 with blocks and scales in separate tensors, or interleaved in one tensor of bytes; its
  // rows are the outputs.
  std::vector<SplitBlocks> split(std::string_view name, std::size_t d_in, std::size_t d_out) {
    constexpr std::size_t kBlock = 32;
    constexpr std::size_t kBytes = 16;
    if (d_in % kBlock != 0) {
      throw Error(
          ErrorKind::kMalformed,
          fmt::format("{}{} numbers do not fill whole blocks of MXFP4", traits_.where, d_in));
    }
    const std::size_t n_blocks = d_in / kBlock;
    std::vector<SplitBlocks> each;
    if (const std::string whole = named_(name); weights_.is_bytes(whole)) {
      constexpr std::size_t kStep = kBytes + 1;
      const auto bytes =
          weights_.bytes(whole, {of_.n, d_out, n_blocks * kStep}, of_.n * d_out * d_in);
      for (std::size_t i = 0; i < of_.n; ++i) {
        const std::uint8_t* const first = bytes.data() + i * d_out * n_blocks * kStep;
        each.push_back({first + 1, first, kStep, kStep});
      }
      return each;
    }
    const auto blocks = weights_.bytes(named_(fmt::format("{}_blocks", name)),
                                       {of_.n, d_out, n_blocks, kBytes}, of_.n * d_out * d_in);
    const auto scales =
        weights_.bytes(named_(fmt::format("{}_scales", name)), {of_.n, d_out, n_blocks}, 0);
    for (std::size_t i = 0; i < of_.n; ++i) {
      each.push_back(
          {blocks.data() + i * d_out * n_blocks * kBytes, scales.data() + i * d_out * n_blocks});
    }
    return each;
  }

  void read_split(Experts& experts) {
    const TensorNames& names = traits_.names;
    const std::size_t d = traits_.d_model;
    experts.split_up = split(names.experts_gate_up, d, 2 * of_.d_ff);
    experts.split_down = split(names.experts_down, of_.d_ff, d);
    const std::span<const float> up =
        weights_.numbers({named_(names.experts_gate_up_bias)}, {of_.n, 2 * of_.d_ff});
    const std::span<const float> down =
        weights_.numbers({named_(names.experts_down_bias)}, {of_.n, d});
    for (std::size_t i = 0; i < of_.n; ++i) {
      Mlp expert;
      expert.activation = traits_.activation;
      expert.interleaved = true;
      expert.limit = of_.limit;
      expert.up = {{nullptr, d, 2 * of_.d_ff, d, StoredType::kMXFP4, true},
                   up.subspan(2 * of_.d_ff * i, 2 * of_.d_ff)};
      expert.down = {{nullptr, of_.d_ff, d, of_.d_ff, StoredType::kMXFP4, true},
                     down.subspan(d * i, d)};
      experts.each.push_back(expert);
    }
  }

  void check() const {
    const Router& router = of_.router;
    const auto fail = [this](const std::string& what) {
      throw Error(ErrorKind::kMalformed, traits_.where + what);
    };
    if (router.n_groups == 0 || of_.n % router.n_groups != 0) {
      fail(fmt::format("{} experts cannot be shared by {} groups", of_.n, router.n_groups));
    }
    if (router.n_used_groups == 0 || router.n_used_groups > router.n_groups) {
      fail(fmt::format("{} groups of experts cannot be chosen of {}", router.n_used_groups,
                       router.n_groups));
    }
    if (const std::size_t most = of_.n / router.n_groups * router.n_used_groups;
        router.n_used == 0 || router.n_used > most) {
      fail(fmt::format("{} experts cannot be chosen of {}", router.n_used, most));
    }
  }

  Router read_router() {
    Router router = of_.router;
    router.gate =
        weights_.linear(named_(traits_.names.router), traits_.d_model, of_.n, of_.router_bias);
    if (of_.has_choice_bias) {
      router.choice_bias = weights_.vector(named_(traits_.names.choice_bias), of_.n);
    }
    if (of_.apart) {
      router.norm = router_norm();
      router.expert_scale = weights_.vector(named_(traits_.names.expert_scale), of_.n);
    }
    return router;
  }

  Norm norm(std::string_view name) {
    return read_norm(weights_, named_(name), {traits_.d_model},
                     {traits_.norm_kind, traits_.norm_bias, traits_.epsilon, traits_.norm_offset});
  }

  // An RMS norm whose weights are a vector times 1 / √d_model.
  Norm router_norm() {
    const std::size_t d = traits_.d_model;
    const std::span<const float> scale = weights_.vector(named_(traits_.names.router_scale), d);
    const double root = std::sqrt(static_cast<double>(d));
    MatrixBuffer weight(1, d);
    std::ranges::transform(scale, weight.view().row(0).begin(), [root](float one) {
      return static_cast<float>(static_cast<double>(one) / root);
    });
    return {NormKind::kRms, weights_.keep(std::move(weight)), {}, traits_.epsilon, 0.0f};
  }

  // Whether this layer's experts are in one tensor: the file has it, or the family has none named
  // `apart`.
  bool is_together(std::string_view apart, std::string_view together) const {
    return !together.empty() && (apart.empty() || weights_.has(named_(together)));
  }

  // One matrix [d_in, d_out] for each expert, from a tensor `one` for each expert or one tensor
  // `together` for all.
  std::vector<Projection> all(std::string_view one, std::string_view together,
                              std::string_view bias, std::size_t d_in, std::size_t d_out) {
    if (is_together(one, together)) {
      const std::string named_bias = bias.empty() ? std::string() : named_(bias);
      return weights_.linears(named_(together), named_bias, of_.n, d_in, d_out, of_.turned,
                              bias.empty() ? Presence::kNo : of_.bias);
    }
    std::vector<Projection> each;
    for (std::size_t i = 0; i < of_.n; ++i) {
      each.push_back(
          weights_.linear(named_(fmt::format(fmt::runtime(one), i)), d_in, d_out, of_.bias));
    }
    return each;
  }

  const Traits& traits_;
  const ExpertTraits& of_;
  const LayerNaming& named_;
  WeightReader& weights_;
};

}  // namespace

bool has_experts(const Traits& traits, std::size_t layer) {
  return traits.experts.n > 0 && (!traits.experts.in_layer || traits.experts.in_layer(layer));
}

Experts read_experts(const Traits& traits, const LayerNaming& named, WeightReader& weights) {
  return ExpertReader(traits, named, weights).read();
}

}  // namespace attnviz
