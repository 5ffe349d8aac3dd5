// The JSON of attention, inspections, runs and models, written as streams.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "attnviz/analysis/inspection.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/json_writer.h"
#include "attnviz/model/model.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/json/datum.h"
#include "attnviz/report/model_info.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Writes one document on one line, ending in '\n'. Numbers are the shortest decimals that read
/// back to the same float. Heads that do not form a rectangle of layers × heads are written as
/// `selected`. An encoder-decoder with all of its parts has the members `encoder`, `decoder` and
/// `cross`, each with its own tokens. `line`: as for write_tokens_json().
void write_attention_json(const AttentionDocument& document, const ByteSink& sink,
                          std::size_t line = 0);

/// Writes the patterns of a document, their layers, heads and rows, as members of the open object.
class PatternItems {
 public:
  /// Writes the members before the rows. Both arguments must outlive this object.
  PatternItems(const AttentionDocument& document, JsonWriter& json);

  /// Writes the next rows of the pattern, or the first rows of the next pattern: `n_rows` rows in
  /// the form of append_json_row(). A call must not span two patterns.
  void rows(std::size_t n_rows, std::string_view items);

  /// Writes the members after the rows. Precondition: all rows have been written.
  void finish();

  /// Writes all rows from the document, then calls finish().
  void write_all();

 private:
  void begin_pattern();
  void end_pattern();
  void write_sinks();

  const AttentionDocument& document_;
  JsonWriter& json_;
  bool is_array_;
  std::size_t heads_a_layer_;
  std::size_t pattern_ = 0;
  std::size_t row_ = 0;
};

/// Writes the same document while its weights arrive: pattern after pattern in the document's
/// order, each from its first query on. Does not read the document's own weights.
class AttentionJsonStream {
 public:
  /// Writes the members before the weights. `document` must outlive the stream.
  AttentionJsonStream(const AttentionDocument& document, ByteSink sink, std::size_t line = 0);
  AttentionJsonStream(const AttentionJsonStream&) = delete;
  AttentionJsonStream& operator=(const AttentionJsonStream&) = delete;

  /// As in PatternItems.
  void rows(std::size_t n_rows, std::string_view items) { items_.rows(n_rows, items); }

  /// Writes the members after the weights, including the document's predictions, which may be added
  /// after the weights. Precondition: all rows have been written.
  void finish();

 private:
  const AttentionDocument& document_;
  JsonWriter json_;
  PatternItems items_;
};

/// The same document without its weights, on one line without '\n': for a picture's metadata.
std::string attention_facts(const AttentionDocument& document);

// The inspection JSON format `attnviz.inspection/1`, written as a stream.

/// Writes one document on one line, ending in '\n': for each head its weights, its values for all
/// queries (if the inspections hold them), and its values for the inspected query. Numbers are the
/// shortest decimals that read back to the same float; masked scores are null. Precondition: at
/// least one inspection, all of one query and one request.
void write_inspection_json(const Model& model, const TokenizedText& text,
                           std::span<const Inspection> inspections, const ByteSink& sink);

/// The same document reduced to the index of each head, without matrices, on one line without '\n':
/// for a picture's metadata.
std::string inspection_facts(const Model& model, const TokenizedText& text,
                             std::span<const Inspection> inspections);

// Models as JSON documents; a missing or unknown property is null.

/// The members of the document `attnviz.info/1`. All counts are whole numbers, all sizes bytes.
/// Keys:
///
/// model       {name, origin, family, described, random}: described: given in numbers, without
///             weights; origin only if known
/// shape       {n_ctx, n_vocab, n_layers, n_heads, n_kv_heads, d_model, d_head, d_value, d_ff,
///             gated_mlp, tied}; n_heads to d_value are those of the first head of the
///             first layer that has heads; for models with latents also latents: {query_rank, rank,
///             shared_key, kept, expanded}, where kept and expanded are per token and layer
/// facts       {positions, order, norm, norm_epsilon, activation, embedding_scale,
///             residual_scale, logit_scale, logit_soft_cap, n_streams, active_stream, laurel_rank};
///             null when described; the last three only for models with several residual streams
///             (AltUp), or a learned residual (LAuReL)
/// layers      [{layer, n_heads, n_kv_heads, mask, score_scale, soft_cap, query_norm, key_norm,
///             keys_from, values_are_keys, value_norm, mlp_sparsity, rope: {base, n_rotated,
///             scaling, factor, original_n_ctx}}]; null when described; keys_from only if a layer
///             reuses keys and values of another, values_are_keys and value_norm only if true,
///             mlp_sparsity only if a share of the gates is set to 0; for a layer without
///             attention only {layer, n_heads: 0, n_kv_heads: 0, mixer, convolution}
/// parameters  {token_embeddings, positions, segments, head, layer, attention, mlp, norms,
///             output_head, total}; head, attention and layer.attention: {W_Q, W_K, W_V, W_O,
///             biases, total}; layer: {attention, mlp, norms, total}; head counts shared keys and
///             values in full; head and layer are null if heads or layers differ; other,
///             layer_embeddings and attention's latents only if the model has them
/// weights     {stored: [{type, tensors, numbers, bytes}], unused_tensors, unused_bytes,
///             float32_bytes, float16_bytes}: stored: only tensors that the model uses
/// memory      [{tokens, beyond_context, pattern_head, pattern, kv_float32, kv_float16}];
///             for models with latents also latents_float32 and latents_float16, which can be kept
///             instead
/// tokenizer   {kind, entries, special_tokens, special: {bos: {piece, id}, …}, before, after,
///             missing, chat_template: "jinja" or "go"}; null when described
/// file        {format, path, version, byte_order, alignment, metadata: {key: value}} of a GGUF
///             file, whose lists are {list_of, size}; null for models in another format
Record info_record(const ModelInfo& info);

// The run in JSON documents: the text, the model, the settings, the continuation and the drawing.
// Readers take a member's value and throw Error{kMalformed} with the location of an unexpected
// value.

/// The members `text`, `tokens`, `token_ids`, `turns` and `marks`. Invalid UTF-8 is written as `<F0
/// 9F>`.
Record text_record(const TokenizedText& text);

/// Writes the format `attnviz.tokens/1`: one document on one line, ending in '\n'; `ranges` are the
/// tokens' byte ranges [begin, end). `line`: the text's line in a file of several texts, counted
/// from 1; 0: none.
void write_tokens_json(const TokenizedText& text, std::string_view tokenizer, const ByteSink& sink,
                       std::size_t line = 0);

/// The turns of a chat: [{"role": "user", "begin": 1, "end": 9}, …], with a null role between
/// turns.
Datum turns_of(const std::vector<TokenTurn>& turns);
/// Also throws if the turns do not cover the tokens in order.
std::vector<TokenTurn> read_turns(const JsonNode& list, std::size_t n_tokens);

/// The tokens that are not plain words of the text: {"special": [0], "added": [0]}.
Record marks_record(const TokenMarks& marks);
/// `node`: indices below `n_tokens`.
TokenMarks read_marks(const JsonNode& node, std::size_t n_tokens);

/// A model's name and sizes, and the parts that are random for this text.
Record model_record(const ModelFacts& facts);
ModelFacts read_model(const JsonNode& node);

/// The members `mask` (if known) and `temperature`, and `scale`, `dropout`, `dropout_seed`,
/// `layer_facts` and `interventions` where they differ from the defaults.
Record run_record(const RunFacts& facts);
/// Reads members of the document itself.
RunFacts read_run(const JsonNode& root);

Record drawing_record(const Drawing& drawing);
Drawing read_drawing(const JsonNode& node);

/// The continuation written by the model, and its predictions: `generated` and `predictions`.
Record continuation_record(const Continuation& continuation);
Record predictions_record(const Predictions& predictions);

}  // namespace attnviz
