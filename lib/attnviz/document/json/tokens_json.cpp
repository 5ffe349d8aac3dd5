#include "attnviz/document/json/tokens_json.h"

#include <cstdint>

#include "attnviz/document/json/marks_json.h"
#include "attnviz/text/token_marks.h"

namespace attnviz {

void write_text_members(JsonWriter& json, const TokenizedText& text) {
  json.member("text", text.source);
  json.begin_array("tokens");
  for (const Token& token : text.tokens) {
    json.value(token.text);
  }
  json.end_array();
  json.begin_array("token_ids");
  for (const Token& token : text.tokens) {
    json.value(std::uint64_t{token.id});
  }
  json.end_array();
  write_marks_member(json, token_marks(text));
}

void write_tokens_json(const TokenizedText& text, std::string_view tokenizer,
                       const ByteSink& sink) {
  JsonWriter json(sink);
  json.begin_object();
  json.member("schema", "attnviz.tokens/1");
  write_text_members(json, text);
  json.begin_array("ranges");
  for (const Token& token : text.tokens) {
    json.begin_array();
    json.value(std::uint64_t{token.begin});
    json.value(std::uint64_t{token.end});
    json.end_array();
  }
  json.end_array();
  json.member("tokenizer", tokenizer);
  json.end_object();
  json.finish();
}

}  // namespace attnviz
