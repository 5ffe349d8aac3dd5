#include "attnviz/report/why_document.h"

#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "attnviz/report/words/number_formats.h"
#include "attnviz/text/tokenizer.h"
#include "support/screen_text.h"

namespace attnviz {
namespace {

using test::contains;

// The tokens of each sentence, one after the other.
std::vector<std::string> tokens_of(const CiteDocument& document, const TokenizedText& prompt) {
  std::vector<std::string> all;
  for (const IndexRange& span : spans_of(document)) {
    std::string one;
    for (std::size_t i = span.first; i < span.end; ++i) {
      one += prompt.tokens[i].text + "/";
    }
    all.push_back(one);
  }
  return all;
}

// One text of sentences; hiding each changes ln p by the given amount.
CiteDocument with_changes(const std::vector<std::optional<double>>& changes,
                          std::optional<double> without_all) {
  CiteDocument document;
  CitedText text{.name = "a.md", .text = ""};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    CitedSentence sentence;
    sentence.begin = text.text.size();
    text.text += "Line.\n";
    sentence.end = text.text.size() - 1;
    sentence.line = i + 1;
    sentence.effect.log_probability_change = changes[i];
    text.sentences.push_back(sentence);
  }
  document.documents.push_back(text);
  document.change_without_all = without_all;
  return document;
}

}  // namespace

TEST_CASE("question_prompt: documents under their names, then the question") {
  std::vector<CitedText> documents = {{.name = "a.md", .text = "One. Two."},
                                      {.name = "b", .text = "Three"}};
  const std::string prompt = question_prompt(documents, "Why?");
  CHECK(prompt == "a.md:\nOne. Two.\n\nb:\nThree\n\nQuestion: Why?\nAnswer:");
  for (const CitedText& document : documents) {
    CHECK(prompt.substr(document.begin, document.text.size()) == document.text);
  }
}

TEST_CASE("cut_into_sentences: each token counts for the sentence that contains its word") {
  CiteDocument document;
  document.documents = {{.name = "a", .text = " One two.\n\n Four! 五六。七"},
                        {.name = "b", .text = "Last"}};
  const std::string text = question_prompt(document.documents, "Q. R?");
  const TokenizedText chars = make_tokenizer("chars")->tokenize(text);
  cut_into_sentences(document.documents, chars, 0);
  CHECK(tokens_of(document, chars) == std::vector<std::string>{"O/n/e/ /t/w/o/./\n/\n/ /",
                                                               "F/o/u/r/!/ /", "五/六/。/", "七/",
                                                               "L/a/s/t/"});
  CHECK(document.documents[0].sentences[1].line == 3);
  CHECK(document.documents[0].sentences[1].column == 2);
  CHECK(document.begin_at({0, 2}) == ":3:8");
  CHECK(document.begin_at({0, 3}) == ":3:11");  // characters, not bytes
  CHECK(document.text_at({0, 2}) == "五六。");
  const TokenizedText words = make_tokenizer("words")->tokenize(text);
  cut_into_sentences(document.documents, words, 1);
  CHECK(tokens_of(document, words).front() == "One/");
  CHECK(tokens_of(document, words)[1] == "two/./");

  // " Tw" begins with white space of the previous sentence; "o.F" contains the beginning of the
  // next.
  CiteDocument odd;
  odd.documents = {{.name = "a", .text = "Go. Two.F. End"}};
  TokenizedText pieces{odd.documents[0].text, {}};
  for (const auto& [begin, end] :
       {std::pair<std::size_t, std::size_t>{0, 0}, {0, 3}, {3, 6}, {6, 9}, {9, 10}, {10, 14}}) {
    Token token;
    token.text = odd.documents[0].text.substr(begin, end - begin);
    token.begin = begin;
    token.end = end;
    token.added = end == 0;
    pieces.tokens.push_back(token);
  }
  cut_into_sentences(odd.documents, pieces, 0);
  CHECK(tokens_of(odd, pieces) == std::vector<std::string>{"Go./", " Tw/o.F/./", " End/"});

  // A prompt that was cut at its beginning: the rest of the first sentence.
  pieces.tokens.erase(pieces.tokens.begin() + 1, pieces.tokens.begin() + 3);
  cut_into_sentences(odd.documents, pieces, 0);
  CHECK(odd.documents[0].sentences.size() == 2);
  CHECK(odd.text_at({0, 0}) == "o.F.");
  CHECK(odd.begin_at({0, 0}) == ":1:7");
}

TEST_CASE("cut_into_sentences: a sentence inside of a token belongs to the one before it") {
  CiteDocument document;
  document.documents = {{.name = "a", .text = "A. B. C"}};
  TokenizedText pieces{"A. B. C", {}};
  for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{0, 5}, {5, 7}}) {
    Token token;
    token.begin = begin;
    token.end = end;
    pieces.tokens.push_back(token);
  }
  cut_into_sentences(document.documents, pieces, 0);
  REQUIRE(document.documents[0].sentences.size() == 2);
  CHECK(document.text_at({0, 0}) == "A. B.");
  CHECK(document.text_at({0, 1}) == "C");
}

TEST_CASE("factor_words: a factor in two digits") {
  CHECK(factor_words(-std::log(1234.0)) == "÷ 1,200");
  CHECK(factor_words(std::log(2.0)) == "× 2.0");
  CHECK(factor_words(-std::log(15.4)) == "÷ 15");
  CHECK(factor_words(-std::log(2e7)) == "÷ 10^7");
  CHECK(factor_words(-1e4) == "÷ 10^4343");
  CHECK(factor_words(0.0) == "same");
  CHECK(factor_words(-0.01) == "same");
  CHECK(probability_words(-std::log(1234.0)) == "1,200 times less probable");
  CHECK(probability_words(std::log(2.0)) == "2.0 times as probable");
  CHECK(probability_words(0.01) == "about as probable");
}

TEST_CASE("a conclusion says which sentence matters most, or that none does") {
  const CiteDocument one = with_changes({-0.1, -std::log(50.0), 0.2}, -std::log(100.0));
  CHECK(one.ranked().front().sentence == 1);
  CHECK(one.ranked().back().sentence == 2);
  CHECK(cite_conclusion(one) ==
        "The answer rests most on a.md:2:1, \"Line.\": hiding it makes the answer 50 times less "
        "probable. 1 of 3 sentences matters (a sentence matters if hiding it makes the answer at "
        "least 2 times less probable); hiding all 3 makes it 100 times less probable.");
  const std::string several = cite_conclusion(with_changes({-0.3, -0.4}, -std::log(30.0)));
  CHECK(contains(several, "No single sentence matters"));
  CHECK(contains(several, "Hiding all of them makes it 30 times less probable"));
  const std::string none = cite_conclusion(with_changes({-0.3, 4.0}, 0.0));
  CHECK(contains(none, "No sentence matters"));
  CHECK(contains(none, "about as probable"));
  CiteDocument cut = one;
  cut.span_words = 2;
  CHECK(contains(cite_conclusion(cut), "1 of 3 spans matters"));
}

TEST_CASE("sentences that cannot be hidden come last, and never matter") {
  const CiteDocument document = with_changes({std::nullopt, 2.0, -3.0}, -3.0);
  std::vector<std::size_t> order;
  for (const CiteDocument::Place& ranked : document.ranked()) {
    order.push_back(ranked.sentence);
  }
  CHECK(order == std::vector<std::size_t>{2, 1, 0});
  CHECK_FALSE(document.matters(std::nullopt));
  CHECK(contains(cite_conclusion(document), "1 of 3 sentences matters"));
  CHECK(contains(cite_conclusion(with_changes({std::nullopt}, std::nullopt)), "is unknown"));
}

}  // namespace attnviz
