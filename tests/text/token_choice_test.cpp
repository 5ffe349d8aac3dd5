#include "attnviz/text/token_choice.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/text/tokenizer.h"

namespace attnviz {
namespace {

TokenizedText words(std::string_view text) {
  return make_tokenizer("words")->tokenize(text);
}

// Tokens with leading spaces, as in byte-level BPE.
TokenizedText with_spaces() {
  TokenizedText text{"The cat sat", {}};
  text.tokens = {{0, "The", 0, 3}, {1, " cat", 3, 7}, {2, " sat", 7, 11}};
  return text;
}

// The index, if there is nothing to report about it.
std::size_t plainly(const TokenizedText& text, std::string_view word) {
  const TokenChoice choice = choose_token(text, word, "query");
  CHECK(choice.note == "");
  return choice.index;
}

std::string failure(const TokenizedText& text, std::string_view word) {
  try {
    choose_token(text, word, "query");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kUsage);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a token is named by its text, with exact matches first") {
  const TokenizedText text = words("The cat sat on the mat");
  CHECK(plainly(text, "The") == 0);
  CHECK(plainly(text, "the") == 4);
  CHECK(plainly(text, "mat") == 5);
}

TEST_CASE("without an exact match, case and normal form are ignored, which is reported") {
  const auto choice = [](const char* text, const char* word) {
    return choose_token(words(text), word, "query");
  };
  CHECK(choice("The CAT sat", "cat").index == 1);
  CHECK(choice("The CAT sat", "cat").note == "no token is \"cat\": taking 1, \"CAT\"");
  CHECK(choice("ein STRASSE", "straße").index == 1);
  CHECK(choice("caf\u00e9 au lait", "Cafe\u0301").index == 0);
  CHECK(choice("The cat saw a cat", "CAT").note ==
        "no token is \"CAT\": \"cat\" occurs at 1 and 4: taking 4 (cat#1 is the first)");
}

TEST_CASE("a token is named without the spaces around it, and as it is shown") {
  CHECK(plainly(with_spaces(), "cat") == 1);
  CHECK(plainly(with_spaces(), " cat") == 1);
  CHECK(plainly(with_spaces(), "␠sat") == 2);
  CHECK(plainly(make_tokenizer("chars")->tokenize("a b"), " ") == 1);
  CHECK(plainly(make_tokenizer("bytes")->tokenize("a\xff"), "<FF>") == 1);
}

TEST_CASE("a whole number is an index, from the end when negative") {
  const TokenizedText text = words("The cat sat");
  CHECK(plainly(text, "0") == 0);
  CHECK(plainly(text, "2") == 2);
  CHECK(plainly(text, "-1") == 2);
  CHECK(plainly(text, "-3") == 0);
}

TEST_CASE("among several tokens the last is taken and reported, or the one selected by #") {
  const TokenizedText text = words("the cat saw the dog and the cat ran");
  const TokenChoice the = choose_token(text, "the", "query");
  CHECK(the.index == 6);
  CHECK(the.note == "\"the\" occurs at 0, 3 and 6: taking 6 (the#1 is the first)");
  CHECK(plainly(text, "the#1") == 0);
  CHECK(plainly(text, "the#2") == 3);
  CHECK(plainly(text, "The#3") == 6);
  CHECK(plainly(text, "ran#1") == 8);
}

TEST_CASE("many positions are reported by the first and the last") {
  std::string many = "a";
  for (int i = 1; i < 40; ++i) {
    many += " a";
  }
  CHECK(choose_token(words(many), "a", "query").note ==
        "\"a\" occurs at 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, … and 39: taking 39 (a#1 is the first)");
}

TEST_CASE("a token that looks like an index is selected with = or #, and reported") {
  const TokenizedText text = words("1 2 3 1");
  const TokenChoice index = choose_token(text, "1", "query");
  CHECK(index.index == 1);
  CHECK(index.note == "query 1: taking the token at index 1, \"2\"; =1 takes the token \"1\"");
  CHECK(plainly(text, "=2") == 1);
  CHECK(choose_token(text, "=1", "query").index == 3);
  CHECK(plainly(text, "1#1") == 0);
  CHECK(plainly(text, "=1#1") == 0);
  CHECK(plainly(words("0 1 2"), "1") == 1);  // both readings are one token
}

TEST_CASE("the characters # and = are tokens, too") {
  CHECK(plainly(words("a # b"), "#") == 1);
  CHECK(plainly(words("x = 1"), "=") == 1);
  CHECK(plainly(words("x = 1"), "==") == 1);
  TokenizedText text{"a#2 a a", {{0, "a#2", 0, 3}, {1, "a", 4, 5}, {1, "a", 6, 7}}};
  CHECK(plainly(text, "a#2") == 0);
  CHECK(plainly(text, "a#1") == 1);
}

TEST_CASE("a word that matches nothing is reported with the existing tokens") {
  const TokenizedText text = words("The cat sat");
  CHECK(failure(text, "cab") ==
        "query: the text has no token \"cab\" (did you mean \"cat\"?): the tokens are 0 \"The\", "
        "1 \"cat\" and 2 \"sat\"; an index also works");
  CHECK(failure(text, "") ==
        "query: the text has no token \"\": the tokens are 0 \"The\", 1 \"cat\" and 2 \"sat\"; an "
        "index also works");
  CHECK(
      failure(with_spaces(), "dog") ==
      "query: the text has no token \"dog\": the tokens are 0 \"The\", 1 \"cat\" and 2 \"sat\"; an "
      "index also works");
  CHECK(failure(text, "dog#2").starts_with("query: the text has no token \"dog\""));
}

TEST_CASE("a missing index or occurrence is reported with the range") {
  const TokenizedText text = words("The cat sat");
  CHECK(failure(text, "3") ==
        "query 3: expected an index from 0 to 2 (-1 is the last); the tokens are 0 \"The\", "
        "1 \"cat\" and 2 \"sat\"");
  CHECK(failure(text, "-4").starts_with("query -4: expected an index from 0 to 2"));
  CHECK(failure(text, "99999999999999999999").starts_with("query 99999999999999999999: expected"));
  CHECK(failure(text, "cat#2") == "query cat#2: \"cat\" occurs 1 time: expected cat#1");
  CHECK(failure(words("a a"), "a#0") == "query a#0: \"a\" occurs 2 times: expected a#1 to a#2");
  CHECK(failure(words("x 7"), "7") ==
        "query 7: expected an index from 0 to 1 (-1 is the last); the tokens are 0 \"x\" and "
        "1 \"7\"; =7 takes the token \"7\"");
  CHECK(failure(words("cat"), "1") ==
        "query 1: expected an index from 0 to 0 (-1 is the last); the only token is 0 \"cat\"");
}

TEST_CASE("control sequences do not reach the messages") {
  const TokenizedText text = make_tokenizer("chars")->tokenize(
      "a\x1b"
      "a\x1b");
  CHECK(choose_token(text, "\x1b", "query").note.find('\x1b') == std::string::npos);
  CHECK(failure(text, "\x1b[2J").find('\x1b') == std::string::npos);
}

TEST_CASE("a word shared by several tokens can mean all of them") {
  using Indices = std::vector<std::size_t>;
  const TokenizedText text = words("the cat saw the dog and the cat");
  const TokenChoices all = choose_tokens(text, "the", "hide");
  CHECK(all.indices == Indices{0, 3, 6});
  CHECK(all.note == "\"the\" occurs at 0, 3 and 6: taking all of them (the#1 is the first)");
  const TokenChoices second = choose_tokens(text, "cat#2", "hide");
  CHECK(second.indices == Indices{7});
  CHECK(second.note.empty());
  CHECK(choose_tokens(text, "-2", "hide").indices == Indices{6});
  CHECK(choose_tokens(text, "saw", "hide").note.empty());
  CHECK_THROWS_AS(choose_tokens(text, "cow", "hide"), Error);
}

TEST_CASE("words of a text are found by the tokens that contain them, for any tokenizer") {
  using Indices = std::vector<std::size_t>;
  TokenizedText text{"The catfish saw the cat; the cat ran", {}};
  text.tokens = {{0, "<s>", 0, 0},    {1, "The", 0, 3},    {2, " cat", 3, 7},   {3, "fish", 7, 11},
                 {4, " saw", 11, 15}, {5, " the", 15, 19}, {6, " ca", 19, 22},  {7, "t;", 22, 24},
                 {8, " the", 24, 28}, {9, " cat", 28, 32}, {10, " ran", 32, 36}};
  const TokenChoices cats = tokens_of_words(text, "the cat", "hide");
  CHECK(cats.indices == Indices{5, 6, 7, 8, 9});
  CHECK(cats.note == "\"the cat\" is tokens 5, 6, 7, 8 and 9");
  CHECK(tokens_of_words(text, "cat", "hide").indices == Indices{6, 7, 9});  // not in catfish
  CHECK(tokens_of_words(text, " catfish ", "hide").indices == Indices{2, 3});
  CHECK(tokens_of_words(text, ";", "hide").note == "\";\" is token 7");
  CHECK_THROWS_WITH_AS(tokens_of_words(text, "dog", "hide"), "hide: the text does not say \"dog\"",
                       Error);
  CHECK_THROWS_AS(tokens_of_words(text, "", "hide"), Error);
  CHECK(tokens_of_words(make_tokenizer("chars")->tokenize("猫坐在垫"), "坐在", "hide").indices ==
        Indices{1, 2});
}

}  // namespace attnviz
