#include "attnviz/model/families/readers/latent_reader.h"

#include <fmt/core.h>

#include <string>
#include <vector>

#include "attnviz/core/error.h"

namespace attnviz {

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

}  // namespace attnviz
