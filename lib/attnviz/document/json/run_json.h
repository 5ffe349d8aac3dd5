// What JSON documents say of a run: the text, the model, how it was run, what it wrote and how it
// is drawn. Members are of an object that is open; readers take a member's value and throw
// Error{kMalformed} saying where something else stands than expected.
#pragma once

#include <cstddef>
#include <string_view>

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

/// The members `text`, `tokens`, `token_ids`, `turns` and `marks`. Invalid UTF-8 is written as `<F0
/// 9F>`.
void write_text_members(JsonWriter& json, const TokenizedText& text);

/// The format `attnviz.tokens/1`: one document on one line, ending in '\n'; `ranges` are the
/// tokens' byte ranges [begin, end). `line`: as for write_line_member().
void write_tokens_json(const TokenizedText& text, std::string_view tokenizer, const ByteSink& sink,
                       std::size_t line = 0);

/// The member `line`: the text's line in a file of many texts, counted from 1; nothing for 0.
inline void write_line_member(JsonWriter& json, std::size_t line) {
  if (line > 0) {
    json.member("line", line);
  }
}

/// The member `turns`, of a chat: [{"role": "user", "begin": 1, "end": 9}, …], the role null
/// between turns; nothing when there are none.
void write_turns_member(JsonWriter& json, const std::vector<TokenTurn>& turns);
/// Throws when they do not cover the tokens in order, too.
std::vector<TokenTurn> read_turns(const JsonNode& list, std::size_t n_tokens);

/// The member `marks`, which tokens are no plain words of the text: {"special": [0], "added": [0]};
/// nothing when no token has any. `key` in place of that name.
void write_marks_member(JsonWriter& json, const TokenMarks& marks, std::string_view key = "marks");
/// That member's value: indices below `n_tokens`.
TokenMarks read_marks(const JsonNode& node, std::size_t n_tokens);

/// The member `model`: its name and sizes, and what of it is random for this text.
void write_model_member(JsonWriter& json, const ModelFacts& facts);
ModelFacts read_model(const JsonNode& node);

/// The members `mask` (when known) and `temperature`, and `scale`, `dropout`, `dropout_seed`,
/// `layer_facts` and `interventions` where they are not as usual.
void write_run_members(JsonWriter& json, const RunFacts& facts);
/// From the members of the document itself.
RunFacts read_run(const JsonNode& root);

/// The member `drawing`.
void write_drawing_member(JsonWriter& json, const Drawing& drawing);
Drawing read_drawing(const JsonNode& node);

/// What the model wrote and what it holds probable: the members `generated` and `predictions`.
void write_continuation_member(JsonWriter& json, const Continuation& continuation);
void write_predictions_member(JsonWriter& json, const Predictions& predictions);
/// The members of the latter alone.
void write_predictions(JsonWriter& json, const Predictions& predictions);

}  // namespace attnviz
