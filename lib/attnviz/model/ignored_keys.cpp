#include "attnviz/model/known_keys.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/model/families/families.h"

namespace attnviz {

namespace {

constexpr std::string_view kUnknownEffect =
    "attnviz does not know what this changes in a model of this family";

// The reason why a key is harmless, or the problem with it; neither for an unknown key.
struct Verdict {
  std::string_view why = {};
  std::string problem = {};
};

// A key that is not a parameter of any model is unknown; a parameter may be 0, false or empty.
Verdict judge_by_value(bool is_parameter, std::optional<double> number) {
  return !is_parameter   ? Verdict{}
         : number == 0.0 ? Verdict{kNeutral}
                         : Verdict{"", std::string(kUnknownEffect)};
}

// A key is known, too, if a row names it with another value.
Verdict judge(std::span<const IgnorableKey> table, std::string_view key, bool is_parameter,
              std::optional<double> number, std::string_view text) {
  if (const std::string_view why = why_ignorable(table, key, number, text); !why.empty()) {
    return {why};
  }
  return names_key(table, key) ? Verdict{"", std::string(kUnknownEffect)}
                               : judge_by_value(is_parameter, number);
}

// Judges flags for the direction of attention, which the family determines.
std::optional<Verdict> judge_direction(std::string_view key, std::optional<double> value,
                                       bool is_causal) {
  const bool is_decoder = key == "is_decoder";  // decoders are causal without it, too
  const bool says_causal = key == "attention.causal" || key == "is_causal" || is_decoder;
  if (!says_causal && key != "use_bidirectional_attention" && key != "bidirectional") {
    return std::nullopt;
  }
  if ((is_decoder && is_causal) || value == (says_causal == is_causal ? 1.0 : 0.0)) {
    return Verdict{"it is what this family does"};
  }
  return Verdict{"", is_causal ? "a model of this family is read from left to right"
                               : "in a model of this family all tokens see one another"};
}

// Judges sizes that the tensors determine, too.
std::optional<Verdict> judge_size(std::string_view key, std::optional<double> value,
                                  const Model& model) {
  struct Size {
    std::string_view key;
    std::size_t size;
    std::string_view why;
  };
  constexpr std::string_view kEmbeddings = "the embeddings give it";
  constexpr std::string_view kLayers = "the layers' tensors give it";
  const LayerWeights& layer = model.first_attention();
  const Size sizes[] = {
      {"vocab_size", model.embeddings.rows, kEmbeddings},
      {"emb_size", model.config.d_model, kEmbeddings},
      {"embedding_size", model.config.d_model, kEmbeddings},
      {"hidden_size", model.config.d_model, kEmbeddings},
      {"d_model", model.config.d_model, kEmbeddings},
      {"n_embd", model.config.d_model, kEmbeddings},
      {"num_attention_heads", layer.heads.size(), kLayers},
      {"n_head", layer.heads.size(), kLayers},
      {"num_heads", layer.heads.size(), kLayers},
      {"num_hidden_layers", model.n_layers(), kLayers},
      {"n_layer", model.n_layers(), kLayers},
      {"n_layers", model.n_layers(), kLayers},
      {"num_layers", model.n_layers(), kLayers},
      {"attention.head_dim", layer.heads.front().query.d_out(), "the shapes of the heads give it"},
  };
  const auto* const found = std::ranges::find(sizes, key, &Size::key);
  if (found == std::end(sizes)) {
    return std::nullopt;
  }
  return value == static_cast<double>(found->size)
             ? Verdict{found->why}
             : Verdict{"", "contradicts the shapes of the tensors"};
}

// Judges keys whose value the tensors or the family determine.
std::optional<Verdict> judge_decided(std::string_view key, std::optional<double> number,
                                     const Model& model) {
  const auto size = judge_size(key, number, model);
  return size ? size : judge_direction(key, number, !model.config.mask.looks_ahead());
}

std::optional<double> plain_number(const JsonNode& node) {
  return node.kind() == JsonKind::kBool     ? std::optional(node.as_bool() ? 1.0 : 0.0)
         : node.kind() == JsonKind::kNumber ? std::optional<double>(node.as_number())
                                            : std::nullopt;
}

bool is_of_rope(const JsonNode& node) {
  const std::string path = node.path();
  return path.find("rope_scaling.") != std::string::npos ||
         path.find("rope_parameters.") != std::string::npos;
}

// Families read only one of these names.
bool is_said_twice(const JsonNode& node, const JsonNode& config) {
  constexpr std::string_view kNames[] = {"activation", "activation_function", "hidden_act",
                                         "hidden_activation"};
  const auto is_same = [&](std::string_view name) {
    const std::optional<JsonNode> other = config.find(name);
    return name != node.key() && other && value_text(*other) == value_text(node);
  };
  return std::ranges::find(kNames, node.key()) != std::end(kNames) &&
         std::ranges::any_of(kNames, is_same);
}

// The class names for a node: inside a text config, those of the family in its model_type (Mistral
// in Mistral 3).
FamilyNames names_at(const JsonNode& node, const JsonNode& config, FamilyNames family) {
  const auto text = config.find("text_config");
  const auto type =
      text && text->kind() == JsonKind::kObject ? text->find("model_type") : std::nullopt;
  if (type && node.path().starts_with("text_config.")) {
    const auto found = std::ranges::find(families(), type->as_string(), &Family::model_type);
    if (found != families().end()) {
      family.class_name = found->class_name;
      family.model_type = found->model_type;
    }
  }
  return family;
}

Verdict judge(const JsonNode& node, const JsonNode& config, const FamilyNames& family,
              const Model& model) {
  if (const auto problem = class_problem(node, names_at(node, config, family))) {
    return problem->empty() ? Verdict{"model_type gives the same information"}
                            : Verdict{"", *problem};
  }
  if (node.key() == "layer_types" &&
      all_are(node, [](std::string_view one) { return one == "full_attention"; })) {
    return {kNeutral};
  }
  if (is_said_twice(node, config)) {
    return {"another key says the same"};
  }
  const std::string_view key = node.key();
  const std::optional<double> number = plain_number(node);
  const std::string_view text =
      node.kind() == JsonKind::kString ? node.as_string() : std::string_view();
  if (is_of_rope(node)) {
    return judge(rope_keys(), key, is_rope_parameter(key), number, text);
  }
  const auto decided = judge_decided(key, number, model);
  return decided ? *decided : judge(config_keys(), key, is_config_parameter(key), number, text);
}

Verdict judge_own(std::string_view key, const GgufValue& value, const Model& model) {
  const std::optional<double> number = is_nothing(value) ? 0.0 : plain_number(value);
  const auto decided = judge_decided(key, number, model);
  return decided ? *decided : judge(gguf_keys(), key, is_llama_cpp_key(key), number, {});
}

// Records harmless and unknown keys, and collects the problems of the others.
class Judgement {
 public:
  explicit Judgement(ModelConfig& config) : config_(config) {}

  void add(std::string_view key, std::string_view value, const Verdict& verdict) {
    if (!verdict.why.empty()) {
      config_.ignored_keys.push_back({std::string(key), verdict.why});
      return;
    }
    if (verdict.problem.empty()) {
      config_.unknown_keys.emplace_back(key);
      return;
    }
    const std::string named = fmt::format("{} {}", shown_name(key), value);
    if (const auto known = std::ranges::find(problems_, verdict.problem, &Problem::said);
        known == problems_.end()) {
      problems_.push_back({verdict.problem, {named}});
    } else {
      known->keys.push_back(named);
    }
  }

  /// Reports all problems at once, so that the user can fix them together.
  void finish(std::string_view where, std::string_view advice) const {
    constexpr std::size_t kMost = 8;
    std::string message;
    for (Problem problem : problems_) {
      const std::size_t n_more = problem.keys.size() - std::min(problem.keys.size(), kMost);
      problem.keys.resize(problem.keys.size() - n_more);
      message +=
          fmt::format("{}{}{}: {}", message.empty() ? "" : "; ", joined_by(problem.keys, ", "),
                      n_more > 0 ? fmt::format(" and {} more", n_more) : "", problem.said);
    }
    if (!message.empty()) {
      throw Error(ErrorKind::kUnsupported, fmt::format("{}: {}{}", where, message, advice));
    }
  }

 private:
  struct Problem {
    std::string said;
    std::vector<std::string> keys;
  };

  ModelConfig& config_;
  std::vector<Problem> problems_;
};

}  // namespace

void pass_over_keys(const GgufMetadata& metadata, Model& model) {
  Judgement judgement(model.config);
  for (const std::string_view key : metadata.unread_keys()) {
    if (key.starts_with("split.") || key.starts_with("tokenizer.")) {
      continue;
    }
    const GgufValue& value = *metadata.gguf().find(key);
    const auto own = metadata.of_architecture(key);
    const Verdict verdict = own ? judge_own(*own, value, model)
                                : Verdict{why_ignorable(other_gguf_keys(), key, std::nullopt)};
    judgement.add(key, value.text(), verdict);
  }
  judgement.finish(metadata.gguf().file(), "");
}

void pass_over_keys(const HfConfig& source, std::string_view where, const Family& family,
                    Model& model) {
  const FamilyNames names{family.class_name, family.model_type, !model.config.mask.looks_ahead()};
  Judgement judgement(model.config);
  for (const JsonNode& node : source.unread()) {
    judgement.add(node.path(), value_text(node), judge(node, source.node(), names, model));
  }
  judgement.finish(where, " (a key that only notes something may be left out of a copy)");
}

namespace {

// Whether it is a tensor of a layer, of an adapter, or one outside of the layers that llama.cpp
// uses in them: "layers.3.…", "blk.0.…", "rope_freqs.weight".
bool may_change_layers(std::string_view name) {
  constexpr std::string_view kLayers[] = {"blk", "block", "blocks", "h", "layer", "layers"};
  constexpr std::string_view kOutside[] = {
      "output",     "output_norm",     "position_embd", "rope_factors_long", "rope_factors_short",
      "rope_freqs", "token_embd_norm", "token_types"};
  if (name.find("lora_") != std::string_view::npos) {
    return true;
  }
  const std::vector<std::string_view> parts = list_parts(name, '.');
  if (std::ranges::find(kOutside, parts.front()) != std::end(kOutside)) {
    return true;
  }
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (std::ranges::find(kLayers, parts[i]) != std::end(kLayers) && !parts[i + 1].empty() &&
        parts[i + 1].find_first_not_of("0123456789") == std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

void pass_over_tensors(Model& model) {
  for (const StoredWeights::Unused& unused : model.stored.unused_tensors) {
    if (!unused.why.empty()) {
      model.config.ignored_keys.push_back({unused.name, unused.why});
    } else if (may_change_layers(unused.name)) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}: {}: attnviz does not know what this tensor changes in a model "
                              "of this family",
                              unused.file, shown_name(unused.name)));
    } else {
      model.config.unknown_keys.push_back(unused.name);
    }
  }
}

}  // namespace attnviz
