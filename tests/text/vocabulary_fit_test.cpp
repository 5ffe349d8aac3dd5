#include "attnviz/text/vocabulary_fit.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace attnviz {

namespace {

// Pieces in place of a tokenizer: the text is what they say.
TokenizedText cut_as(const std::vector<std::string>& pieces) {
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
  CHECK(fit.in_pieces.empty());
  CHECK_FALSE(fit.is_far());
}

TEST_CASE("vocabulary fit: words in three pieces are named once, and counted each time") {
  const std::vector<std::string> word = {" mi", "tochon", "dria"};
  std::vector<std::string> pieces = {"The", " cat", " has", " no"};
  pieces.insert(pieces.end(), word.begin(), word.end());
  pieces.insert(pieces.end(), {" and", " no", " dog", " has"});
  const VocabularyFit once = vocabulary_fit(cut_as(pieces));
  CHECK(once.n_tokens == 11);
  CHECK(once.n_in_pieces == 3);
  CHECK_FALSE(once.is_far());  // 3 of 11
  pieces.insert(pieces.end(), word.begin(), word.end());
  const VocabularyFit twice = vocabulary_fit(cut_as(pieces));
  CHECK(twice.n_in_pieces == 6);
  CHECK(twice.in_pieces == std::vector<std::string>{"mitochondria"});
  CHECK(twice.is_far());  // 6 of 14
}

TEST_CASE("vocabulary fit: a character in the pieces of its bytes is a word in pieces") {
  const VocabularyFit fit = vocabulary_fit(cut_as({"\xe7", "\x8c", "\xab", " sat"}));
  CHECK(fit.in_pieces == std::vector<std::string>{"猫"});
  CHECK(fit.is_far());
}

TEST_CASE("vocabulary fit: a text without tokens, and one of white space, are not far") {
  CHECK_FALSE(vocabulary_fit(TokenizedText{}).is_far());
  CHECK_FALSE(vocabulary_fit(cut_as({" ", " ", " ", " "})).is_far());
}

}  // namespace attnviz
