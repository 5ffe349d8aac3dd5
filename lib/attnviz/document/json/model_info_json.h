// What is said of models as JSON documents; what a model does not have or what is not known is
// null.
#pragma once

#include "attnviz/document/json/datum.h"
#include "attnviz/document/model_info.h"

namespace attnviz {

/// The members of the document `attnviz.info/1`. All counts are whole numbers, all sizes bytes.
/// Keys:
///
/// model       {name, origin, family, described, random}: described: told in numbers, without
///             weights; origin only where there is one
/// shape       {n_ctx, n_vocab, n_layers, n_heads, n_kv_heads, d_model, d_head, d_value, d_ff,
///             gated_mlp, tied}; n_heads to d_value are those of the first head of the
///             first layer that has heads; only of models with latents latents: {query_rank, rank,
///             shared_key, kept, expanded}, kept and expanded numbers of a token and layer
/// facts       {positions, order, norm, norm_epsilon, activation, embedding_scale,
///             residual_scale, logit_scale, logit_soft_cap, n_streams, active_stream, laurel_rank};
///             null when described; the last three only of models with several residual streams
///             (AltUp), or a learned residual (LAuReL)
/// layers      [{layer, n_heads, n_kv_heads, mask, score_scale, soft_cap, query_norm, key_norm,
///             keys_from, values_are_keys, value_norm, mlp_sparsity, rope: {base, n_rotated,
///             scaling, factor, original_n_ctx}}]; null when described; keys_from only where a
///             layer takes another one's, values_are_keys and value_norm only where true,
///             mlp_sparsity only where a share of the gates is set to 0; of a layer without
///             attention only {layer, n_heads: 0, n_kv_heads: 0, mixer, convolution}
/// parameters  {token_embeddings, positions, segments, head, layer, attention, mlp, norms,
///             output_head, total}; head, attention and layer.attention: {W_Q, W_K, W_V, W_O,
///             biases, total}; layer: {attention, mlp, norms, total}; head counts keys and values
///             whole where heads share them; head and layer are null where they differ; other,
///             layer_embeddings and attention's latents only where there are such
/// weights     {stored: [{type, tensors, numbers, bytes}], unused_tensors, unused_bytes,
///             float32_bytes, float16_bytes}: stored: of the files' tensors that the model is made
///             of
/// memory      [{tokens, beyond_context, pattern_head, pattern, kv_float32, kv_float16}]; of models
///             with latents latents_float32 and latents_float16, which can be kept in their place
/// tokenizer   {kind, entries, special_tokens, special: {bos: {piece, id}, …}, before, after,
///             missing, chat_template: "jinja" or "go"}; null when described
/// file        {format, path, version, byte_order, alignment, metadata: {key: value}} of a GGUF
///             file, whose lists are {list_of, size}; null for models in another form
Record info_record(const ModelInfo& info);

}  // namespace attnviz
