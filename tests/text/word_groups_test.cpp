#include "attnviz/text/word_groups.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tiny_tokenizers.h"

namespace attnviz {
namespace {

using Numbers = std::vector<std::size_t>;

// "<s>", "It", "'s", " sun", "ny", ",", " ", "\xF0\x9F", "\x98\x80", "</s>"
TokenizedText sample() {
  TokenizedText text{"It's sunny,  😀", {}};
  text.tokens = {{1, "<s>", 0, 0, true},   {3, "It", 0, 2},          {4, "'s", 2, 4},
                 {5, " sun", 4, 8},        {6, "ny", 8, 10},         {7, ",", 10, 11},
                 {8, " ", 11, 12},         {9, " \xF0\x9F", 12, 15}, {10, "\x98\x80", 15, 17},
                 {2, "</s>", 17, 17, true}};
  return text;
}

}  // namespace

TEST_CASE("word_numbers: pieces of a Unicode word share a number, all else stands alone") {
  CHECK(word_numbers(sample()) == Numbers{0, 1, 1, 2, 2, 3, 4, 5, 5, 6});
  CHECK(word_numbers({}).empty());
}

TEST_CASE("merged_words: a word says what stands in the source, and has the first piece's id") {
  const TokenizedText text = sample();
  CHECK(test::described(merged_words(text, word_numbers(text))) ==
        "1=<s>[0,0)! 3=It's[0,4) 5= sunny[4,10) 7=,[10,11) 8= [11,12) 9= 😀[12,17) "
        "2=</s>[17,17)!");
}

TEST_CASE(
    "word_numbers: a space that is a piece of its own goes to its word where others carry it") {
  TokenizedText text{"to play outside", {}};
  text.tokens = {
      {1, "to", 0, 2}, {2, " play", 2, 7}, {3, " ", 7, 8}, {4, "out", 8, 11}, {5, "side", 11, 15}};
  CHECK(word_numbers(text) == Numbers{0, 1, 2, 2, 2});
  CHECK(merged_words(text, word_numbers(text)).tokens.back().text == " outside");
  text.tokens[1] = {2, "play", 3, 7};
  CHECK(word_numbers(text) == Numbers{0, 1, 2, 3, 3});
}

TEST_CASE("merged_words: words of a lower-case tokenizer are as the source writes them") {
  TokenizedText text{"Café au", {}};
  text.tokens = {{1, "caf", 0, 3}, {2, "##e", 3, 5}, {3, "au", 6, 8}};
  CHECK(test::described(merged_words(text, word_numbers(text))) == "1=Café[0,5) 3=au[6,8)");
}

}  // namespace attnviz
