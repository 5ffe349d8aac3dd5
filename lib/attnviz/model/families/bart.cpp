// BART (Lewis et al. 2020), with norms after the sums, and mBART (Liu et al. 2020), with norms
// before attention and MLP and at the end of each stack.

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "attnviz/model/families/bart_traits.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

namespace {

constexpr std::size_t kFirstPosition = 2;

// Old configs name what fairseq could vary. Transformers has one form of each family.
void require_form(const HfConfig& config, bool norms_first) {
  for (const std::string_view key : {"normalize_before", "add_final_layer_norm"}) {
    require(config, key, norms_first ? "true" : "false");
  }
  require(config, "normalize_embedding", "true");
  require(config, "static_position_embeddings", "false");
  require(config, "do_blenderbot_90_layernorm", "false");
  require(config, "extra_pos_embeddings", fmt::format("{}", kFirstPosition));
}

Model read(const HfConfig& config, TensorFiles files, bool norms_first) {
  require_form(config, norms_first);
  BartTraits traits = bart_traits(config);
  for (Traits* const stack : {&traits.encoder, &traits.decoder}) {
    learn_positions(*stack, stack->n_ctx + kFirstPosition, kFirstPosition);
    stack->embedding_norm = true;
    stack->order = norms_first ? LayerOrder::kPreNorm : LayerOrder::kPostNorm;
    stack->last_norm = norms_first;
  }
  return read_bart_stacks(traits, std::move(files));
}

}  // namespace

Model read_bart(const HfConfig& config, TensorFiles files) {
  constexpr std::uint32_t kStart = 2;
  Model model = read(config, std::move(files), /*norms_first=*/false);
  model.config.first_token = token_id(config, "decoder_start_token_id").value_or(kStart);
  // Older configs have this flag instead of the id of the token.
  if (config.flag_or("force_bos_token_to_be_generated", false)) {
    model.config.forced_token = token_id(config, "bos_token_id").value_or(0);
  }
  return model;
}

Model read_mbart(const HfConfig& config, TensorFiles files) {
  Model model = read(config, std::move(files), /*norms_first=*/true);
  // Each translation begins with the token of its language. If no config names it, transformers
  // begins with the beginning-of-text token.
  const std::optional<std::uint32_t> start = token_id(config, "decoder_start_token_id");
  model.config.first_token = start ? *start : token_id(config, "bos_token_id").value_or(0);
  return model;
}

}  // namespace attnviz
