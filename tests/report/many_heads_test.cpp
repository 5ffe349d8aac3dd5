// Documents with very many heads, and with very many facts about them.
#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/report/attention_heatmap.h"
#include "attnviz/report/figures.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/report/json/attention_reader.h"
#include "attnviz/report/run_facts.h"
#include "support/stopwatch.h"

namespace attnviz {
namespace {

constexpr float kOne[] = {1.0f};

// One token, and one head in each of many layers.
AttentionDocument document_of_layers(std::size_t n_layers) {
  AttentionDocument document;
  document.query_tokens = document.key_tokens = {"a"};
  document.run.mask = Mask{};
  for (std::size_t layer = 0; layer < n_layers; ++layer) {
    document.patterns.push_back({{layer, 0}, {kOne, 1, 1, 1}});
  }
  return document;
}

std::string json_of(std::size_t n_layers, std::size_t n_edges, std::size_t n_places) {
  std::string text = R"({"tokens":["a"],"selected":[)";
  for (std::size_t i = 0; i < n_layers; ++i) {
    text += (i > 0 ? "," : "") + std::string(R"({"head":0,"attention":[[1.0]],"layer":)") +
            std::to_string(i) + "}";
  }
  text += R"(],"interventions":[)";
  for (std::size_t i = 0; i < n_edges; ++i) {
    text += (i > 0 ? "," : "") + std::string(R"({"hide":{"queries":[)") + std::to_string(i) +
            R"(],"layers":[)" + std::to_string(i % n_places) + "]}}";
  }
  return text + "]}";
}

}  // namespace

TEST_CASE("names: of many heads, and with many others left out") {
  constexpr std::size_t kMany = 300'000;
  ModelFacts facts;
  facts.named_heads.emplace();
  std::vector<HeadId> heads;
  for (std::size_t i = 0; i < kMany; ++i) {
    facts.named_heads->push_back({1, i, "sink"});
    heads.push_back({0, i});
  }
  const test::Stopwatch watch;
  CHECK(names_note(facts, heads) == "heads identified on random tokens: none of those shown");
  CHECK(watch.is_in_time());
}

TEST_CASE("masks: of many layers with different windows") {
  constexpr std::size_t kMany = 60'000;
  AttentionDocument document = document_of_layers(kMany);
  for (std::size_t layer = 0; layer < kMany; ++layer) {
    document.run.layers.push_back({.layer = layer, .window = layer + 1});
  }
  const test::Stopwatch watch;
  CHECK(most_informative_head(document)->head == HeadId{0, 0});
  CHECK(one_panel_a_mask(attention_heatmap(document)).panels.size() == kMany);
  CHECK(watch.is_in_time());
}

TEST_CASE("a map of heads has a cell for each, in any order of input, and is limited in size") {
  const std::vector<HeadId> heads = {{5, 1}, {2, 0}, {5, 0}, {3, 2}};
  const std::vector<std::optional<double>> values = {0.5, 0.25, std::nullopt, 0.75};
  const Heatmap map = head_map(heads, values, "score");
  REQUIRE(map.n_queries() == 4);  // layers 2 to 5
  REQUIRE(map.n_keys() == 3);
  const HeatmapPanel& panel = map.panels.front();
  CHECK(panel.values(3, 1) == 0.5f);
  CHECK(panel.values(0, 0) == 0.25f);
  CHECK(panel.values(1, 2) == 0.75f);
  CHECK(panel.is_visible(1, 2));
  CHECK_FALSE(panel.is_visible(3, 0));
  constexpr std::size_t kLast = std::numeric_limits<std::size_t>::max();
  for (const HeadId far :
       {HeadId{kLast, 0}, HeadId{0, kLast}, HeadId{20'000'000, 0}, HeadId{2'000, 2'000}}) {
    const std::vector<HeadId> apart = {{0, 0}, far};
    const std::vector<std::optional<double>> two = {1.0, 1.0};
    CHECK_THROWS_WITH_AS(head_map(apart, two, "score"),
                         doctest::Contains("a map of heads from 0.0"), Error);
  }
}

TEST_CASE("hidden edges: many, missed by many heads") {
  AttentionDocument document = document_of_layers(60'000);
  for (std::size_t i = 0; i < 10'000; ++i) {
    document.run.interventions.knock_outs.push_back({{i, i + 1}, {0, 1}, {}, {}});
  }
  const test::Stopwatch watch;
  CHECK_FALSE(attention_heatmap(document).panels.back().is_visible(0, 0));
  document.average.emplace().over = AverageOver::kHeads;
  document.average->heads = heads_of(document);
  CHECK_FALSE(document.visibility_of(heads_of(document)).visible(0, 0));
  CHECK(watch.is_in_time());
}

TEST_CASE("hidden edges: a document may not have more than can be requested or searched") {
  const auto read = [](std::size_t n_layers, std::size_t n_edges, std::size_t n_places) {
    return read_attention(json_of(n_layers, n_edges, n_places), "d.json", {}, {}).size();
  };
  CHECK(read(1, 10'000, 1) == 1);
  CHECK(read(2'000, 2'000, 2'000) == 1);
  CHECK_THROWS_WITH_AS(read(1, 10'001, 1),
                       "d.json: interventions: expected at most 10000 hidden edges of 4096 layers "
                       "and heads, found 10001 of 1",
                       Error);
  CHECK_THROWS_WITH_AS(read(1, 4'097, 4'097), doctest::Contains("found 4097 of 4097"), Error);
  CHECK_THROWS_WITH_AS(read(3'000, 3'000, 3'000),
                       "d.json: interventions: 3000 hidden edges that differ between 1399 or more "
                       "heads are too many",
                       Error);
}

}  // namespace attnviz
