#include "attnviz/text/token_choice.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "attnviz/core/error.h"

namespace attnviz {
namespace {

// One token per character; capitals are added by the tokenizer.
TokenizedText text_of(std::string_view characters) {
  TokenizedText text{std::string(characters), {}};
  for (std::size_t i = 0; i < characters.size(); ++i) {
    Token token{0, std::string(1, characters[i]), i, i + 1};
    token.added = characters[i] < 'a';
    text.tokens.push_back(token);
  }
  return text;
}

std::string cut(std::string_view characters, std::size_t most, TruncateSide side) {
  const TokenizedText text = truncated(text_of(characters), most, side);
  CHECK(text.source == characters);
  std::string left;
  for (const Token& token : text.tokens) {
    CHECK(characters.substr(token.begin, token.end - token.begin) == token.text);
    left += token.text;
  }
  return left;
}

constexpr auto kLeft = TruncateSide::kLeft;
constexpr auto kRight = TruncateSide::kRight;

}  // namespace

TEST_CASE("truncated: the requested side is removed, and added tokens stay") {
  CHECK(cut("abcde", 3, kLeft) == "cde");
  CHECK(cut("abcde", 3, kRight) == "abc");
  CHECK(cut("BabcdeE", 4, kLeft) == "BdeE");
  CHECK(cut("BabcdeE", 4, kRight) == "BabE");
  CHECK(cut("BabE", 2, kRight) == "BE");
}

TEST_CASE("truncated: a text that fits is unchanged") {
  CHECK(cut("abc", 3, kLeft) == "abc");
  CHECK(cut("", 0, kLeft).empty());
}

TEST_CASE("truncated: in a pair the longer text is cut first, then the second") {
  CHECK(cut("CabcdeSfgS", 9, kRight) == "CabcdSfgS");
  CHECK(cut("CabcdeSfgS", 7, kRight) == "CabSfgS");
  CHECK(cut("CabcdeSfgS", 6, kRight) == "CabSfS");
  CHECK(cut("CabSScdefS", 7, kLeft) == "CabSSfS");
}

TEST_CASE("truncated: added tokens that do not fit are refused") {
  CHECK_THROWS_WITH_AS(truncated(text_of("BabE"), 1, kRight),
                       "the tokenizer adds 2 tokens, more than the 1 that fit", Error);
}

}  // namespace attnviz
