// BART (Lewis et al. 2020), whose norms stand after the sums, and mBART (Liu et al. 2020), which
// norms what attention and MLP read, and what leaves each stack.

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/families/bart_traits.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

namespace {

constexpr std::size_t kFirstPosition = 2;

// Old configs name what fairseq could vary. Transformers has one form of each family.
void require_form(const HfConfig& config, bool norms_first) {
  for (const std::string_view key : {"normalize_before", "add_final_layer_norm"}) {
    require_flag(config, key, norms_first);
  }
  require_flag(config, "normalize_embedding", true);
  require_flag(config, "static_position_embeddings", false);
  require_flag(config, "do_blenderbot_90_layernorm", false);
  if (const std::size_t extra = config.size_or("extra_pos_embeddings", kFirstPosition);
      extra != kFirstPosition) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}extra_pos_embeddings: expected {}, found {}", config.node().where(),
                            kFirstPosition, extra));
  }
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
  // As configs had it before they named the token.
  if (config.flag_or("force_bos_token_to_be_generated", false)) {
    model.config.forced_token = token_id(config, "bos_token_id").value_or(0);
  }
  return model;
}

Model read_mbart(const HfConfig& config, TensorFiles files) {
  Model model = read(config, std::move(files), /*norms_first=*/true);
  // Each translation begins with the token of its language. Where no config names one, the family's
  // library writes texts from the token that begins a text.
  const std::optional<std::uint32_t> start = token_id(config, "decoder_start_token_id");
  model.config.first_token = start ? *start : token_id(config, "bos_token_id").value_or(0);
  return model;
}

}  // namespace attnviz
