#include "attnviz/model/known_keys.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/gguf/gguf_families.h"
#include "attnviz/model/hf_config.h"

namespace attnviz {

namespace {

// The suffix for the text part of a multimodal model.
constexpr std::string_view kText = "_text";

std::string_view without_text(std::string_view name) {
  return name.ends_with(kText) ? name.substr(0, name.size() - kText.size()) : name;
}

// Lower-case letters and digits: spellings differ in the rest.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char one : name) {
    if ((one >= 'a' && one <= 'z') || (one >= '0' && one <= '9')) {
      letters += one;
    } else if (one >= 'A' && one <= 'Z') {
      letters += static_cast<char>(one - 'A' + 'a');
    }
  }
  return letters;
}

// Names of families, and GGUF names that differ from them, by plain spelling.
std::map<std::string, std::string> all_names() {
  std::map<std::string, std::string> names;
  for (const Family& family : families()) {
    names.emplace(plain(without_text(family.model_type)), without_text(family.model_type));
  }
  for (const GgufArchitecture& architecture : gguf_architectures()) {
    names.emplace(plain(architecture.name), architecture.name);
  }
  return names;
}

// Names with the same beginning, longest match first; at most four.
std::vector<std::string> near_names(std::string_view name) {
  constexpr std::size_t kLeastAlike = 3;
  constexpr std::size_t kMostNear = 4;
  const std::string asked = plain(name);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const auto& [spelling, known] : all_names()) {
    const auto apart = std::ranges::mismatch(asked, spelling);
    const auto alike = static_cast<std::size_t>(apart.in1 - asked.begin());
    if (alike >= kLeastAlike) {
      near.emplace_back(alike, known);
    }
  }
  std::ranges::stable_sort(near, std::greater(), &std::pair<std::size_t, std::string>::first);
  near.resize(std::min(near.size(), kMostNear));
  std::vector<std::string> names;
  names.reserve(near.size());
  for (auto& [alike, one] : near) {
    names.push_back(std::move(one));
  }
  return names;
}

}  // namespace

std::vector<KnownFamily> known_families() {
  std::vector<KnownFamily> all;
  const auto at = [&all](std::string_view name) -> KnownFamily& {
    const auto found = std::ranges::find(all, name, &KnownFamily::name);
    return found != all.end() ? *found : all.emplace_back(KnownFamily{name, false, {}, {}});
  };
  for (const Family& family : families()) {
    KnownFamily& known = at(without_text(family.model_type));
    known.hugging_face = true;
    if (!family.gguf.empty()) {
      known.gguf.push_back(family.gguf);
    }
    known.left_out = known.left_out.empty() ? family.left_out : known.left_out;
  }
  for (const GgufArchitecture& architecture : gguf_architectures()) {
    at(without_text(architecture.family)).gguf.push_back(architecture.name);
  }
  std::ranges::sort(all, {}, &KnownFamily::name);
  return all;
}

bool reads_gguf_architecture(std::string_view name) {
  const auto all = gguf_architectures();
  return std::ranges::find(all, name, &GgufArchitecture::name) != all.end();
}

bool reads_model_type(std::string_view name) {
  const auto all = families();
  return std::ranges::find(all, name, &Family::model_type) != all.end();
}

std::string unknown_family(std::string_view key, std::string_view name) {
  const std::vector<std::string> near = near_names(name);
  return fmt::format("{} {}: not one of the families that are read{}{}", key, in_quotes(name),
                     near.empty() ? "" : "; near it: ", joined_by(near, ", "));
}

bool is_class_of(const FamilyNames& family, std::string_view name) {
  enum class Of { kAll, kCausal, kBothWays };
  struct Task {
    std::string_view name;
    Of of = Of::kAll;
    std::string_view only = {};  // of only this family
  };
  static constexpr Task kTasks[] = {
      {"Model"},
      {"ForQuestionAnswering"},
      {"ForSequenceClassification"},
      {"ForTokenClassification"},
      {"ForCausalLM", Of::kCausal},
      {"LMHeadModel", Of::kCausal, "GPT2"},
      {"DoubleHeadsModel", Of::kCausal, "GPT2"},
      {"ForConditionalGeneration", Of::kCausal, "Bart"},
      {"ForConditionalGeneration", Of::kCausal, "Gemma3"},
      {"ForConditionalGeneration", Of::kCausal, "Gemma3n"},
      {"ForConditionalGeneration", Of::kCausal, "Gemma4"},
      {"ForConditionalGeneration", Of::kCausal, "MBart"},
      {"ForConditionalGeneration", Of::kCausal, "Mistral3"},
      {"ForConditionalGeneration", Of::kCausal, "Qwen2VL"},
      {"ForConditionalGeneration", Of::kCausal, "Qwen2_5_VL"},
      {"ForConditionalGeneration", Of::kCausal, "Qwen3VL"},
      {"ForConditionalGeneration", Of::kCausal, "Qwen3_5"},
      {"ForConditionalGeneration", Of::kCausal, "Qwen3_5Moe"},
      {"ForConditionalGeneration", Of::kCausal, "T5"},
      {"ForConditionalGeneration", Of::kCausal, "MT5"},
      {"ForConditionalGeneration", Of::kCausal, "UMT5"},
      {"WithLMHeadModel", Of::kCausal, "T5"},
      {"MTModel", Of::kCausal, "Marian"},
      {"TextModel", Of::kAll, "Gemma3"},
      {"TextModel", Of::kAll, "Qwen3_5"},
      {"TextModel", Of::kAll, "Qwen3_5Moe"},
      {"TextModel", Of::kAll, "Gemma3n"},
      {"TextModel", Of::kAll, "Gemma4"},
      {"TextModel", Of::kAll, "Qwen2_5_VL"},
      {"TextModel", Of::kAll, "Qwen3VL"},
      {"TextForSequenceClassification", Of::kCausal, "Gemma3"},
      {"ForMaskedLM", Of::kBothWays},
      {"ForMultipleChoice", Of::kBothWays},
      {"ForNextSentencePrediction", Of::kBothWays, "Bert"},
      {"ForPreTraining", Of::kBothWays, "Bert"},
      {"ForPreTraining", Of::kBothWays, "NomicBert"},
  };
  if (family.class_name == "Bert" && name == "HF_ColBERT") {  // plus a layer of its own
    return true;
  }
  name.remove_prefix(name.starts_with("TF") ? 2 : name.starts_with("Flax") ? 4 : 0);
  if (family.class_name == "T5" && name.starts_with("MT5")) {  // the same layers under another name
    name.remove_prefix(1);
  }
  const std::size_t size = family.class_name.size();
  if (ascii_lower(name.substr(0, size)) != ascii_lower(family.class_name)) {  // LLaMAForCausalLM
    return false;
  }
  return std::ranges::any_of(kTasks, [&](const Task& task) {
    return task.name == name.substr(size) &&
           (task.of == Of::kAll || (task.of == Of::kCausal) == family.is_causal) &&
           (task.only.empty() || task.only == family.class_name);
  });
}

bool is_code_of(const FamilyNames& family, std::string_view reference) {
  if (const std::size_t repository = reference.find("--"); repository != std::string_view::npos) {
    reference.remove_prefix(repository + 2);
  }
  if (reference.starts_with("modeling_hf_")) {  // Nomic's name for its file
    reference.remove_prefix(std::string_view("modeling_hf_").size());
  } else if (reference.starts_with("modeling_")) {
    reference.remove_prefix(std::string_view("modeling_").size());
  } else {
    return false;
  }
  // The whole name, or, in DeepSeek's file names, the part before the version.
  for (const std::string_view type :
       {family.model_type, family.model_type.substr(0, family.model_type.find("_v"))}) {
    if (reference.starts_with(fmt::format("{}.", type))) {
      return is_class_of(family, reference.substr(type.size() + 1));
    }
  }
  return false;
}

std::optional<std::string> class_problem(const JsonNode& node, const FamilyNames& family) {
  if (node.key() == "architectures") {
    return all_are(node, [&](std::string_view name) { return is_class_of(family, name); })
               ? ""
               : fmt::format(
                     "expected {}Model or another class that transformers has for this "
                     "family: other classes may compute something else",
                     family.class_name);
  }
  if (node.key() != "auto_map" || node.kind() != JsonKind::kObject) {
    return std::nullopt;
  }
  for (const JsonNode& one : node.as_object()) {
    const bool is_model = one.key().starts_with("AutoModel");
    const std::string_view code =
        one.kind() == JsonKind::kString ? one.as_string() : std::string_view();
    if (is_model && !is_code_of(family, code)) {
      return fmt::format(
          "code published with a model is not run, and {} is not a class that transformers has for "
          "this family",
          value_text(one));
    }
  }
  return "";
}

}  // namespace attnviz
