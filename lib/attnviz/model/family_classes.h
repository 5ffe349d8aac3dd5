// The classes that transformers has for a family of models.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "attnviz/formats/json_tree.h"

namespace attnviz {

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
