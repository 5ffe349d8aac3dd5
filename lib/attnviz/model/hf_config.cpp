#include "attnviz/model/hf_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/model/known_keys.h"

namespace attnviz {

namespace {

std::size_t checked_size(const JsonNode& node) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
  const std::uint64_t value = node.as_unsigned();
  if (value == 0 || value > kMost) {
    node.fail(fmt::format("expected a whole number from 1 to {}, found {}", kMost, value));
  }
  return static_cast<std::size_t>(value);
}

double checked_positive(const JsonNode& node) {
  const auto value = static_cast<double>(node.as_number());
  if (!(value > 0.0) || !std::isfinite(value)) {
    node.fail(fmt::format("expected a number above 0, found {}", value));
  }
  return value;
}

// The items of a short list of strings; otherwise "a list".
std::string list_text(const JsonNode& node) {
  constexpr std::size_t kMost = 3;
  const std::vector<JsonNode> items = node.as_list("a list");
  std::string text;
  for (const JsonNode& item : items) {
    if (items.size() > kMost || item.kind() != JsonKind::kString) {
      return "a list";
    }
    text += (text.empty() ? "" : ", ") + in_quotes(item.as_string());
  }
  return "[" + text + "]";
}

}  // namespace

std::string value_text(const JsonNode& node) {
  switch (node.kind()) {
    case JsonKind::kBool:
      return node.as_bool() ? "true" : "false";
    case JsonKind::kNumber:
      return fmt::format("{}", node.as_number());
    case JsonKind::kString:
      return in_quotes(node.as_string());
    case JsonKind::kObject:
      return "an object";
    case JsonKind::kNull:
      return "null";
    case JsonKind::kList:
      return list_text(node);
    default:
      return "a list";
  }
}

bool all_are(const JsonNode& list, const std::function<bool(std::string_view)>& is_so) {
  if (list.kind() == JsonKind::kString) {
    return is_so(list.as_string());
  }
  return list.kind() == JsonKind::kList &&
         std::ranges::all_of(list.as_list("a list of names"), [&](const JsonNode& one) {
           return one.kind() == JsonKind::kString && is_so(one.as_string());
         });
}

void require_same(const std::optional<JsonNode>& one, const std::optional<JsonNode>& other) {
  if (!one || !other || value_text(*one) == value_text(*other)) {
    return;
  }
  throw Error(ErrorKind::kUnsupported,
              fmt::format("{}{} contradicts {}, which is {}", one->where(), value_text(*one),
                          other->path(), value_text(*other)));
}

std::optional<JsonNode> HfConfig::find_or_null(std::string_view key) const {
  const std::optional<JsonNode> found = node_.find(key);
  if (found) {
    notes_->asked.insert(found->path());
  }
  return found;
}

std::optional<JsonNode> HfConfig::find(std::string_view key) const {
  const std::optional<JsonNode> found = find_or_null(key);
  return found && found->kind() != JsonKind::kNull ? found : std::nullopt;
}

JsonNode HfConfig::at(std::string_view key) const {
  find_or_null(key);
  return node_.at(key);
}

void HfConfig::add_unread(const JsonNode& object, std::vector<JsonNode>& to) const {
  for (const JsonNode& member : object.as_object()) {
    const std::string path = member.path();
    const bool is_empty = member.kind() == JsonKind::kNull ||
                          (member.kind() == JsonKind::kString && member.as_string().empty()) ||
                          (member.kind() == JsonKind::kNumbers && member.as_numbers().empty()) ||
                          (member.kind() == JsonKind::kObject && member.as_object().empty());
    if (notes_->opened.contains(path)) {
      add_unread(member, to);
    } else if (!notes_->asked.contains(path) && !is_empty) {
      to.push_back(member);
    }
  }
}

std::vector<JsonNode> HfConfig::unread() const {
  std::vector<JsonNode> found;
  add_unread(node_, found);
  return found;
}

std::optional<HfConfig> HfConfig::object(std::string_view key) const {
  const std::optional<JsonNode> found = find(key);
  if (!found) {
    return std::nullopt;
  }
  if (found->kind() != JsonKind::kObject) {
    found->fail("expected an object");
  }
  notes_->opened.insert(found->path());
  return HfConfig(*found, notes_, node_);
}

std::size_t HfConfig::size(std::initializer_list<std::string_view> keys) const {
  std::optional<std::size_t> size;
  for (const std::string_view key : keys) {
    const std::optional<JsonNode> there = find_value(node_, key);
    if (there && checked_size(*there) == size.value_or(checked_size(*there))) {
      size = checked_size(*find(key));
    }
  }
  return size ? *size : checked_size(at(*keys.begin()));
}

std::size_t HfConfig::size_or(std::string_view key, std::size_t otherwise) const {
  return size_if_there(key).value_or(otherwise);
}

std::optional<std::size_t> HfConfig::size_if_there(std::string_view key) const {
  const std::optional<JsonNode> found = find(key);
  return found ? std::optional(checked_size(*found)) : std::nullopt;
}

double HfConfig::positive(std::string_view key) const {
  return checked_positive(at(key));
}

double HfConfig::positive_or(std::string_view key, double otherwise) const {
  const std::optional<JsonNode> found = find(key);
  return found ? checked_positive(*found) : otherwise;
}

namespace {

constexpr std::string_view kOfRope =
    "alpha attention_factor beta_fast beta_slow factor high_freq_factor llama_4_scaling_beta "
    "long_factor long_mscale low_freq_factor mrope_interleaved mrope_section mscale "
    "mscale_all_dim partial_rotary_factor rope_theta rope_type short_factor short_mscale "
    "truncate type";

constexpr std::string_view kNames =
    "_remove_final_layer_norm _sliding_window_pattern activation activation_dropout "
    "activation_function activation_sparsity_pattern adapter_layer_norm adapter_rank "
    "adapter_reduction_factor adapter_reuse_layer_norm adaptive add_bias_linear add_bias_logits "
    "add_cross_attention add_final_layer_norm add_full_attention_sink_bias "
    "add_lm_hidden_dense_layer add_out_norm add_pooling_layer add_router_probs "
    "add_swa_attention_sink_bias add_token_type_embeddings afn alibi alibi_bias_max "
    "alibi_starting_size altup_active_idx altup_coef_clip altup_correct_scale altup_num_inputs "
    "apply_query_key_layer_scaling apply_residual_connection_post_layernorm approx_mode asm "
    "attention_activation attention_bias attention_chunk_size attention_dropout "
    "attention_head_dim attention_head_size attention_heads attention_hidden_size "
    "attention_in_multiplier attention_k_eq_v attention_layers attention_method "
    "attention_multiplier attention_other_setting attention_out_bias attention_out_multiplier "
    "attention_probs_dropout_prob attention_softmax_in_fp32 attention_type attention_types "
    "attention_value_scale attention_window attention_window_size attn_config attn_impl "
    "attn_layer_indices attn_layer_offset attn_layer_period attn_layers attn_logit_softcapping "
    "attn_output_gate attn_pdrop attn_rotary_emb attn_scale attn_temperature_tuning attn_type "
    "attn_type_list attn_uses_sequence_id autocast_kernel_dtype aux_loss_alpha aux_loss_coef "
    "axial_norm_std axial_pos_embds axial_pos_embds_dim axial_pos_shape "
    "batch_prioritized_routing bi_data bias bias_dropout_fusion block_auto_adjust_ff_dim "
    "block_configs block_dim block_ff_dim block_ffn_dim_multiplier block_mlp_init_scale "
    "block_multiple_of block_norm_eps block_out_init_scale block_per_row block_repeats "
    "block_size block_sizes block_types block_use_swiglu boi_token_index bos_index bos_token_id "
    "cache_implementation causal causal_attention causal_mask cca_time0 cca_time1 "
    "channel_shrink_ratio chunk_size chunk_size_feed_forward chunk_size_lm_head "
    "chunkwise_kernel cla_share_factor clamp_len classif_dropout classifier_activation "
    "classifier_bias classifier_dropout classifier_dropout_prob classifier_pooling clip_qkv "
    "cls_token_id compress_rate_csa compress_rate_hca compress_rates compress_ratios "
    "compress_rope_theta compression_config compression_ratio concat_input context_length "
    "conv1d_width conv_L_cache conv_act conv_bias conv_dim conv_dim_out conv_kernel "
    "conv_kernel_size conv_use_xavier_init conv_window cross_attention_hidden_size "
    "cross_attention_layers cross_attn_all_layers cross_attn_k cross_layer_interval cutoffs "
    "d_embed d_ext d_ff d_head d_inner d_kv d_model d_spout decoder decoder_attention_heads "
    "decoder_bias decoder_config decoder_ffn_dim decoder_layerdrop decoder_layers "
    "decoder_sparse_step decoder_start_token_id decoder_vocab_size default_language "
    "dense_act_fn dense_intermediate_size deterministic_flash_attn dff dim dim_ff dim_head "
    "dim_model_base disable_ngram_loss div_val do_blenderbot_90_layernorm do_layer_norm_before "
    "downsampling_rate dropatt dropout dropout_rate dual_chunk_attention_config "
    "ema_projection_size emb_dim emb_layer_norm_before emb_pdrop embd_pdrop embed_dropout "
    "embed_init_std embedding_dropout embedding_fraction embedding_multiplier embedding_size "
    "enable_attention_fp32_softmax enable_bias enable_moe_block enable_pronunciation "
    "enable_shape encoder encoder_attention_heads encoder_attention_type encoder_config "
    "encoder_ffn_dim encoder_hash_byte_group_nb_functions encoder_hash_byte_group_size "
    "encoder_hash_byte_group_vocab encoder_layerdrop encoder_layers encoder_sparse_step "
    "end_n_top entity_emb_size entity_vocab_size eod_token_id eoi_token_index eos_index "
    "eos_token_id ep_size eps esmfold_config expand expansion_ratio expert_capacity "
    "expert_ffn_hidden_size expert_layer_offset expert_layer_period expert_selection_fn "
    "experts_per_token extra_pos_embeddings feed_forward_proj feed_forward_size "
    "feed_forward_type ff_activation ffn_act_fn ffn_config ffn_dim ffn_hidden_size "
    "ffn_proj_factor ffn_round_up_to_multiple_of final_logit_softcapping "
    "final_w_init_variance_scale first_k_dense_replace first_transformer_stride floor_scale "
    "force_bos_token_to_be_generated force_dequant forced_bos_token_id forced_eos_token_id "
    "fp32_residual_connection freq_allocation full_attention_interval full_attn_alpha_factor "
    "full_attn_beta_factor full_attn_idxs gate_soft_cap gating gelu_activation "
    "global_attn_every_n_layers global_block_size global_config global_head_dim "
    "global_rope_theta hash_code_len hash_seed hc_eps hc_mult hc_sinkhorn_iters head_dim "
    "head_ratio hidden_act hidden_activation hidden_dim hidden_dropout hidden_dropout_prob "
    "hidden_mamba_act hidden_size hidden_size_global hidden_size_list "
    "hidden_size_per_layer_input hybrid_layer_ids hybrid_layer_pattern hybrid_override_pattern "
    "index_head_dim index_n_heads index_skip_topk_offset index_topk index_topk_freq "
    "index_topk_pattern indexer_types inference_state_dtype init init_device init_range "
    "init_std initial_context_length initial_prior_diagonal_n_blocks "
    "initial_prior_first_n_blocks initializer_cutoff_factor initializer_factor "
    "initializer_range initializer_std inner_group_num input_embedding_size input_jitter_noise "
    "interleave_moe_layer_step intermediate_groups intermediate_multiple_size intermediate_size "
    "intermediate_size_mlp intra_bottleneck_size inv_coeff_init_option is_causal is_decoder "
    "is_encoder is_encoder_decoder is_folding_model is_gated_act is_gpt_neox is_moe k_groups "
    "keep_window_size key_multiplier key_query_shared_bottleneck kv_channels kv_lora_rank "
    "kv_n_heads lambda_std_dev lang_id langs languages laurel_rank "
    "layer_norm_elementwise_affine layer_norm_eps layer_norm_epsilon layer_switch layer_types "
    "layerdrop layers_block_type learned_pos_emb legacy linear_allow_neg_eigval "
    "linear_attn_alpha_factor linear_attn_beta_factor linear_attn_config linear_conv_kernel_dim "
    "linear_key_head_dim linear_num_key_heads linear_num_value_heads linear_use_gate "
    "linear_value_head_dim llama_4_scaling llama_4_scaling_beta lm_head_bias lm_head_multiplier "
    "ln_before_adapter load_balance_coeff local_attention local_attention_probs_dropout_prob "
    "local_attn_chunk_length local_num_chunks_after local_num_chunks_before local_radius "
    "local_rope_theta local_transformer_stride logit_scale logits_scaling logits_soft_cap "
    "lora_adaptations lora_alpha lora_dropout_p lora_rank lru_width "
    "lsh_attention_probs_dropout_prob lsh_attn_chunk_length lsh_backward lsh_num_chunks_after "
    "lsh_num_chunks_before mamba_chunk_size mamba_conv_bias mamba_d_conv mamba_d_head "
    "mamba_d_ssm mamba_d_state mamba_dt_init_floor mamba_dt_limit mamba_dt_max mamba_dt_min "
    "mamba_dt_rank mamba_expand mamba_head_dim mamba_headdim mamba_hidden_act mamba_n_groups "
    "mamba_n_heads mamba_ngroups mamba_norm_before_gate mamba_num_heads mamba_proj_bias "
    "mamba_rms_norm mamba_ssm_cache_dtype mask_index mask_token_id masked_softmax_fusion "
    "max_2d_position_embeddings max_decoder_position_embeddings max_depth "
    "max_encoder_position_embeddings max_inference_chunksize max_patch_length "
    "max_position_embeddings max_relative_positions max_seq_len max_sequence_length max_vocab "
    "max_window_layers max_xpath_subs_unit_embeddings max_xpath_tag_unit_embeddings mem_len "
    "min_length mixer_rms_eps mla_scale_kv_lora mla_scale_q_lora mla_use_nope mlp_alpha_factor "
    "mlp_beta_factor mlp_bias mlp_dropout mlp_hidden_act mlp_layer_types mlp_multipliers "
    "mlp_only_layers mlstm_round_up_to_multiple_of mm_tokens_per_image model_type "
    "moe_apply_router_weight_on_input moe_capacity moe_drop_tokens "
    "moe_eval_capacity_token_fraction moe_gate moe_gate_act moe_intermediate_size "
    "moe_jitter_eps moe_k moe_latent_size moe_layer_end_index moe_layer_freq moe_layer_interval "
    "moe_layer_start_index moe_layer_types moe_layers moe_layers_enum moe_loss_weight "
    "moe_norm_gate_logits moe_norm_min moe_normalize_expert_weights moe_num_experts "
    "moe_num_shared_experts moe_random_routing_dropped_token moe_renormalize "
    "moe_routed_scaling_factor moe_router_activation moe_router_activation_func "
    "moe_router_logit_softcapping moe_router_scaling_factor moe_shared_expert_intermediate_size "
    "moe_shared_expert_overlap moe_token_dropout moe_top_k moe_topk moe_use_aux_free "
    "mtp_hybrid_override_pattern mtp_layers_block_type mtp_num_hidden_layers "
    "mtp_transformer_layers multi_query multi_query_attention multi_query_group_num "
    "multi_token_pred_lambda mup_enabled n_ctx n_embd n_embed n_group n_groups n_head n_head_kv "
    "n_heads n_inner n_langs n_layer n_layers n_mamba_heads n_positions n_routed_experts "
    "n_shared_experts n_special need_fp32_gate new_decoder_architecture nffn_hidden_size ngram "
    "no_bias no_rope no_rope_layer_interval no_rope_layers norm_affine norm_before_gate "
    "norm_bias norm_eps norm_epsilon norm_reduction_force_float32 norm_rel_ebd norm_topk_prob "
    "norm_type normalization_function normalization_type normalize_before normalize_before_ffn "
    "normalize_before_mega normalize_embedding normalize_router_prob_before_dropping "
    "num_attention_heads num_attention_heads_per_layer num_blocks num_buckets num_codebooks "
    "num_decoder_attention_heads num_decoder_layers num_dense_layers "
    "num_encoder_attention_heads num_encoder_layers num_expert_group num_experts "
    "num_experts_per_tok num_experts_per_token num_ext_layers num_feedforward_networks "
    "num_global_key_value_heads num_global_tokens num_groups num_hash num_hash_buckets "
    "num_hash_functions num_hash_layers num_hashes num_heads num_hidden_groups "
    "num_hidden_layers num_key_value_heads num_kv_heads num_kv_shared_layers num_labels "
    "num_landmarks num_layers num_ln_in_parallel_attn num_local_experts num_logits_to_keep "
    "num_mem_blocks num_mtp_modules num_nextn_predict_layers num_query_groups num_random_blocks "
    "num_shared_expert num_shared_experts num_sparse_decoder_layers num_sparse_encoder_layers "
    "num_switch_layers o_groups o_lora_rank offset_alibi onnx_export "
    "order_of_interleaved_layers org_vocab_size original_max_position_embeddings original_rope "
    "output_embedding_size output_groups output_logit_soft_cap output_router_logits pad_index "
    "pad_token_id parallel_attn partial_rotary_factor patch_in_forward patch_size "
    "patcher_config patching_mode patching_threshold per_head_gate per_layer_config pool_q_only "
    "pooler_dropout pooler_hidden_act pooler_hidden_size pooling_type pos_att_type "
    "position_bias_max_distance position_bias_num_buckets position_biased_input "
    "position_buckets position_embedding_type post_attention_groups post_layer_norm post_norm "
    "pre_lnorm pre_norm prefix_dense_intermediate_size prefix_lm pretraining_tp proj_init_std "
    "proj_share_all_but_first projectors_bias prompt_length prompt_mid_dim prompt_types "
    "pronunciation_embed_dim pronunciation_vocab_size pruned_heads q_groups q_lora_rank "
    "qa_dropout qk_dim_factor qk_head_dim qk_layernorm qk_ln qk_nope_head_dim qk_rope_head_dim "
    "qkv_bias quant_mode quantization query_pre_attn_scalar question_token_id reference_compile "
    "relative_attention relative_attention_max_distance relative_attention_num_buckets "
    "relative_max_distance relative_positional_bias reorder_and_upcast_attn "
    "repad_logits_with_grad rescale_embeddings rescale_every rescale_prenorm_residual "
    "resid_dropout resid_pdrop residual_dropout residual_in_fp32 residual_multiplier "
    "return_last_states reuse_len rms_norm rms_norm_eps rope_interleave rope_interleaved "
    "rope_local_base_freq rope_parameters rope_pct rope_ratio rope_scaling rope_theta rope_type "
    "rotary_dim rotary_emb_base rotary_emb_fraction rotary_emb_interleaved "
    "rotary_emb_scale_base rotary_pct rotary_scaling_factor rotary_value route_norm route_scale "
    "routed_scaling_factor router_aux_loss_coef router_bias router_dtype router_hidden_size "
    "router_ignore_padding_tokens router_jitter_noise router_scaling_factor router_z_loss_coef "
    "same_length sample_softmax scale_attention_softmax_in_fp32 scale_attn_by_inverse_layer_idx "
    "scale_attn_weights scale_decoder_outputs scale_depth scale_emb scale_embedding score_func "
    "scoring_func second_expert_policy segment_means_seq_len segment_types sep_token_id "
    "separate_cls seq_aux seq_classif_dropout seq_length sequence_kernel shape_embed_dim "
    "shape_vocab_size share_att_key share_encoder_decoder_embeddings share_expert_dim "
    "shared_expert_intermediate_size shared_input_output_embedding shared_intermediate_size "
    "shared_representation_size sinusoidal_embeddings sinusoidal_pos_embds skip_bias_add "
    "skip_bias_add_qkv sliding_window sliding_window_pattern slow_but_exact softmax_scale "
    "sparse_attention_config sparse_pred_ignore_index sparse_prediction src_vocab_size "
    "ssm_in_multiplier ssm_multipliers ssm_out_multiplier ssm_state_size stagger_local_blocks "
    "start_n_top state_size static_position_embeddings step_kernel subs_pad_id "
    "summary_activation summary_first_dropout summary_last_dropout summary_proj_to_labels "
    "summary_type summary_use_proj swa_head_dim swa_num_attention_heads swa_num_key_value_heads "
    "swa_rope_theta swa_v_head_dim swiglu_alpha swiglu_limit swiglu_limits swiglu_limits_shared "
    "swin_norm tag_pad_id task_instructions task_type_vocab_size tgt_vocab_size theta "
    "tie_embedding tie_encoder_decoder tie_word_embeddings time_step_floor "
    "time_step_init_scheme time_step_limit time_step_max time_step_min time_step_rank "
    "time_step_scale token_dropout top_k_experts topk_group topk_method tpu_short_seq_length "
    "trigram_input true_hidden_size truncate_seq type_vocab_size unk_index unk_token_id untie_r "
    "upsampling_kernel_size use_alibi use_associative_scan use_bias use_bidirectional_attention "
    "use_bottleneck use_bottleneck_attention use_cache use_chunking use_cla use_conv_bias "
    "use_double_wide_mlp use_dynamic_ntk use_embedding_sharing use_entity_aware_attention "
    "use_expectation use_expert_bias use_fast_hash use_gated_activation use_head_wise_attn_gate "
    "use_lang_emb use_logn_attn use_long_context use_mamba_kernels use_mambapy use_mem_rope "
    "use_mems_eval use_mems_train use_mixed_mlp_moe use_moe use_mrope use_normalized_ffn "
    "use_parallel_block use_parallel_embedding use_parallel_residual use_pos_enc use_prompt "
    "use_qk_norm use_qkv_bias use_rms_norm use_rmsnorm use_rope_layers use_routing_bias "
    "use_shared_attention_adapter use_shared_block_adapter use_shared_mlp_adapter "
    "use_sliding_window use_stable_embedding use_task_id use_tpu_fourier_optimizations "
    "v_dim_factor v_groups v_head_dim verbose vocab_list vocab_size vocab_size_per_layer_input "
    "vocabulary_map vq_config w_init_variance_scale weight_mode window_size word_embed_proj_dim "
    "xpath_unit_hidden_size yarn_only_types z_loss_coefficient zero_centered zero_expert_num "
    "zero_expert_type";

// Precondition: `names` is sorted, as both lists are.
bool is_among(const std::vector<std::string_view>& names, std::string_view name) {
  return std::ranges::binary_search(names, name);
}

}  // namespace

bool is_config_parameter(std::string_view name) {
  static const std::vector<std::string_view> names = words_of(kNames);
  return is_among(names, name);
}

bool is_rope_parameter(std::string_view name) {
  static const std::vector<std::string_view> names = words_of(kOfRope);
  return is_among(names, name);
}

}  // namespace attnviz
