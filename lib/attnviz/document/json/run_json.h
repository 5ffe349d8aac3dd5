// What JSON documents say of a run: the text, the model, how it was run and what it wrote. Members
// are of an object that is open; readers throw Error{kMalformed} saying where.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/next_tokens.h"
#include "attnviz/document/run_facts.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/json_writer.h"
#include "attnviz/text/token_marks.h"

namespace attnviz {

/// The members `text`, `tokens`, `token_ids` and `marks`. Invalid UTF-8 is written as `<F0 9F>`.
void write_text_members(JsonWriter& json, const TokenizedText& text);

/// The format `attnviz.tokens/1`: one document on one line, ending in '\n'; `ranges` are the
/// tokens' byte ranges [begin, end).
void write_tokens_json(const TokenizedText& text, std::string_view tokenizer, const ByteSink& sink);

/// The member `marks`, which tokens are no plain words of the text: {"special": [0], "added": [0]};
/// nothing when no token has any.
void write_marks_member(JsonWriter& json, const TokenMarks& marks);
/// That member's value: indices below `n_tokens`.
TokenMarks read_marks(const JsonNode& node, std::size_t n_tokens);

/// The member `model`: its name and sizes, and what of it is random for this text.
void write_model_member(JsonWriter& json, const ModelFacts& facts);

/// The members `mask` (when known) and `temperature`, and `scale`, `dropout`, `dropout_seed` and
/// `layer_facts` where they are not as usual.
void write_run_members(JsonWriter& json, const RunFacts& facts);
/// The member `layer_facts` of a document, which may lack it.
std::vector<LayerFacts> read_layer_facts(const JsonNode& root);

/// What the model wrote and what it holds probable: the members `generated` and `predictions`.
void write_continuation_member(JsonWriter& json, const Continuation& continuation);
void write_predictions_member(JsonWriter& json, const Predictions& predictions);

}  // namespace attnviz
