// Tokens as JSON: the format `attnviz.tokens/1`, and the part of it that other documents share.
#pragma once

#include <string_view>

#include "attnviz/core/byte_sink.h"
#include "attnviz/formats/json_writer.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// The members `text`, `tokens`, `token_ids` and `marks` (as write_marks_member writes them) of an
/// object that is open in `json`. Invalid UTF-8 is written as `<F0 9F>`.
void write_text_members(JsonWriter& json, const TokenizedText& text);

/// One document on one line, ending in '\n'; `ranges` are the tokens' byte ranges [begin, end).
void write_tokens_json(const TokenizedText& text, std::string_view tokenizer, const ByteSink& sink);

}  // namespace attnviz
