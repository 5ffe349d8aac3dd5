// The families of models that are read, whatever their files' form. The classes that transformers
// has for a family of models.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/json_tree.h"

namespace attnviz {

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
