#include "attnviz/report/figures.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "attnviz/report/json/document_json.h"
#include "support/naive.h"
#include "support/sample_overview.h"

namespace attnviz {
namespace {

std::string sentence_of(const AttentionDocument& document) {
  return choice_sentence(document, most_informative_head(document).value());
}

}  // namespace

TEST_CASE("overview: the grid has a row for each layer and a column for each number of a head") {
  const OverviewGrid grid({{2, 0}, {2, 5}, {4, 5}, {9, 1}});
  CHECK(grid.layers == std::vector<std::size_t>{2, 4, 9});
  CHECK(grid.heads == std::vector<std::size_t>{0, 1, 5});
  CHECK(grid.row({9, 1}) == 2);
  CHECK(grid.column({9, 1}) == 1);
  CHECK(grid.column({4, 5}) == 2);
}

TEST_CASE("overview: layers without attention are blank between rows, consecutive ones together") {
  AttentionDocument document;
  for (const std::size_t layer : {0u, 1u, 3u, 4u, 7u}) {
    document.run.layers.push_back({.layer = layer, .mixer = MixerKind::kMamba2});
  }
  document.run.layers[3].mixer = MixerKind::kNone;
  document.run.layers.insert(document.run.layers.begin() + 2, {.layer = 2, .window = 5});
  const std::vector<BlankLayers> blanks = blank_layers(document, {2, 5, 6});
  REQUIRE(blanks.size() == 3);
  CHECK(blanks[0].numbers() == "0-1");
  CHECK(blanks[0].row == 0);
  CHECK(blanks[0].name == "Mamba-2");
  CHECK(blanks[1].numbers() == "3-4");
  CHECK(blanks[1].row == 1);
  CHECK(blanks[1].name == "Mamba-2 and MLP");
  CHECK(blanks[2].numbers() == "7");
  CHECK(blanks[2].row == 3);
}

TEST_CASE("overview: all heads small, the chosen one large, and the facts say which and why") {
  const test::SampleOverview sample(3, 5, 12);
  const Overview overview = sample.overview();
  CHECK(overview.chosen == HeadId{1, 1});
  CHECK(overview.heads.size() == 15);
  CHECK(overview.thumbnails.panels.size() == 15);
  CHECK(overview.thumbnails.title == "attention: deep");
  CHECK(overview.thumbnails.notes.empty());
  REQUIRE(overview.large.panels.size() == 1);
  CHECK(overview.large.panels[0].title.empty());
  CHECK(overview.large.panels[0].values(8, 4) == 0.75f);
  CHECK(overview.large.title.empty());
  CHECK(overview.large.notes.empty());
  CHECK(overview.caption == "L1H1: the most informative head");
}

TEST_CASE("overview: the sentence gives the share, the kind of token, and the clearest example") {
  const test::SampleOverview sample(2, 7, 12);
  const std::string spread = sentence_of(sample.document);
  CHECK(spread.starts_with(
      "What a token attends to here depends on the words, not only on positions: for example, "));
  CHECK(
      spread.ends_with(". On average, a token puts 75 % of its attention on a single word other "
                       "than the first token, the token itself and its neighbours."));
  AttentionDocument document = sample.document;
  document.query_tokens[11] = " it";
  document.query_tokens[5] = "\u2581cat";
  document.key_tokens = document.query_tokens;
  InformativeHead choice = most_informative_head(document).value();
  choice.query = 11;
  choice.key = 5;
  choice.weight = 0.874f;
  choice.evidence = Evidence::kPronoun;
  CHECK(choice_sentence(document, choice) ==
        R"(The pronoun "it" (11) puts 87 % of its attention on "cat" (5).)");
  choice.evidence = Evidence::kRepetition;
  CHECK(choice_sentence(document, choice) ==
        R"("it" (11) occurred before; it puts 87 % of its attention on "cat" (5), which followed )"
        R"(it there.)");
  choice.evidence = Evidence::kContinuation;
  CHECK(choice_sentence(document, choice) ==
        R"(The text continues after "it" (11), which puts 87 % of its attention on "cat" (5).)");
  CHECK(choice_remark(document, choice) ==
        R"(L1H1 is the most informative head. The text continues after "it" (11), which puts 87 % )"
        R"(of its attention on "cat" (5).)");
  choice.evidence = Evidence::kScore;
  CHECK(choice_sentence(document, choice)
            .starts_with(
                R"(What a token attends to here depends on the words, not only on positions: for )"
                R"(example, "it" (11) puts 87 % of its attention on "cat" (5). )"));
}

TEST_CASE("overview: a sentence says that no head stands out, or that the text is too short") {
  const test::SampleOverview sample(2, 1, 9);  // without L1H1 all heads look at the first token
  const Overview sinks = sample.overview();
  CHECK(sinks.chosen == HeadId{0, 0});
  CHECK(sinks.sentence.starts_with("No head stands out: "));
  for (const std::size_t n : {1u, 2u, 3u}) {
    const Overview overview = test::SampleOverview(2, 7, n).overview();
    CHECK(overview.chosen == HeadId{0, 0});
    CHECK(overview.caption == "L0H0: the first head");
    CHECK(overview.sentence == "The text is too short to find the most informative head.");
  }
}

TEST_CASE("overview: values that are not weights have no most informative head") {
  const std::vector<float> scores = {0.5f, -0.5f, 0.2f, 0.1f};
  const std::vector<float> nan = {0.5f, std::numeric_limits<float>::quiet_NaN(), 0.2f, 0.1f};
  for (const auto* values : {&scores, &nan}) {
    AttentionDocument document;
    document.query_tokens = document.key_tokens = {"a", "b"};
    document.patterns.push_back({{0, 0}, test::matrix_over(*values, 2, 2)});
    CHECK_FALSE(most_informative_head(document).has_value());
  }
  AttentionDocument with_sink;
  with_sink.query_tokens = with_sink.key_tokens = {"a", "b"};
  const std::vector<float> weights = {0.5f, 0.0f, 0.25f, 0.25f};
  with_sink.patterns.push_back({{0, 0}, test::matrix_over(weights, 2, 2)});
  with_sink.patterns.front().sink = {0.5f, 0.5f};
  CHECK(most_informative_head(with_sink).has_value());
  with_sink.patterns.front().sink = {0.5f, 3e38f};
  CHECK_FALSE(most_informative_head(with_sink).has_value());
}

TEST_CASE(
    "most_informative_head: a pronoun that looks at a word, then a word that looks at what "
    "followed it") {
  // Two heads of layer 1 that look at the first token, except for one query each.
  AttentionDocument document;
  document.run.mask = Mask{MaskKind::kCausal};
  document.query_tokens = {"^", " Anna", " met", " Tom", " and", " then", " Anna", ",", " she"};
  document.key_tokens = document.query_tokens;
  const std::size_t n = document.query_tokens.size();
  std::vector<std::vector<float>> values(2, std::vector<float>(n * n));
  const auto look = [&](std::size_t head, std::size_t query, std::size_t key, float weight) {
    std::fill(values[head].begin(), values[head].end(), 0.0f);
    for (std::size_t i = 0; i < n; ++i) {
      values[head][i * n] = 1.0f;
    }
    values[head][query * n] = 1.0f - weight;
    values[head][query * n + key] = weight;
  };
  document.patterns = {{{1, 0}, test::matrix_over(values[0], n, n)},
                       {{1, 1}, test::matrix_over(values[1], n, n)}};
  const auto evidence = [&] { return most_informative_head(document)->evidence; };
  const auto head = [&] { return most_informative_head(document)->head; };
  look(0, 6, 2, 0.9f);  // Anna, met
  look(1, 8, 3, 0.8f);  // she, Tom
  CHECK(head() == HeadId{1, 1});
  CHECK(evidence() == Evidence::kPronoun);
  look(1, 8, 4, 0.95f);  // "and" is not a word that "she" can stand for
  CHECK(head() == HeadId{1, 0});
  CHECK(evidence() == Evidence::kRepetition);
  look(0, 6, 3, 0.9f);  // not the token that followed
  CHECK(evidence() == Evidence::kScore);
  look(0, 6, 2, 0.5f);  // too little above its baseline
  CHECK(evidence() == Evidence::kScore);
  look(0, 6, 2, 0.9f);
  document.key_tokens[8] = "other";  // not one text
  CHECK(evidence() == Evidence::kScore);
}

TEST_CASE("most_informative_head: the last token counts if the text continues after it") {
  AttentionDocument document;
  document.run.mask = Mask{MaskKind::kCausal};
  document.query_tokens = {"^", " The", " cup", " broke", " because", " it", " fell", ".", " The"};
  const std::size_t n = document.query_tokens.size();
  std::vector<float> weights(n * n);
  for (std::size_t query = 0; query < n; ++query) {
    weights[query * n] = 1.0f;
  }
  weights[8 * n] = 0.1f;
  weights[8 * n + 2] = 0.9f;
  document.patterns = {{{1, 0}, test::matrix_over(weights, n, n)}};
  const auto evidence_of_last = [&](const char* last) {
    document.query_tokens[8] = last;
    document.key_tokens = document.query_tokens;
    return most_informative_head(document)->evidence;
  };
  CHECK(evidence_of_last(" The") == Evidence::kContinuation);
  CHECK(evidence_of_last("\u2581to") == Evidence::kContinuation);
  CHECK(evidence_of_last(" sad") == Evidence::kScore);  // the sentence may end there
  CHECK(evidence_of_last(".") == Evidence::kScore);
  CHECK(evidence_of_last(" She") == Evidence::kPronoun);
  document.run.mask = Mask{MaskKind::kNone};  // an encoder continues no text
  CHECK(evidence_of_last(" The") == Evidence::kScore);
}

TEST_CASE("choice_sentence: with the measured names of a head") {
  test::SampleOverview sample(2, 2, 6);
  const InformativeHead choice = most_informative_head(sample.document).value();
  const std::string plain = choice_sentence(sample.document, choice);
  sample.document.model.emplace().named_heads = {{choice.head.layer, choice.head.head, "induction"},
                                                 {9, 9, "sink"}};
  CHECK(choice_sentence(sample.document, choice) ==
        plain +
            " In a test on repeated random tokens this head behaves as an induction head: it "
            "looks at what followed earlier copies of the token.");
}

TEST_CASE("choice_sentence: one query alone has no average") {
  const test::SampleOverview sample(2, 2, 12);
  InformativeHead choice = *most_informative_head(sample.document);
  choice.n_counted = 1;
  choice.query = 9;
  choice.key = 4;
  choice.weight = 0.75f;
  const std::string sentence = choice_sentence(sample.document, choice);
  CHECK(sentence.find("average") == std::string::npos);
  CHECK(sentence.find(" 75 % of its attention ") != std::string::npos);
}

TEST_CASE("choice_sentence: weights scaled up by dropout are given as before dropout") {
  test::SampleOverview sample(2, 2, 12);
  InformativeHead choice = *most_informative_head(sample.document);
  choice.weight = 1.25f;
  sample.document.run.dropout = 0.2f;
  const std::string sentence = choice_sentence(sample.document, choice);
  CHECK(sentence.find(" 100 % ") != std::string::npos);
  CHECK(sentence.find("before dropout") != std::string::npos);
}

TEST_CASE(
    "most_informative_head: a column visible to few queries of a window still counts as one") {
  constexpr std::size_t kTokens = 160;
  constexpr std::size_t kWindow = 32;
  test::SampleOverview sample(3, 2, kTokens);
  for (std::size_t i = 0; i < kTokens; ++i) {  // no repeated word
    sample.document.query_tokens[i] = sample.document.key_tokens[i] = "word" + std::to_string(i);
  }
  std::vector<float>& column = sample.values[2];
  std::vector<float>& words = sample.values[5];
  for (const std::size_t pattern : {2u, 3u, 5u}) {
    std::fill(sample.values[pattern].begin(), sample.values[pattern].end(), 0.0f);
  }
  for (std::size_t query = 0; query < kTokens; ++query) {
    // Every other query, as consecutive ones would count little.
    column[query * kTokens + (query % 2 == 0 ? query / kWindow * kWindow : 0)] = 1.0f;
    words[query * kTokens] = 0.75f;
    words[query * kTokens + (query < 4 ? 0 : query * 37 % 101 % (query - 2))] += 0.25f;
  }
  CHECK(most_informative_head(sample.document)->head ==
        HeadId{1, 0});  // as if visible to all queries
  sample.document.run.layers = {{.layer = 1, .window = kWindow}};
  CHECK(most_informative_head(sample.document)->head == HeadId{2, 1});
}

}  // namespace attnviz
