#include "attnviz/model/known_keys.h"

#include <string_view>

namespace attnviz {

namespace {

constexpr std::string_view kTraining = "used only in training";
constexpr std::string_view kSaving = "how the file was written";
constexpr std::string_view kRunning = "how another program runs the model";
constexpr std::string_view kGenerating = "how another program generates texts";
constexpr std::string_view kToken = "not needed: the tokenizer adds its own tokens";
constexpr std::string_view kOtherFamily = "a model of this family does not use it";

// Without the architecture prefix.
constexpr IgnorableKey kGgufKeys[] = {
    {"audio.*", kOtherPart},
    {"classifier.output_labels", kOtherTask},
    {"embedding_scale", kNeutral, 1.0},
    {"expert_group_count", kNeutral, 1.0},
    {"expert_group_used_count", kNeutral, 1.0},
    {"expert_used_count", "there are no experts"},
    {"expert_weights_scale", kNeutral, 1.0},
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

// Outside of the architecture's keys; "split." and "tokenizer." are handled elsewhere.
constexpr IgnorableKey kOtherGgufKeys[] = {
    {"general.alignment", kSaving},
    {"general.file_type", kSaving},
    {"general.quantization_version", kSaving},
    {"general.sampling.*", kGenerating},
    {"general.*", "what the file says of itself"},
    {"quantize.*", kSaving},
    {"*", "not of this architecture: llama.cpp does not read it in such files"},
};

// Keys of a config.json, or of the "text_config" in it.
constexpr IgnorableKey kConfigKeys[] = {
    {"_attn_implementation*", kRunning},
    {"_commit_hash", kSaving},
    {"_flash_attn_2_enabled", kRunning},
    {"_name_or_path", kSaving},
    {"_num_labels", kOtherTask},
    {"apply_query_key_layer_scaling", kRunning},
    {"attention_in_multiplier", kNeutral, 1.0},
    {"attention_out_multiplier", kNeutral, 1.0},
    {"attention_softmax_in_fp32", kRunning},
    {"attn_impl", kRunning},
    {"audio_*", kOtherPart},
    {"author", kSaving},
    {"autocast_kernel_dtype", kRunning},
    {"aux_loss_*", kTraining},
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
    {"dropatt", kTraining},
    {"dropout_p", kTraining},
    {"dropout_rate", kTraining},
    {"dtype", "the tensors give it"},
    {"early_stopping", kGenerating},
    {"embedding_multiplier", kNeutral, 1.0},
    {"encoder_no_repeat_ngram_size", kGenerating},
    {"ep_size", kRunning},
    {"exponential_decay_length_penalty", kGenerating},
    {"extra_pos_embeddings", kSaving},
    {"finetuning_task", kOtherTask},
    {"force_bos_token_to_be_generated", kGenerating},
    {"fp16", kRunning},
    {"full_attn_mod", kNeutral, 1.0},
    {"fused_*", kRunning},
    {"gradient_checkpointing*", kTraining},
    {"id2label", kOtherTask},
    {"ignore_index", kTraining},
    {"init_device", kRunning},
    {"init_std", kTraining},
    {"initializer_*", kTraining},
    {"intermediate_size", "the tensors give it"},
    {"interpolate_factor", kNeutral, 1.0},
    {"is_llama_config", kSaving},
    {"key_multiplier", kNeutral, 1.0},
    {"keys_to_ignore_at_inference", kRunning},
    {"label2id", kOtherTask},
    {"language", kSaving},
    {"layer_norm_eps", kNeutral, 1e-12},
    {"layerdrop", kTraining},
    {"length_penalty", kGenerating},
    {"license", kSaving},
    {"lm_head_multiplier", kNeutral, 1.0},
    {"logit_scale", kNeutral, 1.0},
    {"logits_scaling", kNeutral, 1.0},
    {"loss_*", kTraining},
    {"masked_softmax_fusion", kRunning},
    {"max_length", kGenerating},
    {"max_new_tokens", kGenerating},
    {"max_position_embeddings", "the longest text is said elsewhere"},
    {"max_seq_len*", "the longest text is said elsewhere"},
    {"max_sequence_length", "the longest text is said elsewhere"},
    {"max_trained_positions", kTraining},
    {"max_window_layers", kOtherFamily},
    {"min_length", kGenerating},
    {"mlp_type", kNeutral, {}, "default"},
    {"mm_tokens_per_image", kOtherPart},
    {"model_max_length", "the longest text is said elsewhere"},
    {"moe_loss_weight", kTraining},
    {"mtp_*", kMultiToken},
    {"multimodal_projector_bias", kOtherPart},
    {"n_ctx", "the longest text is said elsewhere"},
    {"n_group", kNeutral, 1.0},
    {"n_positions", "the longest text is said elsewhere"},
    {"name", kSaving},
    {"name_or_path", kSaving},
    {"neftune_noise_alpha", kTraining},
    {"no_repeat_ngram_size", kGenerating},
    {"norm_type", kNeutral, {}, "layer_norm"},
    {"normalize_attention_scores", kNeutral, 1.0},
    {"num_beam*", kGenerating},
    {"num_key_value_heads", "the tensors give it"},
    {"num_labels", kOtherTask},
    {"num_logits_to_keep", kRunning},
    {"num_mtp_modules", kMultiToken},
    {"num_nextn_predict_layers", kMultiToken},
    {"num_return_sequences", kGenerating},
    {"num_steps", kTraining},
    {"offset_alibi", kRunning},
    {"original_max_position_embeddings", "nothing is scaled by it"},
    {"output_attentions", kRunning},
    {"output_hidden_states", kRunning},
    {"output_past", kRunning},
    {"output_router_logits", kRunning},
    {"output_scores", kGenerating},
    {"pad_vocab_size_multiple", "the embeddings give it"},
    {"partial_rotary_factor", kNeutral, 1.0},
    {"pooler_*", kOtherTask},
    {"position_embedding_type", kNeutral, {}, "absolute"},
    {"predict_special_tokens", kTraining},
    {"prefix", kGenerating},
    {"pretraining_tp", kRunning},
    {"problem_type", kOtherTask},
    {"projector_hidden_act", kOtherPart},
    {"reference_compile", kRunning},
    {"remove_invalid_values", kGenerating},
    {"reorder_and_upcast_attn", kRunning},
    {"repad_logits_with_grad", kTraining},
    {"repetition_penalty", kGenerating},
    {"residual_multiplier", kNeutral, 1.0},
    {"return_dict*", kRunning},
    {"rope_ratio", kNeutral, 1.0},
    {"rotary", kNeutral, 1.0},
    {"rotary_pct", kNeutral, 1.0},
    {"routed_scaling_factor", kNeutral, 1.0},
    {"router_aux_loss_coef", kTraining},
    {"router_dtype", kRunning},
    {"router_jitter_noise", kTraining},
    {"router_z_loss_coef", kTraining},
    {"sbert_*", kOtherTask},
    {"scalable_attention", "the library of this family does not look at it"},
    {"scale_emb", kNeutral, 1.0},
    {"sentence_transformers", kOtherTask},
    {"seq_aux", kTraining},
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
    {"tie_weights_", kNeutral, 1.0},
    {"tie_word_embeddings", kNeutral, 1.0},
    {"tokenizer_class", kSaving},
    {"top_k", kGenerating},
    {"top_p", kGenerating},
    {"topk_group", kNeutral, 1.0},
    {"torch_dtype", "the tensors give it"},
    {"torchscript", kRunning},
    {"transformers.js_config", kSaving},
    {"transformers_version", kSaving},
    {"transformers_weights", kSaving},
    {"type_vocab_size", "the embeddings give it"},
    {"typical_p", kGenerating},
    {"unsloth_*", kSaving},
    {"use_bfloat16", kRunning},
    {"use_cache", kRunning},
    {"use_flash_attention*", kRunning},
    {"use_flash_attn", kRunning},
    {"use_mamba_kernels", kRunning},
    {"use_return_dict", kRunning},
    {"use_xentropy", kTraining},
    {"vision_*", kOtherPart},
    {"xla_device", kRunning},
    {"z_loss_coefficient", kTraining},
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

// Keys of the objects in it that describe how rotary positions are scaled.
constexpr IgnorableKey kRopeKeys[] = {
    {"attn_factor", kNeutral, 1.0},
    {"extrapolation_factor", kNeutral, 1.0},
    {"finetuned", kTraining},
    {"max_position_embeddings", "the longest text is said elsewhere"},
    {"original_max_position_embeddings", "nothing is scaled by it"},
};

}  // namespace

std::span<const IgnorableKey> gguf_keys() noexcept {
  return kGgufKeys;
}

std::span<const IgnorableKey> other_gguf_keys() noexcept {
  return kOtherGgufKeys;
}

std::span<const IgnorableKey> config_keys() noexcept {
  return kConfigKeys;
}

std::span<const IgnorableKey> rope_keys() noexcept {
  return kRopeKeys;
}

}  // namespace attnviz
