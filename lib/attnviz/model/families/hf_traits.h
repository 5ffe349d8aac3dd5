// What Hugging Face configs of many families say in the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/model/families/traits.h"
#include "attnviz/model/rope_scaling.h"

namespace attnviz {

/// What a family's library assumes where a config is silent. 0: it must say.
struct ConfigDefaults {
  std::size_t n_heads = 0;
  std::size_t n_kv_heads = 0;  // 0: as many as heads
  std::size_t d_head = 0;      // 0, or null in the config: d_model / n_heads
  std::size_t n_ctx = 0;
  double epsilon = 1e-6;
  std::size_t original_n_ctx = 0;  // before rotary positions were scaled; 0: n_ctx
  bool tied = false;
  std::size_t d_ff = 0;
  bool d_ff_by_layer = false;  // "intermediate_size" is left to the family
};

/// The shapes and names that Llama and its descendants have in common.
Traits read_traits(const HfConfig& config, const ConfigDefaults& defaults = {});

/// Sets the names of experts' tensors in transformers: one for each expert, as in most published
/// files, and one for all, as transformers 5 keeps them in memory.
///
/// Source  https://github.com/huggingface/transformers: src/transformers/conversion_mapping.py
void name_experts(TensorNames& names);

/// c of a soft cap, 0 for none. Null says that there is none, whatever the family's default is.
float soft_cap(const HfConfig& config, std::string_view key, double otherwise);

/// "tie_word_embeddings" of a config, or of the one that its object stands in.
bool is_tied(const HfConfig& config, bool otherwise);

/// A token's id, or nothing if the config has none. Throws Error{kMalformed} if it is not an id.
std::optional<std::uint32_t> token_id(const HfConfig& config, std::string_view key);

/// "decoder_start_token_id", which decoders of encoders begin with, or "pad_token_id" in its place.
std::optional<std::uint32_t> decoder_start(const HfConfig& config);

/// Checks an option of a family's own code. Throws Error{kUnsupported} if `key` has another value
/// than `expected`, as value_text() writes it; it may be absent.
void require(const HfConfig& config, std::string_view key, std::string_view expected);

/// Throws Error{kMalformed} without "rope_parameters", in place of which the family's library has
/// scaled ones.
void require_rope_parameters(const HfConfig& config);

/// Rotary positions that are the same in all layers.
void rotate_all(const HfConfig& config, Traits& traits);
void rotate_all(const HfConfig& config, const RopeFacts& facts, Traits& traits);

/// The config's "sliding_window", or `otherwise` when it does not say; 0: none, as null says.
std::size_t sliding_window(const HfConfig& config, std::size_t otherwise);

/// For configs that say elsewhere that no layer slides. Throws Error{kUnsupported} when
/// "layer_types" calls a layer "sliding_attention", with `said` as what it contradicts.
void require_none_sliding(const HfConfig& config, std::string_view said);

/// window:`window` in those layers that "layer_types" calls "sliding_attention", or, without such a
/// list, where `is_sliding` says so. A window of 0: in none; throws as require_none_sliding() does.
void slide(const HfConfig& config, std::size_t window,
           const std::function<bool(std::size_t layer)>& is_sliding, Traits& traits);

/// The same in all layers. Throws Error{kUnsupported} when "layer_types" has others beside them.
void slide_everywhere(const HfConfig& config, std::size_t window, Traits& traits);

/// Which layers "layer_types" calls "sliding_attention"; nothing without such a list.
std::optional<std::vector<bool>> sliding_layers(const HfConfig& config);

/// Which layers have experts: every "decoder_sparse_step"-th, but for those in "mlp_only_layers".
std::function<bool(std::size_t layer)> sparse_layers(const HfConfig& config);

/// Reads a decoder from its files: what stands beside its tensors in those of transformers, and
/// what is `harmless` in this family, is passed over.
Model read_hf_decoder(TensorFiles files, const Traits& traits,
                      const std::vector<HarmlessTensor>& harmless = {});

}  // namespace attnviz
