// The architectures whose GGUF files attnviz reads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/model/families/traits.h"
#include "attnviz/model/model.h"
#include "attnviz/model/transformer_parts.h"
#include "attnviz/model/weight_reader.h"

namespace attnviz {

/// One `general.architecture`, and how its keys and tensors map onto a Model.
struct GgufArchitecture {
  std::string_view name;
  std::string_view family;  // as in a config.json's model_type
  /// Throws Error{kMalformed} for metadata or tensors that contradict each other.
  Model (*read)(const GgufMetadata& metadata, WeightReader weights);
};

/// All architectures, sorted by name.
std::span<const GgufArchitecture> gguf_architectures() noexcept;

Model read_gguf_bert(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_bloom(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_chatglm(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_cohere2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_command_r(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_deepseek2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_falcon(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_falcon_h1(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gemma(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gemma2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gemma3(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gemma_embedding(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gemma3n(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gemma4(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_glm4(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gpt2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gpt_oss(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gptneox(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_granite(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_granitemoe(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_granitehybrid(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_hunyuan_dense(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_lfm2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_llama(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_minicpm(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_mistral3(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_modern_bert(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_nemotron_h(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_nomic_bert(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_olmo2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_phi2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_phi3(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_qwen2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_qwen2moe(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_qwen2vl(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_qwen3next(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_qwen3vl(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_qwen3moe(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_qwen3(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_smollm3(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_stablelm(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_starcoder2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_t5(const GgufMetadata& metadata, WeightReader weights);

// Shared by the readers of GGUF architectures.

/// The keys of a file's architecture: key("block_count") is "llama.block_count".
class GgufKeys {
 public:
  explicit GgufKeys(const GgufMetadata& metadata)
      : prefix_(std::string(metadata.text("general.architecture")) + ".") {}
  std::string operator()(std::string_view key) const { return prefix_ + std::string(key); }

 private:
  std::string prefix_;
};

/// The prefix of messages about the file.
std::string gguf_where(const GgufMetadata& metadata);

/// "nextn_predict_layers": how many of the last layers predict tokens further ahead; they are not
/// read. Throws Error{kMalformed} when no layer is left.
std::size_t n_nextn_layers(const GgufMetadata& metadata);

/// Throws Error{kMalformed} unless a list under `key` has an item for each layer, with or without
/// the layers that predict tokens further ahead.
void require_each_layer(const GgufMetadata& metadata, std::string_view key, std::size_t n_items);

/// Marks as read the keys of vision models that do not affect text: a text token has the same
/// position in all sections of its rotary positions.
void read_picture_keys(const GgufMetadata& metadata);

/// A size that is the same in all layers, or that the file lists by layer.
class SizesOfLayers {
 public:
  /// 0 in all layers.
  SizesOfLayers() = default;
  /// Throws Error{kMalformed} for a list whose length is not the number of layers, and for sizes
  /// below `least`.
  SizesOfLayers(const GgufMetadata& metadata, const std::string& key, std::size_t least);
  std::size_t operator[](std::size_t layer) const noexcept {
    return listed_.empty() ? same_ : listed_[layer];
  }
  std::size_t largest() const noexcept { return same_; }

 private:
  std::vector<std::size_t> listed_;
  std::size_t same_ = 0;  // or the largest size
};

/// An architecture's defaults for its rotary positions; metadata may override them.
struct GgufRopeFacts {
  std::size_t d_head = 0;
  std::size_t n_ctx = 0;
  RopePairing pairing = RopePairing::kHalves;
  bool has_factors = false;  // files may have tensors of factors: Llama, Phi-3
  // "yarn_log_multiplier" scales the scores, which the architecture's reader does; then cosines and
  // sines have no magnitude: DeepSeek-V2.
  bool scales_scores = false;
  std::string_view scaling = "linear";  // the type of a factor if the file names none
};

/// Reads "rope.dimension_count", "rope.freq_base" and "rope.scaling.*" of types none, linear, yarn
/// and longrope. The tensors rope_freqs (Llama 3) and rope_factors_short and _long (Phi-3) hold
/// factors by which the inverse frequencies are divided. In the architecture "llama" whole heads
/// rotate.
///
/// Throws Error{kMalformed} for numbers that are missing or out of range, Error{kUnsupported} for
/// another type, a Llama that rotates a part of its heads, other scaling beside rope_factors_*, and
/// a factor on cosines and sines that llama.cpp does not read.
std::shared_ptr<const Rope> read_gguf_rope(const GgufMetadata& metadata, WeightReader& weights,
                                           const GgufRopeFacts& facts);

/// Reads shapes and names. Files of any architecture may have fused matrices and biases of queries,
/// keys and values; further tensors are read only for architectures that have them. Layers at the
/// end that predict tokens further ahead are left out and their tensors skipped. With latents,
/// d_head stays 0 until the architecture's reader sets it. Throws Error{kMalformed} for numbers
/// that are missing or contradict each other, Error{kUnsupported} for experts unless
/// `may_have_experts`.
Traits gguf_traits(const GgufMetadata& metadata, WeightReader& weights,
                   NormKind norm_kind = NormKind::kRms, bool may_have_experts = false,
                   bool has_latents = false);

/// Sets the experts, if "expert_count" is present: their number and the names of their tensors,
/// also for files from before April 2024, which have a tensor for each. The architecture sets the
/// rest of `experts`.
void read_gguf_experts(const GgufMetadata& metadata, const WeightReader& weights,
                       ExpertTraits experts, Traits& traits);

/// Granite: Llama with multipliers.
Traits granite_traits(const GgufMetadata& metadata, WeightReader& weights, bool may_have_experts);

/// Uses the same rotary positions in all layers.
void use_rope(const GgufMetadata& metadata, WeightReader& weights, Traits& traits,
              RopePairing pairing = RopePairing::kHalves, bool has_factors = false);

using IsSliding = std::function<bool(std::size_t layer)>;

/// True for all layers but every n-th.
IsSliding all_but_every(std::size_t n);

/// The layers that "attention.sliding_window_pattern" lists, or all but every n-th if it holds a
/// number n; `otherwise` is the default n.
IsSliding sliding_pattern(const GgufMetadata& metadata, std::size_t otherwise);

/// Masks with window:"attention.sliding_window" the layers for which `is_sliding` is true. 0: none.
void slide(const GgufMetadata& metadata, std::size_t otherwise, const IsSliding& is_sliding,
           Traits& traits);

/// "attention.scale", "logit_scale" and similar keys, which have no effect at `neutral` and may be
/// absent.
double scale_of(const GgufMetadata& metadata, std::string_view name, double neutral);

}  // namespace attnviz
