// What JSON documents say of a run: the text, the model, how it was run, what it wrote and how it
// is drawn. Readers take a member's value and throw Error{kMalformed} saying where something else
// stands than expected.
#pragma once

#include <cstddef>
#include <string_view>

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/document/json/datum.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

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
