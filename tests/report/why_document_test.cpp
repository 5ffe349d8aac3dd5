#include "attnviz/report/why_document.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "attnviz/report/figures.h"
#include "support/sample_why.h"

namespace attnviz {

TEST_CASE("why: the lesson appears where attention and importance differ") {
  WhyDocument document = test::sample_why();
  CHECK(words_lesson(document) ==
        "Among the words that can be hidden, \"<s>\" gets the most attention (60 %), but hiding it "
        "changes ln p by +0.25. The prediction depends most on the word \"cat\": hiding it changes "
        "ln p by -2.00. It gets 30 % of the attention.");
  SUBCASE("the word with the most attention is the one that is needed") {
    document.words->at(1).attention = 0.7;
    CHECK(words_lesson(document).empty());
  }
  SUBCASE("no word is needed") {
    document.words->at(1).log_probability_change = 0.5;
    CHECK(words_lesson(document).empty());
  }
  SUBCASE("not requested") {
    document.words.reset();
    CHECK(words_lesson(document).empty());
  }
  SUBCASE("there is only one word, after which nothing can be lost") {
    document.words->resize(1);
    document.words->front().log_probability_change.reset();
    CHECK(words_lesson(document).empty());
  }
}

TEST_CASE("why: the map shows the loss without each head, around zero") {
  WhyDocument document = test::sample_why();
  const Heatmap lost = why_map(document);
  REQUIRE(lost.panels.size() == 1);
  CHECK(lost.panels[0].values(0, 0) == doctest::Approx(0.25));
  CHECK(lost.panels[0].values(0, 1) == doctest::Approx(-3.0));
  CHECK(lost.scale.low == -lost.scale.high);
  CHECK(lost.scale.high >= 3.0F);
  document.ablation.reset();
  const Heatmap written = why_map(document);
  CHECK(written.panels[0].values(0, 0) == doctest::Approx(-1.5));
  CHECK(written.panels[0].values(0, 1) == doctest::Approx(4.0));
  ScoreSplit score;
  score.query_parts = {{LogitPartKind::kEmbedding, 0, 0}};
  score.key_parts = {{LogitPartKind::kMlp, 1, 0}, {LogitPartKind::kBias, 0, 0}};
  score.products = {0.25, -2.0};
  document.split = WhyDocument::Split{{2, 1}, 2, 1, score};
  const Heatmap split = why_map(document);
  CHECK(split.query_labels == std::vector<std::string>{"embedding"});
  CHECK(split.key_labels == std::vector<std::string>{"MLP-1", "biases"});
  CHECK(split.panels[0].values(0, 1) == -2.0F);
  CHECK(split.scale.low == -2.0F);
}

TEST_CASE("head map: heads without a value have no cell, and positive values begin at 0") {
  const std::vector<HeadId> heads = {{1, 2}, {1, 3}, {2, 2}};
  const std::vector<std::optional<double>> values = {0.5, std::nullopt, 2.0};
  const Heatmap map = head_map(heads, values, "divergence");
  CHECK(map.first_query == 1);
  CHECK(map.first_key == 2);
  CHECK(map.query_labels == std::vector<std::string>{"L1", "L2"});
  CHECK(map.key_labels == std::vector<std::string>{"H2", "H3"});
  CHECK(map.panels[0].is_visible(0, 0));
  CHECK_FALSE(map.panels[0].is_visible(0, 1));
  CHECK(map.panels[0].is_visible(1, 0));
  CHECK_FALSE(map.panels[0].is_visible(1, 1));
  CHECK(map.panels[0].values(1, 0) == 2.0F);
  CHECK(map.scale.low == 0.0F);
  CHECK(map.scale.high == doctest::Approx(2.0F));
}

}  // namespace attnviz
