#include "attnviz/text/tokenizers/prompt_lint.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "support/repeated.h"
#include "support/stopwatch.h"
#include "tiny_tokenizers.h"

namespace attnviz {
namespace {

// Words; <s> begins texts, <|im_start|> is a token.
ModelTokenizer words() {
  return test::tokenizer_of(R"({
    "added_tokens": [
      {"id": 0, "content": "<s>", "special": true},
      {"id": 1, "content": "<|im_start|>", "special": true}],
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                 {"Sequence": {"id": "A", "type_id": 0}}],
      "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
      "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}},
    "model": {"type": "WordLevel", "unk_token": "?",
              "vocab": {"?": 2, "hi": 3}}})");
}

std::string fault(const ModelTokenizer& tokenizer, std::string_view text, bool parse_special) {
  TokenizeOptions how;
  how.parse_special = parse_special;
  return prompt_fault(tokenizer.tokenize(text, how), tokenizer);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("prompt_fault: nothing is said of plain texts, and of tokens that were recognised") {
  const ModelTokenizer tokenizer = words();
  CHECK(fault(tokenizer, "hi", false).empty());
  CHECK(fault(tokenizer, "a < b | c > d [x]", false).empty());
  CHECK(fault(tokenizer, "<|im_start|> hi", true).empty());
}

TEST_CASE("prompt_fault: of a hundred thousand tokens and one sign that is none") {
  const ModelTokenizer tokenizer = words();
  std::string text = test::repeated("<|im_start|> ", 200'000);
  const test::Stopwatch watch;
  CHECK(fault(tokenizer, text, true).empty());
  CHECK(has(fault(tokenizer, text + "[INST]", true), "[INST]"));
  CHECK(watch.is_in_time());
}

TEST_CASE("prompt_fault: two tokens that begin a text") {
  const ModelTokenizer tokenizer = words();
  CHECK(has(fault(tokenizer, "<s> hi", true), "\"<s>\" twice"));
  CHECK(has(fault(tokenizer, "<s> hi", true), "tokenizer's"));
  CHECK(fault(tokenizer, "<s> hi", false).empty());
  TokenizedText ids = tokenizer.from_ids(std::vector<TokenId>{0, 0, 3});
  CHECK(has(prompt_fault(ids, tokenizer), "twice"));
  CHECK_FALSE(has(prompt_fault(ids, tokenizer), "tokenizer's"));
}

TEST_CASE("prompt_fault: signs of turns that are plain text, of this model and of others") {
  ModelTokenizer tokenizer = words();
  CHECK(has(fault(tokenizer, "<|im_start|> hi", false), "plain text here"));
  CHECK(has(fault(tokenizer, "[INST] hi", true), "no token of this model"));
  CHECK_FALSE(has(fault(tokenizer, "[INST] hi", true), "template renders"));
  tokenizer.set_chat_template({.source = "[INST] {{ messages[0].content }} [/INST]"});
  CHECK(has(fault(tokenizer, "[INST] hi", true), "written by hand"));
  CHECK(has(fault(tokenizer, "[INST] hi", true), "template renders"));
}

TEST_CASE("prompt_fault: in a chat that was rendered, messages may hold signs of turns") {
  const ModelTokenizer tokenizer = words();
  TokenizedText text = tokenizer.tokenize("what is [INST] ?");
  CHECK_FALSE(prompt_fault(text, tokenizer).empty());
  text.turns = {{0, 0, text.source.size(), "user"}};
  CHECK(prompt_fault(text, tokenizer).empty());
}

}  // namespace attnviz
