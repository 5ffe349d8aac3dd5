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
/// back to the same float. Heads that are no rectangle of layers × heads are written as `selected`.
/// Of an encoder-decoder with all of its parts: `encoder`, `decoder` and `cross`, each with its own
/// tokens. `line`: as for write_tokens_json().
void write_attention_json(const AttentionDocument& document, const ByteSink& sink,
                          std::size_t line = 0);

/// The patterns of a document: which layers and heads they are of, and their rows, as members of
/// the object that is open.
class PatternItems {
 public:
  /// Writes what stands before the rows. Both must outlive it.
  PatternItems(const AttentionDocument& document, JsonWriter& json);

  /// The next rows of the pattern, or the first ones of the next pattern: `n_rows` rows as
  /// append_json_row() makes them. No rows of two patterns at once.
  void rows(std::size_t n_rows, std::string_view items);

  /// Writes what stands behind them. Precondition: every row has come.
  void finish();

  /// All rows, those of the document, and finish().
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

/// The same document written while its weights come: pattern after pattern as the document lists
/// them, each from its first query on. The document's own weights are not looked at.
class AttentionJsonStream {
 public:
  /// Writes what stands before the weights. `document` must outlive the stream.
  AttentionJsonStream(const AttentionDocument& document, ByteSink sink, std::size_t line = 0);
  AttentionJsonStream(const AttentionJsonStream&) = delete;
  AttentionJsonStream& operator=(const AttentionJsonStream&) = delete;

  /// As PatternItems'.
  void rows(std::size_t n_rows, std::string_view items) { items_.rows(n_rows, items); }

  /// Writes what stands behind the weights: the document's predictions, which may have come after
  /// them. Precondition: every row has come.
  void finish();

 private:
  const AttentionDocument& document_;
  JsonWriter json_;
  PatternItems items_;
};

/// The same document without its weights, as one line without '\n': for a picture's metadata.
std::string attention_facts(const AttentionDocument& document);

// The inspection JSON format `attnviz.inspection/1`, written as a stream.

/// Writes one document on one line, ending in '\n': for each head its weights, what it computes for
/// all queries (when the inspections hold it), and what it computes for the one. Numbers are the
/// shortest decimals that read back to the same float; masked scores are null. Precondition: at
/// least one inspection, all of one query and one request.
void write_inspection_json(const Model& model, const TokenizedText& text,
                           std::span<const Inspection> inspections, const ByteSink& sink);

/// The same document with nothing but its index of each head, and no matrices, as one line without
/// '\n': for a picture's metadata.
std::string inspection_facts(const Model& model, const TokenizedText& text,
                             std::span<const Inspection> inspections);

// What is said of models as JSON documents; what a model does not have or what is not known is
// null.

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

// What JSON documents say of a run: the text, the model, how it was run, what it wrote and how it
// is drawn. Readers take a member's value and throw Error{kMalformed} saying where something else
// stands than expected.

/// The members `text`, `tokens`, `token_ids`, `turns` and `marks`. Invalid UTF-8 is written as `<F0
/// 9F>`.
Record text_record(const TokenizedText& text);

/// The format `attnviz.tokens/1`: one document on one line, ending in '\n'; `ranges` are the
/// tokens' byte ranges [begin, end). `line`: the text's line in a file of many texts, counted from
/// 1; 0: there is none.
void write_tokens_json(const TokenizedText& text, std::string_view tokenizer, const ByteSink& sink,
                       std::size_t line = 0);

/// Of a chat: [{"role": "user", "begin": 1, "end": 9}, …], the role null between turns.
Datum turns_of(const std::vector<TokenTurn>& turns);
/// Throws when they do not cover the tokens in order, too.
std::vector<TokenTurn> read_turns(const JsonNode& list, std::size_t n_tokens);

/// Which tokens are no plain words of the text: {"special": [0], "added": [0]}.
Record marks_record(const TokenMarks& marks);
/// `node`: indices below `n_tokens`.
TokenMarks read_marks(const JsonNode& node, std::size_t n_tokens);

/// A model's name and sizes, and what of it is random for this text.
Record model_record(const ModelFacts& facts);
ModelFacts read_model(const JsonNode& node);

/// The members `mask` (when known) and `temperature`, and `scale`, `dropout`, `dropout_seed`,
/// `layer_facts` and `interventions` where they are not as usual.
Record run_record(const RunFacts& facts);
/// From the members of the document itself.
RunFacts read_run(const JsonNode& root);

Record drawing_record(const Drawing& drawing);
Drawing read_drawing(const JsonNode& node);

/// What the model wrote, and what it holds probable: `generated` and `predictions`.
Record continuation_record(const Continuation& continuation);
Record predictions_record(const Predictions& predictions);

}  // namespace attnviz
