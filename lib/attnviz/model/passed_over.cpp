#include "attnviz/model/passed_over.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/harmless_key.h"

namespace attnviz {

namespace {

constexpr std::string_view kTraining = "how the model was trained";
constexpr std::string_view kSaving = "how the file was written";
constexpr std::string_view kRunning = "how another program runs the model";
constexpr std::string_view kGenerating = "how another program generates texts";
constexpr std::string_view kToken = "the id of a token";
constexpr std::string_view kOtherTask = "of a head for another task";
constexpr std::string_view kOtherFamily = "a model of this family does not use it";

// Behind the architecture's name.
constexpr HarmlessKey kGgufKeys[] = {
    {"attention.clamp_kqv", kNeutral, 0.0},
    {"attention.head_dim", "attention.key_length says it, or the shares of the heads"},
    {"attention.max_alibi_bias", kNeutral, 0.0},
    {"attention.scale", kNeutral, 0.0},
    {"attention.sliding_window", kNeutral, 0.0},
    {"attn_logit_softcapping", kNeutral, 0.0},
    {"audio.*", kOtherPart},
    {"classifier.output_labels", kOtherTask},
    {"context_length", "the position embeddings say it"},
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
    {"tensor_data_layout", kSaving},
    {"vision.*", kOtherPart},
    {"vocab_size", "the embeddings say it"},
};

// Outside of the architecture's own; others read "general.", "split." and "tokenizer.".
constexpr HarmlessKey kOtherGgufKeys[] = {
    {"quantize.*", kSaving},
    {"*", "not of this architecture: llama.cpp does not read it in such files"},
};

// Of a config.json, at any depth.
constexpr HarmlessKey kConfigKeys[] = {
    {"_attn_implementation*", kRunning},
    {"_commit_hash", kSaving},
    {"_flash_attn_2_enabled", kRunning},
    {"_name_or_path", kSaving},
    {"_num_labels", kOtherTask},
    {"add_cross_attention", kNeutral, 0.0},
    {"apply_query_key_layer_scaling", kRunning},
    {"architectures", "model_type says it"},
    {"attention_bias", kNeutral, 0.0},
    {"attention_softmax_in_fp32", kRunning},
    {"audio_config", kOtherPart},
    {"author", kSaving},
    {"auto_map", "code beside a model is not run: it is read as its family says"},
    {"bad_words_ids", kGenerating},
    {"bf16", kRunning},
    {"chunk_size_feed_forward", kRunning},
    {"created_date", kSaving},
    {"custom_pipelines", kRunning},
    {"directionality", kNeutral, {}, "bidi"},
    {"diversity_penalty", kGenerating},
    {"do_sample", kGenerating},
    {"dtype", "the tensors say it"},
    {"dual_chunk_attention_config", kRunning},
    {"early_stopping", kGenerating},
    {"emb_size", "the embeddings say it"},
    {"embedding_multiplier", kNeutral, 1.0},
    {"encoder_no_repeat_ngram_size", kGenerating},
    {"finetuned", kTraining},
    {"finetuning_task", kOtherTask},
    {"fp16", kRunning},
    {"full_attn_mod", kNeutral, 1.0},
    {"gradient_checkpointing*", kTraining},
    {"id2label", kOtherTask},
    {"ignore_index", kTraining},
    {"initializer_*", kTraining},
    {"interpolate_factor", kNeutral, 1.0},
    {"is_encoder_decoder", kNeutral, 0.0},
    {"is_llama_config", kSaving},
    {"keys_to_ignore_at_inference", kRunning},
    {"label2id", kOtherTask},
    {"language", kSaving},
    {"layer_norm_eps", kNeutral, 1e-12},
    {"length_penalty", kGenerating},
    {"license", kSaving},
    {"lm_head_bias", kNeutral, 0.0},
    {"logit_scale", kNeutral, 1.0},
    {"logits_scaling", kNeutral, 1.0},
    {"loss_*", kTraining},
    {"max_length", kGenerating},
    {"max_new_tokens", kGenerating},
    {"max_seq_len*", "the longest text is said elsewhere"},
    {"max_sequence_length", "the longest text is said elsewhere"},
    {"max_window_layers", kOtherFamily},
    {"min_length", kGenerating},
    {"mlp_bias", kNeutral, 0.0},
    {"mm_tokens_per_image", kOtherPart},
    {"model_max_length", "the longest text is said elsewhere"},
    {"n_ctx", "the longest text is said elsewhere"},
    {"n_special", kNeutral, 0.0},
    {"name", kSaving},
    {"name_or_path", kSaving},
    {"neftune_noise_alpha", kTraining},
    {"no_repeat_ngram_size", kGenerating},
    {"normalize_attention_scores", kNeutral, 1.0},
    {"num_beam*", kGenerating},
    {"num_experts", kNeutral, 0.0},
    {"num_labels", kOtherTask},
    {"num_local_experts", kNeutral, 0.0},
    {"num_logits_to_keep", kRunning},
    {"num_return_sequences", kGenerating},
    {"num_steps", kTraining},
    {"original_max_position_embeddings", "nothing is scaled by it"},
    {"output_attentions", kRunning},
    {"output_hidden_states", kRunning},
    {"output_past", kRunning},
    {"output_scores", kGenerating},
    {"partial_rotary_factor", kNeutral, 1.0},
    {"pooler_*", kOtherTask},
    {"predict_special_tokens", kTraining},
    {"prefix", kGenerating},
    {"pretraining_tp", kRunning},
    {"problem_type", kOtherTask},
    {"qk_layernorm", kNeutral, 0.0},
    {"remove_invalid_values", kGenerating},
    {"reorder_and_upcast_attn", kRunning},
    {"repetition_penalty", kGenerating},
    {"residual_multiplier", kNeutral, 1.0},
    {"return_dict*", kRunning},
    {"rope_interleaved", kNeutral, 0.0},
    {"sbert_*", kOtherTask},
    {"scale_attn_by_inverse_layer_idx", kNeutral, 0.0},
    {"sentence_transformers", kOtherTask},
    {"seq_length", "the longest text is said elsewhere"},
    {"sinusoidal_pos_embds", "the positions are read, or made as this family makes them"},
    {"sliding_window_size", "the window is said elsewhere", 4096.0},
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
    {"use_mrope", kNeutral, 0.0},
    {"use_qk_norm", kNeutral, 0.0},
    {"use_return_dict", kRunning},
    {"use_sliding_window", kNeutral, 0.0},
    {"vision_*", kOtherPart},
    {"xla_device", kRunning},
    {"*_implementation", kRunning},
    {"*_pdrop", kTraining},
    {"*_token_id", kToken},
    {"*_token_ids", kToken},
    {"*_token_index", kToken},
    {"*dropout", kTraining},
    {"*dropout_prob", kTraining},
    {"*suppress_tokens", kGenerating},
};

// Why a key is harmless, or else what is said of it.
struct Verdict {
  std::string_view why;
  std::string_view problem = "attnviz does not know what this changes in a model of this family";
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

Verdict judge(std::span<const HarmlessKey> table, std::string_view key,
              std::optional<double> number, std::string_view text, bool is_causal) {
  const auto direction = judge_direction(key, number, is_causal);
  return direction ? *direction : Verdict{why_harmless(table, key, number, text)};
}

std::optional<double> plain_number(const JsonNode& node) {
  return node.kind() == JsonKind::kBool     ? std::optional(node.as_bool() ? 1.0 : 0.0)
         : node.kind() == JsonKind::kNumber ? std::optional<double>(node.as_number())
                                            : std::nullopt;
}

Verdict judge(const JsonNode& node, bool is_causal) {
  if (node.key() == "layer_types" && node.kind() == JsonKind::kList &&
      std::ranges::all_of(node.as_list("a list of layer types"), [](const JsonNode& one) {
        return one.as_string() == "full_attention";
      })) {
    return {kNeutral};
  }
  const std::string_view text =
      node.kind() == JsonKind::kString ? node.as_string() : std::string_view();
  return judge(kConfigKeys, node.key(), plain_number(node), text, is_causal);
}

// What a tensor's name holds anywhere; a dot in front also stands for the name's beginning.
struct HarmlessTensor {
  std::string_view part;
  std::string_view why;
  bool is_end = false;  // the part is the last one of the name
};

constexpr std::string_view kBuffer = "no weight: made anew from the config";
constexpr std::string_view kTied = "the embeddings stand in its place";
constexpr std::string_view kTiedBias = "the bias beside the decoder stands in its place";

constexpr HarmlessTensor kTensors[] = {
    {".attn.bias", kBuffer, true},
    {".attn.masked_bias", kBuffer, true},
    {".attention.bias", kBuffer, true},
    {".attention.masked_bias", kBuffer, true},
    {".rotary_emb.", kBuffer},
    {".position_ids", kBuffer, true},
    {".token_type_ids", kBuffer, true},
    {".lm_head.weight", kTied, true},
    {".lm_head.decoder.bias", kTiedBias, true},
    {".predictions.decoder.bias", kTiedBias, true},
    {".lm_head.decoder.", kTied},
    {".predictions.decoder.", kTied},
    {".embed_out.weight", kTied, true},
    {".vocab_projector.weight", kTied, true},
    {".pooler.", kOtherTask},
    {".seq_relationship.", kOtherTask},
    {".classifier.", kOtherTask},
    {".pre_classifier.", kOtherTask},
    {".score.", kOtherTask},
    {".qa_outputs.", kOtherTask},
    {".cls.output.", kOtherTask},
    {".vision_tower.", kOtherPart},
    {".vision_model.", kOtherPart},
    {".multi_modal_projector.", kOtherPart},
    {".visual.", kOtherPart},
    {".audio_tower.", kOtherPart},
};

// As llama.cpp names parts of pictures and sound; not anywhere in a name.
constexpr std::string_view kGgufParts[] = {"v.", "mm.", "a."};

std::string_view why_harmless(const std::string& name) {
  if (std::ranges::any_of(kGgufParts,
                          [&](std::string_view part) { return name.starts_with(part); })) {
    return kOtherPart;
  }
  const std::string dotted = "." + name;
  const auto* const found = std::ranges::find_if(kTensors, [&](const HarmlessTensor& known) {
    return known.is_end ? dotted.ends_with(known.part)
                        : dotted.find(known.part) != std::string::npos;
  });
  return found == std::end(kTensors) ? std::string_view() : found->why;
}

void pass_over(std::string_view where, std::string_view key, std::string_view value,
               const Verdict& verdict, ModelConfig& config) {
  if (verdict.why.empty()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: {} {}: {}", where, shown_name(key), value, verdict.problem));
  }
  config.passed_over.push_back({std::string(key), verdict.why});
}

}  // namespace

void pass_over_keys(const GgufMetadata& metadata, ModelConfig& config) {
  const std::string prefix = std::string(metadata.text("general.architecture")) + ".";
  const bool is_causal = config.mask.kind != MaskKind::kNone;
  for (const std::string_view key : metadata.unread_keys()) {
    if (key.starts_with("general.") || key.starts_with("split.") || key.starts_with("tokenizer.")) {
      continue;
    }
    const GgufValue& value = *metadata.gguf().find(key);
    const Verdict verdict =
        key.starts_with(prefix)
            ? judge(kGgufKeys, key.substr(prefix.size()), plain_number(value), {}, is_causal)
            : Verdict{why_harmless(kOtherGgufKeys, key, std::nullopt)};
    pass_over(metadata.gguf().file(), key, value.text(), verdict, config);
  }
}

void pass_over_keys(const HfConfig& source, std::string_view where, ModelConfig& config) {
  const bool is_causal = config.mask.kind != MaskKind::kNone;
  for (const JsonNode& node : source.unread()) {
    pass_over(where, node.path(), value_text(node), judge(node, is_causal), config);
  }
}

void pass_over_tensors(const std::vector<std::string>& unread, std::string_view where,
                       ModelConfig& config) {
  for (const std::string& name : unread) {
    const std::string_view why = why_harmless(name);
    if (why.empty()) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}: {}: attnviz does not know what this tensor changes in a model "
                              "of this family",
                              where, shown_name(name)));
    }
    config.passed_over.push_back({name, why});
  }
}

}  // namespace attnviz
