// MiniCPM (Hu et al. 2024): Llama with multipliers for embeddings, for what layers add and for
// logits, so that settings found on a small model suit a larger one.

#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

namespace {

// The family's own code builds its tables for the longest text at once. If that is longer than the
// original context, all texts get the factors for long ones.
void rotate_as_longest(Traits& traits) {
  Rope rope = *traits.rope(0);
  if (rope.scaling == "longrope" && traits.n_ctx > rope.short_text) {
    rope.inverse_frequencies = rope.long_inverse_frequencies;
    traits.rope = [same = std::make_shared<const Rope>(std::move(rope))](std::size_t /*layer*/) {
      return same;
    };
  }
}

// The family's own code looks at neither of these.
void require_plain_factors(const HfConfig& config, const Rope& rope) {
  const auto scaling = config.object("rope_scaling");
  if (!scaling || rope.scaling != "longrope") {
    return;
  }
  const double grown = static_cast<double>(rope.n_ctx) / static_cast<double>(rope.short_text);
  const bool has_other = scaling->positive_or("factor", grown) != grown;
  for (const char* key : {"factor", "attention_factor"}) {
    if (scaling->has(key) && (has_other || key != std::string_view("factor"))) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}MiniCPM's own code does not use it: leave it out",
                              scaling->at(key).where()));
    }
  }
}

// Zhao et al. 2025: in texts of `dense_len` tokens or more, queries attend to chosen blocks.
void read_sparse(const HfConfig& config, Traits& traits) {
  constexpr std::size_t kDense = 8192;
  if (const auto sparse = config.object("sparse_config")) {
    traits.most_tokens = sparse->size_or("dense_len", kDense) - 1;
    for (const char* key : {"block_size", "init_blocks", "kernel_size", "kernel_stride", "topk",
                            "use_nope", "window_size"}) {
      sparse->find(key);  // for longer texts
    }
    if (traits.most_tokens == 0) {
      sparse->node().fail("dense_len: expected at least 2, found 1");
    }
  }
}

}  // namespace

Model read_minicpm(const HfConfig& config, TensorFiles files) {
  ConfigDefaults defaults;
  defaults.n_ctx = 2048;
  defaults.tied = true;
  require(config, "num_experts", "0");
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  rotate_all(config, traits);
  require_plain_factors(config, *traits.rope(0));
  rotate_as_longest(traits);
  read_sparse(config, traits);
  config.find("mup_denominator");  // of training
  traits.embedding_scale = static_cast<float>(config.positive_or("scale_emb", 1.0));
  traits.branch_scale = static_cast<float>(config.positive_or("scale_depth", 1.0) /
                                           std::sqrt(static_cast<double>(traits.n_layers)));
  traits.logit_scale = static_cast<float>(config.positive_or("dim_model_base", 1.0) /
                                          static_cast<double>(traits.d_model));
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
