// Keys of model files that change nothing of attention, whatever family the model is of. Names of
// parameters that configs of language models have.
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

/// Of a GGUF file, after the architecture's name.
std::span<const IgnorableKey> gguf_keys() noexcept;
/// Of a GGUF file, whole names.
std::span<const IgnorableKey> other_gguf_keys() noexcept;
/// Of a config.json, or of the text's in it.
std::span<const IgnorableKey> config_keys() noexcept;
/// Of what scales rotary positions in it.
std::span<const IgnorableKey> rope_keys() noexcept;

/// Whether a config class for language models, in transformers or in the code published with models
/// of its families, has a parameter of this name. Such a parameter may change what is computed;
/// other keys of a config.json are notes of its author.
///
/// Source  github.com/huggingface/transformers, src/transformers/models/*/configuration_*.py, of
///         versions 4.0 to 5.3: 137 of these files were compared with the list in 2026, the rest
///         and the code of others only in part. Left out: what only pictures, sound, training and
///         generation have.
bool is_config_parameter(std::string_view name);

/// The same for names in rope_scaling and rope_parameters, modeling_rope_utils.py.
bool is_rope_parameter(std::string_view name);

// Keys of a model's files that were not read: harmless, unknown, or refused. Tensors of a model's
// files that were not read: harmless, unknown, or refused.

/// Records in the model's config the keys that were not read: harmless ones, with the reason, also
/// those of other architectures; and unknown ones, which llama.cpp has no names for. Throws
/// Error{kUnsupported} naming a key that may change what is computed: one that llama.cpp knows and
/// whose value is not 0, false, empty or known to be harmless.
void pass_over_keys(const GgufMetadata& metadata, Model& model);

/// As above, for a config.json, at all depths that were read; is_config_parameter() says which keys
/// are known. Architectures and code of other families are refused. Messages begin with `where`.
void pass_over_keys(const HfConfig& source, std::string_view where, const Family& family,
                    Model& model);

/// Records in the model's config the tensors that change nothing, with the reason, and unknown ones
/// outside of the layers, such as heads for other tasks. Throws Error{kUnsupported} naming an
/// unknown tensor of a layer: it may change what is computed.
void pass_over_tensors(Model& model);

// The families of models that are read, whatever their files' form. The classes that transformers
// has for a family of models.

struct KnownFamily {
  std::string_view name;      // `model_type` of a config.json
  bool hugging_face = false;  // whether its folders are read
  std::vector<std::string_view>
      gguf;                   // `general.architecture` of GGUF files that are; may be empty
  std::string_view left_out;  // parts of such models that are not read; may be empty
};

/// By name.
std::vector<KnownFamily> known_families();

/// Whether models of a `general.architecture` or of a `model_type` are read.
bool reads_gguf_architecture(std::string_view name);
bool reads_model_type(std::string_view name);

/// `model_type "qwen3_moe": not one of the families that are read; near it: qwen3, qwen3_vl`:
/// `key` says what the name stands behind.
std::string unknown_family(std::string_view key, std::string_view name);

/// What a family's classes are called, and where its code lies.
struct FamilyNames {
  std::string_view class_name;
  std::string_view model_type;
  bool is_causal = false;
};

/// One of the classes that transformers has for a family: "LlamaForCausalLM". Other classes run it
/// in other ways: LLM2Vec's LlamaBiModel sees all tokens (BehnamGhader et al. 2024).
bool is_class_of(const FamilyNames& family, std::string_view name);

/// "modeling_phi3.Phi3ForCausalLM", also behind "owner/repository--": transformers' own file,
/// before it was part of it. Under other names lies what runs in other ways, also with the family's
/// classes: gte-Qwen2's modeling_qwen.Qwen2Model sees all tokens.
bool is_code_of(const FamilyNames& family, std::string_view reference);

/// What is wrong with the classes that "architectures" or "auto_map" of a config.json name; empty
/// if all are transformers' own. Nothing for other keys.
std::optional<std::string> class_problem(const JsonNode& node, const FamilyNames& family);

}  // namespace attnviz
