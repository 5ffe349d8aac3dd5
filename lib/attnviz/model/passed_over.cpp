#include "attnviz/model/passed_over.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/harmless_key.h"
#include "attnviz/model/family_classes.h"

namespace attnviz {

namespace {

constexpr std::string_view kTraining = "how the model was trained";
constexpr std::string_view kSaving = "how the file was written";
constexpr std::string_view kRunning = "how another program runs the model";
constexpr std::string_view kGenerating = "how another program generates texts";
constexpr std::string_view kToken = "the id of a token";
constexpr std::string_view kOtherFamily = "a model of this family does not use it";

// Behind the architecture's name.
constexpr HarmlessKey kGgufKeys[] = {
    {"attention.clamp_kqv", kNeutral, 0.0},
    {"attention.max_alibi_bias", kNeutral, 0.0},
    {"attention.scale", kNeutral, 0.0},
    {"attention.sliding_window", kNeutral, 0.0},
    {"attn_logit_softcapping", kNeutral, 0.0},
    {"audio.*", kOtherPart},
    {"classifier.output_labels", kOtherTask},
    {"embedding_scale", kNeutral, 1.0},
    {"expert_count", kNeutral, 0.0},
    {"expert_used_count", "there are no experts"},
    {"final_logit_softcapping", kNeutral, 0.0},
    {"logit_scale", kNeutral, 1.0},
    {"mm.*", kOtherPart},
    {"pooling_type", "what is done with the last layer's output"},
    {"residual_scale", kNeutral, 1.0},
    {"rope.scaling.attn_factor", kNeutral, 1.0},
    {"rope.scaling.finetuned", kTraining},
    {"rope.scaling.original_context_length", "nothing is scaled by it"},
    {"rope.scaling.yarn_ext_factor", kNeutral, 1.0},
    {"tensor_data_layout", kSaving},
    {"vision.*", kOtherPart},
};

// Outside of the architecture's own; others read "split." and "tokenizer.".
constexpr HarmlessKey kOtherGgufKeys[] = {
    {"general.alignment", kSaving},
    {"general.file_type", kSaving},
    {"general.quantization_version", kSaving},
    {"general.sampling.*", kGenerating},
    {"general.*", "what the file says of itself"},
    {"quantize.*", kSaving},
    {"*", "not of this architecture: llama.cpp does not read it in such files"},
};

// Of a config.json, or of the text's in it.
constexpr HarmlessKey kConfigKeys[] = {
    {"_attn_implementation*", kRunning},
    {"_commit_hash", kSaving},
    {"_flash_attn_2_enabled", kRunning},
    {"_name_or_path", kSaving},
    {"_num_labels", kOtherTask},
    {"add_cross_attention", kNeutral, 0.0},
    {"apply_query_key_layer_scaling", kRunning},
    {"attention_bias", kNeutral, 0.0},
    {"attention_softmax_in_fp32", kRunning},
    {"audio_*", kOtherPart},
    {"author", kSaving},
    {"bad_words_ids", kGenerating},
    {"bf16", kRunning},
    {"bias_dropout_fusion", kRunning},
    {"chunk_size_feed_forward", kRunning},
    {"classifier_pooling", kOtherTask},
    {"created_date", kSaving},
    {"custom_pipelines", kRunning},
    {"dense_seq_output", kRunning},
    {"deterministic_flash_attn", kRunning},
    {"directionality", kNeutral, {}, "bidi"},
    {"diversity_penalty", kGenerating},
    {"do_sample", kGenerating},
    {"dtype", "the tensors say it"},
    {"dropout_rate", kTraining},
    {"early_stopping", kGenerating},
    {"embedding_multiplier", kNeutral, 1.0},
    {"encoder_no_repeat_ngram_size", kGenerating},
    {"extra_pos_embeddings", kSaving},
    {"finetuning_task", kOtherTask},
    {"force_bos_token_to_be_generated", kGenerating},
    {"fp16", kRunning},
    {"full_attn_mod", kNeutral, 1.0},
    {"fused_*", kRunning},
    {"gradient_checkpointing*", kTraining},
    {"id2label", kOtherTask},
    {"ignore_index", kTraining},
    {"init_std", kTraining},
    {"initializer_*", kTraining},
    {"interpolate_factor", kNeutral, 1.0},
    {"is_encoder_decoder", kNeutral, 0.0},
    {"is_llama_config", kSaving},
    {"keys_to_ignore_at_inference", kRunning},
    {"label2id", kOtherTask},
    {"language", kSaving},
    {"layer_norm_eps", kNeutral, 1e-12},
    {"layerdrop", kTraining},
    {"length_penalty", kGenerating},
    {"license", kSaving},
    {"lm_head_bias", kNeutral, 0.0},
    {"logit_scale", kNeutral, 1.0},
    {"logits_scaling", kNeutral, 1.0},
    {"loss_*", kTraining},
    {"masked_softmax_fusion", kRunning},
    {"max_length", kGenerating},
    {"max_new_tokens", kGenerating},
    {"max_seq_len*", "the longest text is said elsewhere"},
    {"max_sequence_length", "the longest text is said elsewhere"},
    {"max_trained_positions", kTraining},
    {"max_window_layers", kOtherFamily},
    {"min_length", kGenerating},
    {"mlp_bias", kNeutral, 0.0},
    {"mlp_type", kNeutral, {}, "default"},
    {"mm_tokens_per_image", kOtherPart},
    {"model_max_length", "the longest text is said elsewhere"},
    {"multimodal_projector_bias", kOtherPart},
    {"n_ctx", "the longest text is said elsewhere"},
    {"n_special", kNeutral, 0.0},
    {"name", kSaving},
    {"name_or_path", kSaving},
    {"neftune_noise_alpha", kTraining},
    {"no_repeat_ngram_size", kGenerating},
    {"norm_type", kNeutral, {}, "layer_norm"},
    {"normalize_attention_scores", kNeutral, 1.0},
    {"num_beam*", kGenerating},
    {"num_experts", kNeutral, 0.0},
    {"num_labels", kOtherTask},
    {"num_local_experts", kNeutral, 0.0},
    {"num_logits_to_keep", kRunning},
    {"num_return_sequences", kGenerating},
    {"num_steps", kTraining},
    {"offset_alibi", kRunning},
    {"original_max_position_embeddings", "nothing is scaled by it"},
    {"output_attentions", kRunning},
    {"output_hidden_states", kRunning},
    {"output_past", kRunning},
    {"output_router_logits", kRunning},
    {"output_scores", kGenerating},
    {"pad_vocab_size_multiple", "the embeddings say it"},
    {"partial_rotary_factor", kNeutral, 1.0},
    {"pooler_*", kOtherTask},
    {"predict_special_tokens", kTraining},
    {"prefix", kGenerating},
    {"pretraining_tp", kRunning},
    {"problem_type", kOtherTask},
    {"projector_hidden_act", kOtherPart},
    {"qk_layernorm", kNeutral, 0.0},
    {"reference_compile", kRunning},
    {"remove_invalid_values", kGenerating},
    {"reorder_and_upcast_attn", kRunning},
    {"repad_logits_with_grad", kTraining},
    {"repetition_penalty", kGenerating},
    {"residual_multiplier", kNeutral, 1.0},
    {"return_dict*", kRunning},
    {"rope_interleaved", kNeutral, 0.0},
    {"rotary", kNeutral, 1.0},
    {"router_aux_loss_coef", kTraining},
    {"router_jitter_noise", kTraining},
    {"sbert_*", kOtherTask},
    {"scale_attn_by_inverse_layer_idx", kNeutral, 0.0},
    {"sentence_transformers", kOtherTask},
    {"scalable_attention", "the library of this family does not look at it"},
    {"seq_length", "the longest text is said elsewhere"},
    {"sinusoidal_pos_embds", "the positions are read, or made as this family makes them"},
    {"skip_bias_add*", kRunning},
    {"slow_but_exact", kRunning},
    {"sparse_pred*", kTraining},
    {"spatial_merge_size", kOtherPart},
    {"summary_*", kOtherTask},
    {"task_specific_params", kOtherTask},
    {"temperature", kGenerating},
    {"tf_legacy_loss", kRunning},
    {"tie_encoder_decoder", kNeutral, 0.0},
    {"tie_weights_", kNeutral, 1.0},
    {"tie_word_embeddings", kNeutral, 1.0},
    {"tokenizer_class", kSaving},
    {"top_k", kGenerating},
    {"top_p", kGenerating},
    {"torch_dtype", "the tensors say it"},
    {"torchscript", kRunning},
    {"transformers.js_config", kSaving},
    {"transformers_version", kSaving},
    {"transformers_weights", kSaving},
    {"typical_p", kGenerating},
    {"unsloth_*", kSaving},
    {"use_bfloat16", kRunning},
    {"use_cache", kRunning},
    {"use_flash_attention*", kRunning},
    {"use_flash_attn", kRunning},
    {"use_mrope", kNeutral, 0.0},
    {"use_qk_norm", kNeutral, 0.0},
    {"use_return_dict", kRunning},
    {"use_sliding_window", kNeutral, 0.0},
    {"use_xentropy", kTraining},
    {"vision_*", kOtherPart},
    {"xla_device", kRunning},
    {"*_implementation", kRunning},
    {"*_pdrop", kTraining},
    {"*_token_id", kToken},
    {"*_token_ids", kToken},
    {"*_token_index", kToken},
    {"*_layerdrop", kTraining},
    {"*dropout", kTraining},
    {"*dropout_prob", kTraining},
    {"*suppress_tokens", kGenerating},
};

// Of what scales rotary positions in it.
constexpr HarmlessKey kRopeKeys[] = {
    {"attn_factor", kNeutral, 1.0},
    {"extrapolation_factor", kNeutral, 1.0},
    {"finetuned", kTraining},
    {"original_max_position_embeddings", "nothing is scaled by it"},
};

// Why a key is harmless, or else what is said of it.
struct Verdict {
  std::string_view why;
  std::string problem = "attnviz does not know what this changes in a model of this family";
};

// Of flags that say who sees whom, which a family decides.
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

// Of sizes that the tensors say, too.
std::optional<Verdict> judge_size(std::string_view key, std::optional<double> value,
                                  const Model& model) {
  struct Size {
    std::string_view key;
    std::size_t size;
    std::string_view why;
  };
  const Size sizes[] = {
      {"vocab_size", model.embeddings.rows, "the embeddings say it"},
      {"emb_size", model.config.d_model, "the embeddings say it"},
      {"attention.head_dim", model.first_attention().heads.front().query.d_out(),
       "the shapes of the heads say it"},
  };
  const auto* const found = std::ranges::find(sizes, key, &Size::key);
  if (found == std::end(sizes)) {
    return std::nullopt;
  }
  return value == static_cast<double>(found->size)
             ? Verdict{found->why}
             : Verdict{"", "contradicts the shapes of the tensors"};
}

Verdict judge(std::span<const HarmlessKey> table, std::string_view key,
              std::optional<double> number, std::string_view text, const Model& model) {
  if (const auto size = judge_size(key, number, model)) {
    return *size;
  }
  const auto direction = judge_direction(key, number, !model.config.mask.looks_ahead());
  return direction ? *direction : Verdict{why_harmless(table, key, number, text)};
}

std::optional<double> plain_number(const JsonNode& node) {
  return node.kind() == JsonKind::kBool     ? std::optional(node.as_bool() ? 1.0 : 0.0)
         : node.kind() == JsonKind::kNumber ? std::optional<double>(node.as_number())
                                            : std::nullopt;
}

// Also of a text that stands in place of a list of one.
bool all_are(const JsonNode& list, const std::function<bool(std::string_view)>& is_so) {
  if (list.kind() == JsonKind::kString) {
    return is_so(list.as_string());
  }
  return list.kind() == JsonKind::kList &&
         std::ranges::all_of(list.as_list("a list of names"), [&](const JsonNode& one) {
           return one.kind() == JsonKind::kString && is_so(one.as_string());
         });
}

std::optional<Verdict> judge_classes(const JsonNode& node, const FamilyNames& family) {
  if (node.key() == "architectures") {
    return all_are(node, [&](std::string_view name) { return is_class_of(family, name); })
               ? Verdict{"model_type says it"}
               : Verdict{"", fmt::format("expected {}Model or another class that transformers has "
                                         "for this family: others may run it in another way",
                                         family.class_name)};
  }
  if (node.key() == "auto_map" && node.kind() == JsonKind::kObject) {
    for (const JsonNode& one : node.as_object()) {
      const bool is_model = one.key().starts_with("AutoModel");
      const std::string_view code =
          one.kind() == JsonKind::kString ? one.as_string() : std::string_view();
      if (is_model && !is_code_of(family, code)) {
        return Verdict{"", fmt::format("code beside a model is not run, and {} is not what "
                                       "transformers has for this family",
                                       value_text(one))};
      }
    }
    return Verdict{"code beside a model is not run: it is read as its family says"};
  }
  return std::nullopt;
}

bool is_of_rope(const JsonNode& node) {
  const std::string path = node.path();
  return path.find("rope_scaling.") != std::string::npos ||
         path.find("rope_parameters.") != std::string::npos;
}

Verdict judge(const JsonNode& node, const FamilyNames& family, const Model& model) {
  if (const auto classes = judge_classes(node, family)) {
    return *classes;
  }
  if (node.key() == "layer_types" &&
      all_are(node, [](std::string_view one) { return one == "full_attention"; })) {
    return {kNeutral};
  }
  const std::string_view text =
      node.kind() == JsonKind::kString ? node.as_string() : std::string_view();
  return is_of_rope(node) ? Verdict{why_harmless(kRopeKeys, node.key(), plain_number(node), text)}
                          : judge(kConfigKeys, node.key(), plain_number(node), text, model);
}

// Keeps what is harmless; of the rest, what is to be said.
class Judgement {
 public:
  explicit Judgement(ModelConfig& config) : config_(config) {}

  void add(std::string_view key, std::string_view value, const Verdict& verdict) {
    if (!verdict.why.empty()) {
      config_.passed_over.push_back({std::string(key), verdict.why});
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

  /// All of them at once, or who mends one meets the next.
  void finish(std::string_view where, std::string_view advice) const {
    constexpr std::size_t kMost = 8;
    std::string message;
    for (Problem problem : problems_) {
      const std::size_t n_more = problem.keys.size() - std::min(problem.keys.size(), kMost);
      problem.keys.resize(problem.keys.size() - n_more);
      message +=
          fmt::format("{}{}{}: {}", message.empty() ? "" : "; ", fmt::join(problem.keys, ", "),
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
    const Verdict verdict = own ? judge(kGgufKeys, *own, plain_number(value), {}, model)
                                : Verdict{why_harmless(kOtherGgufKeys, key, std::nullopt)};
    judgement.add(key, value.text(), verdict);
  }
  judgement.finish(metadata.gguf().file(), "");
}

void pass_over_keys(const HfConfig& source, std::string_view where, const Family& family,
                    Model& model) {
  const FamilyNames names{family.class_name, family.model_type, !model.config.mask.looks_ahead()};
  Judgement judgement(model.config);
  for (const JsonNode& node : source.unread()) {
    judgement.add(node.path(), value_text(node), judge(node, names, model));
  }
  judgement.finish(where, " (a key that only notes something may be left out of a copy)");
}

void pass_over_tensors(Model& model) {
  for (const StoredWeights::Unused& unused : model.stored.unused_tensors) {
    if (unused.why.empty()) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}: {}: attnviz does not know what this tensor changes in a model "
                              "of this family",
                              unused.file, shown_name(unused.name)));
    }
    model.config.passed_over.push_back({unused.name, unused.why});
  }
}

}  // namespace attnviz
