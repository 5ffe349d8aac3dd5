#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/text/units.h"
#include "support/failure.h"
#include "tiny_tokenizers.h"

namespace attnviz {

namespace {

using Numbers = std::vector<std::size_t>;

// Two messages, followed by the beginning of the answer; one token per character, except for
// special tokens.
TokenizedText chat() {
  TokenizedText text{"<s>[u]A b.\nC?[a]D.[a]", {}};
  text.turns = {{0, 3, 13, "user"}, {1, 13, 18, "assistant"}};
  text.tokens.push_back({1, "<s>", 0, 3, true});
  for (std::size_t at = 3; at < text.source.size(); ++at) {
    text.tokens.push_back({2, text.source.substr(at, 1), at, at + 1});
  }
  return text;
}

std::vector<std::string> pieces(const FoldedText& folded) {
  const auto views = folded.text.pieces();
  return {views.begin(), views.end()};
}

}  // namespace

TEST_CASE("turns: among tens of thousands each token finds its own without delay") {
  TokenizedText text;
  constexpr std::size_t kTurns = 40'000;
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    const std::size_t at = text.source.size();
    text.source += "a b.";
    text.turns.push_back({turn, at, at + 3, "user"});
    for (std::size_t i = at; i < at + 4; ++i) {
      text.tokens.push_back({2, text.source.substr(i, 1), i, i + 1});
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto turns = turn_of_tokens(text);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  CHECK(seconds.count() < 5.0);
  CHECK(turns.front() == 0);
  CHECK(turns[3] == std::nullopt);
  CHECK(turns[4 * kTurns - 2] == kTurns - 1);
  CHECK(turns.back() == std::nullopt);
}

TEST_CASE("folded by turns: one token per turn, named after its role, and the text between them") {
  const FoldedText folded = attnviz::folded(chat(), Fold::kTurns);
  CHECK(pieces(folded) == std::vector<std::string>{"<s>", "user", "assistant", "[a]"});
  CHECK(folded.numbers == Numbers{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3});
  CHECK(token_turns(chat()) ==
        std::vector<TokenTurn>{{{}, 0, 1}, {"user", 1, 11}, {"assistant", 11, 16}, {{}, 16, 19}});
  CHECK(token_turns(folded.text) ==
        std::vector<TokenTurn>{{{}, 0, 1}, {"user", 1, 2}, {"assistant", 2, 3}, {{}, 3, 4}});
}

TEST_CASE(
    "folded by turns: generated tokens stay separate, and so do those added by the tokenizer") {
  TokenizedText text = chat();
  text.source += "E";
  text.tokens.push_back({2, "E", text.source.size() - 1, text.source.size()});
  text.tokens.back().generated = true;
  text.tokens.insert(text.tokens.begin(), Token{1, "<s>", 0, 0, true, 0, true});
  CHECK(pieces(folded(text, Fold::kTurns)) ==
        std::vector<std::string>{"<s>", "user", "assistant", "[a]", "E"});
}

TEST_CASE("folded by turns: a role that occurs again is numbered") {
  TokenizedText text = chat();
  text.turns[1].role = "user";
  CHECK(turn_names(text) == std::vector<std::string>{"user", "user#2"});
}

TEST_CASE("folded by lines and sentences: they end with their turn; special tokens stay alone") {
  CHECK(pieces(folded(chat(), Fold::kLines)) ==
        std::vector<std::string>{"<s>", "[u]A b.\n", "C?", "[a]D.", "[a]"});
  CHECK(pieces(folded(chat(), Fold::kSentences)) ==
        std::vector<std::string>{"<s>", "[u]A b.\n", "C?", "[a]D.", "[a]"});
}

TEST_CASE("folded by sentences: a piece with a space in front begins the sentence of its letters") {
  TokenizedText text{"One. Two.", {}};
  text.tokens = {{1, "One", 0, 3}, {2, ".", 3, 4}, {3, " Two", 4, 8}, {2, ".", 8, 9}};
  CHECK(pieces(folded(text, Fold::kSentences)) == std::vector<std::string>{"One.", " Two."});
  CHECK(pieces(folded(text, Fold::kLines)) == std::vector<std::string>{"One. Two."});
}

TEST_CASE("folded: turns of a text that is not a chat are refused") {
  const TokenizedText text{"a", {{1, "a", 0, 1}}};
  const auto failure = test::failure_of([&text] { folded(text, Fold::kTurns); });
  CHECK(failure.kind == ErrorKind::kUsage);
  CHECK(failure.message == "turns: the text is not a chat");
}

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

TEST_CASE("word_numbers: pieces of a Unicode word share a number, all else is separate") {
  CHECK(word_numbers(sample()) == Numbers{0, 1, 1, 2, 2, 3, 4, 5, 5, 6});
  CHECK(word_numbers({}).empty());
}

TEST_CASE("merged_words: a word has the source's text, and the first piece's id") {
  const TokenizedText text = sample();
  CHECK(test::described(merged_words(text, word_numbers(text))) ==
        "1=<s>[0,0)! 3=It's[0,4) 5= sunny[4,10) 7=,[10,11) 8= [11,12) 9= 😀[12,17) "
        "2=</s>[17,17)!");
}

TEST_CASE("word_numbers: a separate space piece joins its word if other pieces include spaces") {
  TokenizedText text{"to play outside", {}};
  text.tokens = {
      {1, "to", 0, 2}, {2, " play", 2, 7}, {3, " ", 7, 8}, {4, "out", 8, 11}, {5, "side", 11, 15}};
  CHECK(word_numbers(text) == Numbers{0, 1, 2, 2, 2});
  CHECK(merged_words(text, word_numbers(text)).tokens.back().text == " outside");
  text.tokens[1] = {2, "play", 3, 7};
  CHECK(word_numbers(text) == Numbers{0, 1, 2, 3, 3});
}

TEST_CASE("merged_words: words of a lower-case tokenizer are spelled as in the source") {
  TokenizedText text{"Café au", {}};
  text.tokens = {{1, "caf", 0, 3}, {2, "##e", 3, 5}, {3, "au", 6, 8}};
  CHECK(test::described(merged_words(text, word_numbers(text))) == "1=Café[0,5) 3=au[6,8)");
}

}  // namespace attnviz
