#include "attnviz/model/families/traits.h"

#include <fmt/core.h>

#include <memory>

#include "attnviz/core/error.h"

namespace attnviz {

void keep_unrotated(const std::function<bool(std::size_t layer)>& is_plain, Traits& traits) {
  traits.rope = [is_plain, rope = traits.rope, none = std::make_shared<const Rope>()](
                    std::size_t layer) { return is_plain(layer) ? none : rope(layer); };
}

void remove_positions(Traits& traits) {
  traits.positions = Positions::kNone;
  traits.rope = {};
}

void see_all(Traits& traits, std::size_t reach,
             const std::function<bool(std::size_t layer)>& is_sliding) {
  traits.sees_all = true;
  traits.mask = [near = Mask{MaskKind::kAround, reach}, is_sliding](std::size_t layer) {
    return is_sliding(layer) ? std::optional(near) : std::nullopt;
  };
}

std::size_t last_alike(std::string_view where, std::size_t end, bool slides,
                       const std::function<bool(std::size_t layer)>& is_sliding) {
  for (std::size_t layer = end; layer-- > 0;) {
    if (is_sliding(layer) == slides) {
      return layer;
    }
  }
  throw Error(ErrorKind::kMalformed,
              fmt::format("{}no layer before {} has keys for those that take others'", where, end));
}

std::vector<HarmlessTensor> unused_keys(const TensorNames& names) {
  const std::string layer = fmt::format(fmt::runtime(names.layer), "#");
  std::vector<HarmlessTensor> unused;
  for (const std::string_view name : {names.key, names.value, names.key_norm}) {
    unused.push_back({fmt::format("{}{}.weight", layer, name),
                      "the layer takes the keys and values of another one"});
  }
  return unused;
}

void learn_positions(Traits& traits, std::size_t n, std::size_t first_position) {
  traits.positions = Positions::kLearned;
  traits.n_positions = n;
  traits.first_position = first_position;
  traits.rope = {};
}

void norm_layers(Traits& traits, Presence bias, double epsilon) {
  traits.norm_kind = NormKind::kLayer;
  traits.norm_bias = bias;
  traits.epsilon = epsilon;
}

void set_encoder(Traits& traits, std::size_t n_positions, double epsilon) {
  traits.sees_all = true;
  traits.order = LayerOrder::kPostNorm;
  traits.n_kv_heads = traits.n_heads;
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.n_ctx = n_positions;
  learn_positions(traits, n_positions);
  norm_layers(traits, Presence::kYes, epsilon);
  set_biases(traits, Presence::kYes);
  traits.transform_bias = traits.unembedding_bias = Presence::kYes;
  traits.embedding_norm = true;
  traits.last_norm = false;
  traits.gated = false;
  traits.activation = Activation::kGelu;
}

void set_biases(Traits& traits, Presence presence) {
  traits.qkv_bias = traits.output_bias = traits.mlp_bias = presence;
}

}  // namespace attnviz
