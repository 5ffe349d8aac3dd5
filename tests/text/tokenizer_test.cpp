#include "attnviz/text/tokenizer.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"

namespace attnviz {
namespace {

std::vector<std::string> pieces(std::string_view name, std::string_view text) {
  std::vector<std::string> out;
  for (const Token& token : make_tokenizer(name)->tokenize(text).tokens) {
    out.push_back(token.text);
  }
  return out;
}

using Strings = std::vector<std::string>;

struct Case {
  std::string_view text;
  Strings expected;
};

}  // namespace

TEST_CASE("words: Unicode words, punctuation marks on their own, no white space") {
  const Case cases[] = {
      {"The cat sat", {"The", "cat", "sat"}},
      {"  The\tcat\r\n\n sat \xC2\xA0", {"The", "cat", "sat"}},
      {"Hello, world!", {"Hello", ",", "world", "!"}},
      {"Wait... what?!", {"Wait", ".", ".", ".", "what", "?", "!"}},
      {"can't \"stop\"", {"can't", "\"", "stop", "\""}},
      {"it’s 3.14 or 1,000", {"it’s", "3.14", "or", "1,000"}},
      {"snake_case x=1", {"snake_case", "x", "=", "1"}},
      {"naïve cafe\u0301", {"naïve", "cafe\u0301"}},
      {"猫が座る", {"猫", "が", "座", "る"}},
      {"カタカナ", {"カタカナ"}},
      {"Привет, мир", {"Привет", ",", "мир"}},
      {"I 👩‍👩‍👧 you", {"I", "👩‍👩‍👧", "you"}},
      {"👍🏽🇩🇪🇫🇷", {"👍🏽", "🇩🇪", "🇫🇷"}},
      {"שלום עולם", {"שלום", "עולם"}},
      {"a\x1b[31mb", {"a", "\x1b", "[", "31mb"}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(pieces("words", c.text) == c.expected);
  }
}

TEST_CASE("chars: grapheme clusters, white space among them") {
  CHECK(pieces("chars", "a b\r\n") == Strings{"a", " ", "b", "\r\n"});
  CHECK(pieces("chars", "cafe\u0301") == Strings{"c", "a", "f", "e\u0301"});
  CHECK(pieces("chars", "👩‍👩‍👧🇩🇪🇫🇷") ==
        Strings{"👩‍👩‍👧", "🇩🇪", "🇫🇷"});
}

TEST_CASE("bytes: each byte is a token whose id is its value") {
  const TokenizedText text = make_tokenizer("bytes")->tokenize("é\xFF");
  REQUIRE(text.size() == 3);
  CHECK(text.tokens[0] == Token{0xC3, "\xC3", 0, 1});
  CHECK(text.tokens[1] == Token{0xA9, "\xA9", 1, 2});
  CHECK(text.tokens[2] == Token{0xFF, "\xFF", 2, 3});
}

TEST_CASE("invalid UTF-8 is kept: every bad byte is a token of its own") {
  CHECK(pieces("words", "a\xFF\xFE b") == Strings{"a", "\xFF", "\xFE", "b"});
  CHECK(pieces("words", "cat\xC3") == Strings{"cat", "\xC3"});
  CHECK(pieces("chars", "a\xFF\xE2\x82") == Strings{"a", "\xFF", "\xE2", "\x82"});
  CHECK(pieces("words", "\xED\xA0\x80") == Strings{"\xED", "\xA0", "\x80"});  // a surrogate
}

TEST_CASE("every token keeps its byte range in the source") {
  const std::string_view source = "Zoë\xFF  saw 猫, twice.\n";
  for (const std::string& name : tokenizer_names()) {
    CAPTURE(name);
    const TokenizedText text = make_tokenizer(name)->tokenize(source);
    CHECK(text.source == source);
    std::size_t last_end = 0;
    for (const Token& token : text.tokens) {
      CHECK(token.begin >= last_end);
      CHECK(token.text == source.substr(token.begin, token.end - token.begin));
      last_end = token.end;
    }
  }
}

TEST_CASE("ids without a vocabulary count pieces in order of first appearance") {
  const TokenizedText text = make_tokenizer("words")->tokenize("the cat the dog");
  CHECK(text.tokens[0].id == 0);
  CHECK(text.tokens[1].id == 1);
  CHECK(text.tokens[2].id == 0);
  CHECK(text.tokens[3].id == 2);
}

TEST_CASE("ids are the vocabulary's; unknown pieces are numbered after it") {
  const Strings vocabulary = {"cat", "the"};
  const TokenizedText text = make_tokenizer("words", vocabulary)->tokenize("the big cat, the");
  const std::vector<TokenId> expected = {1, 2, 0, 3, 1};
  REQUIRE(text.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(text.tokens[i].id == expected[i]);
  }
}

TEST_CASE("from_ids: words are joined by spaces, bytes by nothing") {
  const Strings vocabulary = {"cat", "the"};
  const TokenId ids[] = {1, 0};
  const TokenizedText words = make_tokenizer("words", vocabulary)->from_ids(ids);
  CHECK(words.source == "the cat");
  CHECK(words.tokens[1] == Token{0, "cat", 4, 7});

  const TokenId letters[] = {'H', 'i'};
  CHECK(make_tokenizer("bytes")->from_ids(letters).source == "Hi");
}

TEST_CASE("from_ids: ids outside the vocabulary and tokenizers without one are usage errors") {
  const TokenId ids[] = {256};
  CHECK_THROWS_WITH_AS(make_tokenizer("bytes")->from_ids(ids),
                       "token id 256: expected 0 to 255, the vocabulary's last", Error);
  CHECK_THROWS_AS(make_tokenizer("words")->from_ids(ids), Error);
}

TEST_CASE("empty and blank texts have no words") {
  CHECK(pieces("words", "").empty());
  CHECK(pieces("words", " \t\n\u3000\u2028").empty());
  CHECK(pieces("chars", "").empty());
}

TEST_CASE("an unknown tokenizer is a usage error with a suggestion") {
  CHECK_THROWS_WITH_AS(
      make_tokenizer("word"),
      "tokenizer \"word\": expected words, chars or bytes (did you mean \"words\"?)", Error);
}

TEST_CASE("a long text is cut in linear time") {
  std::string text;
  for (int i = 0; i < 200000; ++i) {
    text += "word ";
  }
  CHECK(make_tokenizer("words")->tokenize(text).size() == 200000);
}

}  // namespace attnviz
