#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "attnviz/text/tokenizers/prompt_lint.h"
#include "support/repeated.h"
#include "support/stopwatch.h"
#include "tiny_tokenizers.h"

namespace attnviz {

namespace {

using Pieces = std::vector<std::string>;

// Pieces instead of a tokenizer: the text is their concatenation.
TokenizedText cut_as(const Pieces& pieces) {
  TokenizedText text;
  for (const std::string& piece : pieces) {
    Token token;
    token.text = piece;
    token.begin = text.source.size();
    text.source += piece;
    token.end = text.source.size();
    text.tokens.push_back(std::move(token));
  }
  return text;
}

VocabularyFit fit_of(const Pieces& pieces) {
  return vocabulary_fit(cut_as(pieces));
}

Token added_bos() {
  Token bos;
  bos.text = "<s>";
  bos.special = true;
  bos.added = true;
  return bos;
}

}  // namespace

TEST_CASE("vocabulary fit: words in one piece or two are known") {
  TokenizedText text = cut_as({"The", " cat", " sleep", "ily", " sat", "."});
  text.tokens.insert(text.tokens.begin(), added_bos());
  const VocabularyFit fit = vocabulary_fit(text);
  CHECK(fit.n_tokens == 6);
  CHECK(fit.n_in_pieces == 0);
  CHECK(fit.n_words == 0);
  CHECK(fit.named.empty());
  CHECK_FALSE(fit.is_far());
}

TEST_CASE("vocabulary fit: words in three pieces are named once, and counted each time") {
  const Pieces word = {" mi", "tochon", "dria"};
  Pieces pieces = {"The", " cat", " has", " no"};
  pieces.insert(pieces.end(), word.begin(), word.end());
  const VocabularyFit once = fit_of(pieces);
  CHECK(once.n_tokens == 7);
  CHECK(once.n_in_pieces == 3);
  CHECK_FALSE(once.is_far());  // one word in three pieces does not make a text unfamiliar
  pieces.insert(pieces.end(), {" and", " no", " dog", " has"});
  pieces.insert(pieces.end(), word.begin(), word.end());
  const VocabularyFit twice = fit_of(pieces);
  CHECK(twice.n_in_pieces == 6);
  CHECK(twice.n_words == 1);
  CHECK(twice.named == Pieces{"mitochondria"});
  CHECK(twice.is_far());  // 6 of 14
  pieces.insert(pieces.end(), 5, " cat");
  CHECK_FALSE(fit_of(pieces).is_far());  // 6 of 19
}

TEST_CASE("vocabulary fit: at most three words are named, all are counted") {
  const VocabularyFit fit =
      fit_of({" a", "b", "c", " d", "e", "f", " g", "h", "i", " j", "k", "l", " a", "b", "c"});
  CHECK(fit.named == Pieces{"abc", "def", "ghi"});
  CHECK(fit.n_words == 4);
  CHECK(fit.n_in_pieces == 15);
}

TEST_CASE("vocabulary fit: a character split into bytes is a word in pieces") {
  const VocabularyFit fit = fit_of({"\xe7", "\x8c", "\xab", " sat"});
  CHECK(fit.named == Pieces{"猫"});
  CHECK(fit.n_in_pieces == 3);
  CHECK(fit_of({"\xf0", "\x9f", "\x90", "\xb1", " sat"}).is_far());  // an emoji
  CHECK(fit_of({"\xff", "\xfe", "\x80", "\x81", " sat"}).n_in_pieces == 4);
}

TEST_CASE("vocabulary fit: numbers, marks and white space are not words, however they are cut") {
  CHECK(fit_of({"In", " 2", "0", "2", "4"}).n_in_pieces == 0);
  CHECK(fit_of({"1", ",", "0", "0", "0", ",", "0", "0", "0"}).n_in_pieces == 0);
  CHECK(fit_of({"?", "!", "?", "!", "..."}).n_in_pieces == 0);
  CHECK(fit_of({" ", " ", "\n", " "}).n_in_pieces == 0);
  CHECK_FALSE(vocabulary_fit(TokenizedText{}).is_far());
}

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

TEST_CASE("prompt_fault: no fault in plain texts, or in recognised tokens") {
  const ModelTokenizer tokenizer = words();
  CHECK(fault(tokenizer, "hi", false).empty());
  CHECK(fault(tokenizer, "a < b | c > d [x]", false).empty());
  CHECK(fault(tokenizer, "<|im_start|> hi", true).empty());
}

TEST_CASE("prompt_fault: one unrecognised turn marker among a hundred thousand tokens") {
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
  CHECK(has(fault(tokenizer, "<s> hi", true), "the tokenizer adds"));
  CHECK(fault(tokenizer, "<s> hi", false).empty());
  TokenizedText ids = tokenizer.from_ids(std::vector<TokenId>{0, 0, 3});
  CHECK(has(prompt_fault(ids, tokenizer), "twice"));
  CHECK_FALSE(has(prompt_fault(ids, tokenizer), "tokenizer's"));
}

TEST_CASE("prompt_fault: turn markers that are plain text, of this model and of others") {
  ModelTokenizer tokenizer = words();
  CHECK(has(fault(tokenizer, "<|im_start|> hi", false), "plain text here"));
  CHECK(has(fault(tokenizer, "[INST] hi", true), "not a token of this model"));
  CHECK_FALSE(has(fault(tokenizer, "[INST] hi", true), "template renders"));
  tokenizer.set_chat_template({.source = "[INST] {{ messages[0].content }} [/INST]"});
  CHECK(has(fault(tokenizer, "[INST] hi", true), "written by hand"));
  CHECK(has(fault(tokenizer, "[INST] hi", true), "template renders"));
}

TEST_CASE("prompt_fault: in a rendered chat, messages may contain turn markers") {
  const ModelTokenizer tokenizer = words();
  TokenizedText text = tokenizer.tokenize("what is [INST] ?");
  CHECK_FALSE(prompt_fault(text, tokenizer).empty());
  text.turns = {{0, 0, text.source.size(), "user"}};
  CHECK(prompt_fault(text, tokenizer).empty());
}

}  // namespace attnviz
