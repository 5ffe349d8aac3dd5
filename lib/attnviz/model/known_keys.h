// Keys of model files that do not affect attention in any family, and the parameter names of
// language-model configs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/hf_config.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Keys of a GGUF file, without the architecture prefix.
std::span<const IgnorableKey> gguf_keys() noexcept;
/// Keys of a GGUF file, by full name.
std::span<const IgnorableKey> other_gguf_keys() noexcept;
/// Keys of a config.json, or of the "text_config" in it.
std::span<const IgnorableKey> config_keys() noexcept;
/// Keys of the objects in it that describe how rotary positions are scaled.
std::span<const IgnorableKey> rope_keys() noexcept;

/// Whether a config class for language models, in transformers or in the code published with models
/// of its families, has a parameter of this name. A parameter may change what is computed; all
/// other keys of a config.json are notes by its author.
///
/// Source  github.com/huggingface/transformers, src/transformers/models/*/configuration_*.py,
///         versions 4.0 to 5.3: 137 of these files were compared with the list in 2026, the rest
///         and other authors' code only in part. Left out: parameters used only for pictures,
///         sound, training and generation.
bool is_config_parameter(std::string_view name);

/// Whether rope_scaling or rope_parameters has a parameter of this name (modeling_rope_utils.py).
bool is_rope_parameter(std::string_view name);

// Keys and tensors of a model's files that were not read: harmless, unknown, or refused.

/// Records in the model's config the keys that were not read: harmless keys, with the reason,
/// including those of other architectures; and unknown keys, which llama.cpp does not name. Throws
/// Error{kUnsupported} naming each key that may change what is computed: a key that llama.cpp knows
/// and whose value is not 0, false, empty or known to be harmless.
void pass_over_keys(const GgufMetadata& metadata, Model& model);

/// As above, for a config.json, at every depth that was read; is_config_parameter() decides which
/// keys are known. Architectures and code of other families are refused. Messages begin with
/// `where`.
void pass_over_keys(const HfConfig& source, std::string_view where, const Family& family,
                    Model& model);

/// Records in the model's config the unused tensors that change nothing, with the reason, and
/// unknown tensors outside of the layers, for example heads for other tasks. Throws
/// Error{kUnsupported} naming an unknown tensor of a layer, which may change what is computed.
void pass_over_tensors(Model& model);

// The supported families, in all forms of files, and transformers' classes for a family.

struct KnownFamily {
  std::string_view name;      // `model_type` of a config.json
  bool hugging_face = false;  // whether Hugging Face folders are read
  std::vector<std::string_view>
      gguf;                   // `general.architecture` of supported GGUF files; may be empty
  std::string_view left_out;  // parts of these models that are not read; may be empty
};

/// Sorted by name.
std::vector<KnownFamily> known_families();

/// Whether attnviz reads models of this `general.architecture` or `model_type`.
bool reads_gguf_architecture(std::string_view name);
bool reads_model_type(std::string_view name);

/// Formats the message `model_type "qwen3_moe": not one of the families that are read; near it:
/// qwen3, qwen3_vl`; `key` is the key that holds the name.
std::string unknown_family(std::string_view key, std::string_view name);

/// The names of a family's classes, and where its code lies.
struct FamilyNames {
  std::string_view class_name;
  std::string_view model_type;
  bool is_causal = false;
};

/// Whether `name` is one of the classes that transformers has for a family: "LlamaForCausalLM".
/// Other classes run the family in other ways: in LLM2Vec's LlamaBiModel every token sees all
/// others (BehnamGhader et al. 2024).
bool is_class_of(const FamilyNames& family, std::string_view name);

/// Whether `reference` is "modeling_phi3.Phi3ForCausalLM", also after "owner/repository--":
/// transformers' own file, as published before transformers contained it. Files with other names
/// hold code that runs in other ways, even with the family's classes: in gte-Qwen2's
/// modeling_qwen.Qwen2Model every token sees all others.
bool is_code_of(const FamilyNames& family, std::string_view reference);

/// The problem with the classes that "architectures" or "auto_map" of a config.json name; empty if
/// all are transformers' own. Returns nullopt for other keys.
std::optional<std::string> class_problem(const JsonNode& node, const FamilyNames& family);

}  // namespace attnviz
