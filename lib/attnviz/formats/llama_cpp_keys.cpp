#include "attnviz/formats/llama_cpp_keys.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "attnviz/core/message.h"

namespace attnviz {

namespace {

// Sorted.
constexpr std::string_view kKeys =
    "attention.causal attention.clamp_kqv attention.compress_ratios "
    "attention.compress_rope_freq_base attention.decay_lora_rank attention.gate_lora_rank "
    "attention.group_norm_epsilon attention.group_norm_groups attention.head_count "
    "attention.head_count_kv attention.iclr_lora_rank attention.indexer.head_count "
    "attention.indexer.key_length attention.indexer.top_k attention.key_length "
    "attention.key_length_mla attention.key_length_swa attention.kv_lora_rank "
    "attention.layer_norm_epsilon attention.layer_norm_rms_epsilon attention.max_alibi_bias "
    "attention.output_group_count attention.output_lora_rank attention.output_scale "
    "attention.q_lora_rank attention.recurrent_layers attention.relative_buckets_count "
    "attention.scale attention.shared_kv_layers attention.sliding_window "
    "attention.sliding_window_pattern attention.temperature_length attention.temperature_scale "
    "attention.value_length attention.value_length_mla attention.value_length_swa "
    "attention.value_residual_mix_lora_rank attention.value_scale attn_logit_softcapping "
    "block_count classifier.output_labels context_length convnext.block_count "
    "convnext.embedding_length decoder_block_count decoder_start_token_id deepstack_mapping "
    "dense_2_feat_in dense_2_feat_out dense_3_feat_in dense_3_feat_out embedding_length "
    "embedding_length_out embedding_length_per_layer_input embedding_scale "
    "expert_chunk_feed_forward_length expert_count expert_feed_forward_length "
    "expert_gating_func expert_group_count expert_group_scale expert_group_used_count "
    "expert_shared_count expert_shared_feed_forward_length expert_used_count "
    "expert_weights_norm expert_weights_scale experts_per_group features_length "
    "feed_forward_length final_logit_softcapping full_attention_interval hash_layer_count "
    "hidden_activation hyper_connection.count hyper_connection.epsilon "
    "hyper_connection.sinkhorn_iterations interleave_moe_layer_step kda.head_dim "
    "leading_dense_block_count logit_scale moe_every_n_layers moe_latent_size "
    "n_deepstack_layers nextn_predict_layers norm_before_residual pooling_type "
    "posnet.block_count posnet.embedding_length rescale_every_n_layers residual_scale "
    "rope.dimension_count rope.dimension_count_swa rope.dimension_sections rope.freq_base "
    "rope.freq_base_swa rope.scale_linear rope.scaling.alpha rope.scaling.attn_factor "
    "rope.scaling.factor rope.scaling.finetuned rope.scaling.original_context_length "
    "rope.scaling.type rope.scaling.yarn_attn_factor rope.scaling.yarn_beta_fast "
    "rope.scaling.yarn_beta_slow rope.scaling.yarn_ext_factor rope.scaling.yarn_log_multiplier "
    "router_logit_softcapping shortconv.l_cache ssm.conv_kernel ssm.dt_b_c_rms ssm.group_count "
    "ssm.inner_size ssm.state_size ssm.time_step_rank swiglu_clamp_exp swiglu_clamp_shexp "
    "swin_norm target_hidden_size target_layers tensor_data_layout time_decay_extra_dim "
    "time_mix_extra_dim token_shift_count tokenizer.ggml.add_bos_token "
    "tokenizer.ggml.add_eos_token tokenizer.ggml.add_sep_token tokenizer.ggml.add_space_prefix "
    "tokenizer.ggml.bos_token_id tokenizer.ggml.cls_token_id tokenizer.ggml.eom_token_id "
    "tokenizer.ggml.eos_token_id tokenizer.ggml.eot_token_id tokenizer.ggml.fim_mid_token_id "
    "tokenizer.ggml.fim_pad_token_id tokenizer.ggml.fim_pre_token_id "
    "tokenizer.ggml.fim_rep_token_id tokenizer.ggml.fim_sep_token_id "
    "tokenizer.ggml.fim_suf_token_id tokenizer.ggml.mask_token_id tokenizer.ggml.merges "
    "tokenizer.ggml.middle_token_id tokenizer.ggml.model tokenizer.ggml.normalizer.lowercase "
    "tokenizer.ggml.normalizer.strip_accents tokenizer.ggml.padding_token_id tokenizer.ggml.pre "
    "tokenizer.ggml.precompiled_charsmap tokenizer.ggml.prefix_token_id "
    "tokenizer.ggml.remove_extra_whitespaces tokenizer.ggml.scores "
    "tokenizer.ggml.seperator_token_id tokenizer.ggml.suffix_token_id "
    "tokenizer.ggml.suppress_tokens tokenizer.ggml.token_type tokenizer.ggml.token_type_count "
    "tokenizer.ggml.tokens tokenizer.ggml.unknown_token_id use_parallel_residual vocab_size "
    "wkv.head_size";

}  // namespace

bool is_llama_cpp_key(std::string_view key) {
  static const std::vector<std::string_view> keys = words_of(kKeys);
  return std::ranges::binary_search(keys, key);
}

namespace {

constexpr std::string_view kEnd = "<|end|>";
constexpr std::string_view kOldEnd = "</s>";

// Tokens that end texts or turns, or the output of a model that fills gaps: padding, and the next
// file of a repository.
constexpr std::string_view kEnds[] = {kEnd,
                                      kOldEnd,
                                      "<EOT>",
                                      "<PAD>",
                                      "<REPO>",
                                      "<end_of_turn>",
                                      "<end_of_utterance>",
                                      "<eos>",
                                      "<fim-pad>",
                                      "<fim-repo>",
                                      "<fim_pad>",
                                      "<reponame>",
                                      "<turn|>",
                                      "<|call|>",
                                      "<|calls|>",
                                      "<|end_of_text|>",
                                      "<|endoftext|>",
                                      "<|eom_id|>",
                                      "<|eot_id|>",
                                      "<|file_sep|>",
                                      "<|fim_pad|>",
                                      "<|fim_repo|>",
                                      "<|flush|>",
                                      "<|im_end|>",
                                      "<|repo_name|>",
                                      "<|return|>",
                                      "<|tool_response>",
                                      "<｜end▁of▁sentence｜>",
                                      "[EOS]",
                                      "[EOT]",
                                      "[PAD]",
                                      "_<EOT>"};

// Tokens around a gap to be filled.
constexpr std::string_view kOfGaps[] = {
    "<MID>",           "<PRE>",           "<SUF>",          "<fim-middle>",    "<fim-prefix>",
    "<fim-suffix>",    "<fim_middle>",    "<fim_prefix>",   "<fim_suffix>",    "<|code_middle|>",
    "<|code_prefix|>", "<|code_suffix|>", "<|fim_middle|>", "<|fim_prefix|>",  "<|fim_suffix|>",
    "<|middle|>",      "<|prefix|>",      "<|suffix|>",     "<｜fim▁begin｜>", "<｜fim▁end｜>",
    "<｜fim▁hole｜>"};

bool is_among(std::span<const std::string_view> names, std::string_view piece) {
  return std::ranges::find(names, piece) != names.end();
}

}  // namespace

std::vector<GgufNamedToken> gguf_named_tokens(std::span<const std::string_view> pieces) {
  std::vector<GgufNamedToken> named;
  const auto is_called = [&](std::string_view name) {
    return [&pieces, name](const GgufNamedToken& token) { return pieces[token.id] == name; };
  };
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const std::string_view piece = pieces[id];
    // All names begin this way, and few of a vocabulary's many pieces do.
    if (piece.starts_with('<') || piece.starts_with('[') || piece.starts_with("_<")) {
      const bool ends_text = is_among(kEnds, piece);
      if (ends_text || is_among(kOfGaps, piece)) {
        std::erase_if(named, is_called(piece));
        named.push_back({static_cast<std::uint32_t>(id), ends_text});
      }
    }
  }
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(named, is_called(name));
  };
  const bool has_call = has("<|call|>") || has("<|calls|>");
  if (has_call && (has("<|return|>") || has("<|flush|>"))) {  // gpt-oss: <|end|> ends a message
    for (GgufNamedToken& token : named) {
      token.ends_text = token.ends_text && pieces[token.id] != kEnd;
    }
  }
  if (has("<|tool_response>")) {  // Gemma 4: </s> is HTML's
    std::erase_if(named, is_called(kOldEnd));
  }
  return named;
}

namespace {

bool is_named(std::string_view pattern, std::string_view key) noexcept {
  if (pattern.starts_with('*')) {
    return key.ends_with(pattern.substr(1));
  }
  return pattern.ends_with('*') ? key.starts_with(pattern.substr(0, pattern.size() - 1))
                                : key == pattern;
}

}  // namespace

std::string_view why_ignorable(std::span<const IgnorableKey> table, std::string_view key,
                               std::optional<double> number, std::string_view text) {
  const auto found = std::ranges::find_if(table, [&](const IgnorableKey& known) {
    // JSON numbers have been rounded to floats.
    const bool has_number = !known.number || (number && static_cast<float>(*number) ==
                                                            static_cast<float>(*known.number));
    return is_named(known.key, key) && has_number && (known.text.empty() || known.text == text);
  });
  return found == table.end() ? std::string_view() : found->why;
}

bool names_key(std::span<const IgnorableKey> table, std::string_view key) {
  return std::ranges::any_of(table,
                             [key](const IgnorableKey& known) { return is_named(known.key, key); });
}

bool is_nothing(const GgufValue& value) {
  if (value.type() != GgufType::kArray) {
    return value.as_string() == std::string_view();
  }
  const auto numbers = value.as_numbers();
  const auto flags = value.as_flags();
  return value.size() == 0 ||
         (numbers && std::ranges::all_of(*numbers, [](double one) { return one == 0.0; })) ||
         (flags && std::ranges::none_of(*flags, std::identity()));
}

std::optional<double> plain_number(const GgufValue& value) {
  const std::optional<bool> flag = value.as_bool();
  return flag ? std::optional(*flag ? 1.0 : 0.0) : value.as_number();
}

}  // namespace attnviz
