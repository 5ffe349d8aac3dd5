#include "attnviz/report/heads_document.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "support/sample_heads.h"

namespace attnviz {
namespace {

using Indices = std::vector<std::size_t>;
using Names = std::vector<std::string_view>;

HeadsDocument four_heads(ScoreSource source) {
  return test::heads_document(std::move(source),
                              {{{0, 0}, {{Score::kPrevious, 0.2}, {Score::kSinkAlpha, 0.31}}},
                               {{0, 2}, {{Score::kPrevious, 0.8}, {Score::kSelf, 0.1}}},
                               {{1, 1}, {{Score::kInduction, 0.9}, {Score::kPrevious, 0.4}}},
                               {{2, 0}, {{Score::kSelf, 0.5}, {Score::kSinkAlpha, 0.3}}}});
}

}  // namespace

TEST_CASE("heads: the title names the scores and their input") {
  HeadsDocument document = four_heads(test::one_probe());
  CHECK(heads_title(document) ==
        "attention, 4 heads on 1 sequence (34 random tokens 3 times; seed 42)");
  document.model.emplace().name = "tiny";
  CHECK(heads_title(document) == "tiny, 4 heads on 1 sequence (34 random tokens 3 times; seed 42)");
  document.source = ProbeSource{{}, true, std::vector<TokenizedText>(2)};
  CHECK(heads_title(document) == "tiny, 4 heads on 2 sequences given by ids");
  document.source = CorpusSource{3};
  CHECK(heads_title(document) == "tiny, 4 heads on 3 texts");
  document.model.reset();
  document.source = FileSource{"a.npy", 7};
  CHECK(heads_title(document) == "a.npy, 4 heads on a pattern of 7 tokens");
}

TEST_CASE("heads: on probes the best identified heads come first, elsewhere none is identified") {
  const HeadsDocument probed = four_heads(test::one_probe());
  CHECK(probed.names(0) == Names{});
  CHECK(probed.names(1) == Names{"previous-token"});
  CHECK(probed.names(2) == Names{"previous-token", "induction"});
  // 0.9 with a threshold of 0.3, 0.8 with 0.4, 0.5 with 0.6, 0.31 with 0.4
  CHECK(ranked_heads(probed, {}) == Indices{2, 1, 3, 0});
  const HeadsDocument read = four_heads(FileSource{"a.json", 9});
  CHECK(read.names(2) == Names{});
  CHECK(ranked_heads(read, {}) == Indices{0, 1, 2, 3});
}

TEST_CASE("heads: no names on short probes, nor where uniform attention comes near the threshold") {
  HeadsDocument document = four_heads(test::one_probe());
  document.uniform = test::score_values({{Score::kPrevious, 0.082}, {Score::kInduction, 0.0785}});
  CHECK(document.names(1) == Names{});  // random heads have up to 0.081
  CHECK(document.names(2) == Names{"induction"});
  CHECK(largest_words(document, Score::kInduction) ==
        "the largest: head 1.1 with 0.9; a head that spreads its attention evenly has 0.0785; "
        "induction: from 0.3");
  CHECK(largest_words(document, Score::kPrevious) ==
        "the largest: head 0.2 with 0.8; a head that spreads its attention evenly has 0.082");
  std::get<ProbeSource>(document.source).texts.front().tokens.resize(99);
  CHECK(document.names(2) == Names{});
  CHECK_FALSE(document.is_like_random());
  std::get<ProbeSource>(document.source).texts.resize(4);
  CHECK(document.is_like_random());
}

TEST_CASE("heads: why a head is not identified: short sequences, chance, no visible target") {
  HeadsDocument document = test::heads_document(test::one_probe(), {{{0, 0},
                                                                     {{Score::kPrevious, 0.9},
                                                                      {Score::kSelf, 0.1},
                                                                      {Score::kSinkAlpha, 0.5},
                                                                      {Score::kDuplicate, 0.1},
                                                                      {Score::kInduction, 0.1}}}});
  CHECK(random_baseline_note(document).empty());
  document.uniform = test::score_values({{Score::kPrevious, 0.1}, {Score::kSinkAlpha, 0.3}});
  CHECK(random_baseline_note(document) ==
        "not judged here: previous-token and sink (so few keys are visible that a head that "
        "spreads its attention evenly scores as high as the best head with random weights)");
  HeadsDocument blind = test::heads_document(
      test::one_probe(),
      {{{0, 0}, {{Score::kPrevious, 0.9}, {Score::kSelf, 0.1}, {Score::kSinkAlpha, 0.5}}}});
  CHECK(random_baseline_note(blind) ==
        "not judged here: duplicate-token and induction (the tokens that these heads look for are "
        "not visible)");
  std::get<ProbeSource>(document.source).texts.front().tokens.resize(99);
  CHECK(random_baseline_note(document).find("100 tokens") != std::string::npos);
  document.source = CorpusSource{1};
  CHECK(random_baseline_note(document).find("only on random tokens") != std::string::npos);
}

TEST_CASE("heads: ranked by one score, heads without it come last, and limits filter") {
  const HeadsDocument document = four_heads(CorpusSource{1});
  CHECK(ranked_heads(document, {Score::kPrevious, {}}) == Indices{1, 2, 0, 3});
  CHECK(ranked_heads(document, {Score::kSelf, {}}) == Indices{3, 1, 0, 2});
  CHECK(ranked_heads(document, {Score::kPrevious, {{Score::kPrevious, 0.4}}}) == Indices{1, 2});
  CHECK(ranked_heads(document, {{}, {{Score::kPrevious, 0.1}, {Score::kSelf, 0.1}}}) == Indices{1});
}

TEST_CASE("heads: names and ranks follow from means over probes") {
  HeadsDocument document = four_heads(test::one_probe());
  const std::vector<ScoreValues> second = {
      test::score_values({{Score::kPrevious, 0.7}}), test::score_values({{Score::kPrevious, 0.0}}),
      test::score_values({}), test::score_values({{Score::kSelf, 1.0}})};
  document.raw.add(second);
  CHECK(document.names(0) == Names{"previous-token"});               // 0.45
  CHECK(document.names(1) == Names{"previous-token"});               // 0.4
  CHECK(document.names(2) == Names{"previous-token", "induction"});  // of the one probe that has it
  CHECK(document.names(3) == Names{"current-token"});                // 0.75
}

TEST_CASE("heads: the sink rate counts heads above 0.3, not at it") {
  CHECK(four_heads(test::one_probe()).sink_rate() == 0.25);
  CHECK(test::heads_document(CorpusSource{1}, {{{0, 0}, {}}}).sink_rate() == 0.0);
}

TEST_CASE("heads: the map has a cell for each head that has the score") {
  const Heatmap map = heads_map(four_heads(test::one_probe()), Score::kPrevious);
  const HeatmapPanel& panel = map.panels.front();
  REQUIRE(panel.values.rows == 3);
  REQUIRE(panel.values.cols == 3);
  const bool expected[3][3] = {{true, false, true}, {false, true, false}, {false, false, false}};
  for (std::size_t layer = 0; layer < 3; ++layer) {
    for (std::size_t head = 0; head < 3; ++head) {
      CAPTURE(layer);
      CAPTURE(head);
      CHECK(panel.is_visible(layer, head) == expected[layer][head]);
    }
  }
  CHECK(panel.values(0, 2) == 0.8f);
  CHECK(panel.values(1, 1) == 0.4f);
  CHECK(map.query_labels == std::vector<std::string>{"L0", "L1", "L2"});
  CHECK(map.key_labels == std::vector<std::string>{"H0", "H1", "H2"});
  CHECK(map.scale.high == 1.0f);  // shares, regardless of the largest
  CHECK(map.masked_name == "no score");
}

TEST_CASE("heads: the map begins and ends at the requested values") {
  const Heatmap map =
      heads_map(test::heads_document(test::one_probe(), {{{3, 7}, {{Score::kInduction, 0.25}}},
                                                         {{5, 6}, {{Score::kInduction, 0.5}}}}),
                Score::kInduction);
  CHECK(map.query_labels == std::vector<std::string>{"L3", "L4", "L5"});
  CHECK(map.key_labels == std::vector<std::string>{"H6", "H7"});
  CHECK(map.first_query == 3);
  CHECK(map.first_key == 6);
  const HeatmapPanel& panel = map.panels.front();
  CHECK(panel.values(0, 1) == 0.25f);
  CHECK(panel.values(2, 0) == 0.5f);
  CHECK_FALSE(panel.is_visible(0, 0));
  CHECK_FALSE(panel.is_visible(1, 1));
}

TEST_CASE("heads: the scale of larger scores ends at the largest; none is an error") {
  const HeadsDocument document =
      test::heads_document(CorpusSource{1}, {{{0, 0}, {{Score::kDistanceMean, 17.3}}}});
  CHECK(heads_map(document, Score::kDistanceMean).scale.high == 17.3f);
  CHECK_THROWS_WITH_AS(heads_map(document, Score::kInduction),
                       "score induction: no head has it on attention, 1 head on 1 text", Error);
}

TEST_CASE("heads: the map names its score in words") {
  const auto name_of = [](Score score) {
    const Heatmap map =
        heads_map(test::heads_document(CorpusSource{1}, {{{0, 0}, {{score, 0.5}}}}), score);
    CHECK(map.value_name == map.panels.front().title);
    return map.value_name;
  };
  CHECK(name_of(Score::kEntropyBits) == "entropy (bits)");
  CHECK(name_of(Score::kDistanceMean) == "mean distance");
  CHECK(name_of(Score::kInduction) == "induction");
  for (const auto& choice : kScoreNames) {
    CAPTURE(choice.word);
    CHECK(name_of(choice.value).find('_') == std::string::npos);
  }
}

}  // namespace attnviz
