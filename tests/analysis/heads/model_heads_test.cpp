// Scores of whole models against independent float64 passes: tests/reference/heads/README.md.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/model/stored_model.h"
#include "support/json.h"
#include "support/sample_heads.h"

namespace attnviz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kShared = ATTNVIZ_SOURCE_DIR "/../shared/reference";

void check_value(std::string_view key, const std::optional<double>& found, const json& expected) {
  CAPTURE(key);
  REQUIRE(found.has_value() == !expected.is_null());
  if (found) {
    const double number = expected.get<double>();
    const double tolerance = key == "distance_max" ? 3e-5 : 1e-5;
    CHECK(std::abs(*found - number) <= tolerance * std::max(1.0, std::abs(number)));
  }
}

void check_scores(const ScoreValues& found, HeadId head, const json& expected) {
  for (const auto& [key, score] : kScoreNames) {
    if (const auto one = expected.find(key); one != expected.end()) {
      check_value(key, found[score], one->is_null() ? *one : (*one)[head.layer][head.head]);
    }
  }
}

ScoredTokens probe_tokens_of(const json& one) {
  ScoredTokens::Options options;
  if (one.contains("punctuation_keys")) {
    options.punctuation = one["punctuation_keys"].get<std::vector<std::size_t>>();
  }
  const auto ids = one["ids"].get<std::vector<TokenId>>();
  if (one.value("repeats", 0) == 2) {
    const std::size_t size = one["probe_length"];
    options.copied = {.begin = ids.size() - 2 * size, .size = size};
  }
  return {ids, options};
}

void check_case(const Model& model, const json& one) {
  const ScoredTokens tokens = probe_tokens_of(one);
  const std::vector<HeadId> heads = select_heads(model, "", "");
  TokenizedText text;
  for (const TokenId id : tokens.ids()) {
    text.tokens.emplace_back().id = id;
  }
  ScoreRequest request;
  request.attention.n_threads = 2;
  request.detect = true;
  const TextScores found = score_heads(model, text, tokens, heads, request);
  std::size_t n_sinks = 0;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const HeadId head = heads[i];
    CAPTURE(head.layer);
    CAPTURE(head.head);
    check_scores(found.raw[i], head, one["scores"]);
    check_scores(found.weighted[i], head, one["value_weighted"]);
    n_sinks += *found.raw[i][Score::kSinkAlpha] > kSinkEpsilon ? 1U : 0U;
    const json lens = one.value("transformer_lens", json::object());
    for (const auto& [pattern, measures] : lens.items()) {
      const auto detection = static_cast<std::size_t>(*choice_named(kDetectionPatterns, pattern));
      check_value(pattern, found.detected[i][detection][0].mul,
                  measures["mul"][head.layer][head.head]);
    }
  }
  CHECK(static_cast<double>(n_sinks) / static_cast<double>(heads.size()) ==
        doctest::Approx(one["sink_rate"].get<double>()));
}

void check_model(const Model& model, const fs::path& reference) {
  const json expected = test::read_json(reference);
  for (const json& one : expected["cases"]) {
    const std::string name = one["name"];
    CAPTURE(name);
    check_case(model, one);
  }
}

}  // namespace

TEST_CASE("head scores: the demo model's, plain and weighted by transformed values") {
  check_model(demo_model(), test::kHeadsReference / "demo.json");
}

TEST_CASE("head scores: those of other models") {
  if (!fs::exists(kShared)) {
    MESSAGE("SKIPPED: no ../shared/reference");
    return;
  }
  check_model(load_hugging_face(kShared / "models/stories260k"),
              kShared / "heads/stories260k.json");
  for (const char* name : {"gpt2-tiny", "qwen2-tiny"}) {
    check_model(load_hugging_face(kShared / "why/models" / name),
                kShared / "heads" / (std::string(name) + ".json"));
  }
}

}  // namespace attnviz
