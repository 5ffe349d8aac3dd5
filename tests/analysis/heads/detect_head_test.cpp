#include "attnviz/analysis/heads/score_run.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/json.h"
#include "support/sample_heads.h"

namespace attnviz {
namespace {

using nlohmann::json;

std::string suffix(const DetectOptions& options) {
  return std::string(options.exclude_bos ? " exclude_bos" : "") +
         (options.exclude_current_token ? " exclude_current_token" : "");
}

void check_measures(const DetectHead& heads, DetectionPattern pattern, const json& expected) {
  for (const DetectOptions options :
       {DetectOptions{false, false}, {true, false}, {false, true}, {true, true}}) {
    const DetectedHead found = heads.detected({0, 0}, pattern, options);
    const std::string name = suffix(options);
    CAPTURE(name);
    CHECK(std::abs(found.abs - expected["abs" + name].get<double>()) < 1e-9);
    const json& mul = expected["mul" + name];
    REQUIRE(found.mul.has_value() == !mul.is_null());
    if (found.mul) {
      CHECK(std::abs(*found.mul - mul.get<double>()) < 1e-6);
    }
  }
}

}  // namespace

TEST_CASE("detect_head: for hand-built patterns, what TransformerLens itself returned") {
  std::map<std::string, json> patterns;
  const json given = test::read_json(test::kHeadsReference / "patterns.json");
  for (const json& one : given["cases"]) {
    patterns[one["name"]] = one;
  }
  const json cases = test::read_json(test::kHeadsReference / "transformer_lens.json")["cases"];
  REQUIRE(cases.size() == 36);
  for (const json& one : cases) {
    const std::string name = one["name"];
    CAPTURE(name);
    const json& pattern = patterns.at(name);
    const ScoredTokens tokens(pattern["ids"].get<std::vector<TokenId>>());
    DetectHead heads({{0, 0}}, tokens);
    for (std::size_t query = 0; query < tokens.size(); ++query) {
      const auto row = pattern["attention"][query].get<std::vector<float>>();
      heads.rows({0, 0}, query, 0, {row.data(), 1, row.size(), row.size()});
    }
    for (const auto& [key, detection] : kDetectionPatterns) {
      check_measures(heads, detection, one["tl"][std::string(key)]);
    }
  }
}

TEST_CASE("detect_head: weights above 1, as dropout makes them, count by their distance from 1") {
  const ScoredTokens tokens(std::vector<TokenId>{5, 6});
  DetectHead heads({{0, 0}}, tokens);
  const std::vector<float> weights = {1.0f, 0.0f, 2.0f, 0.0f};
  heads.rows({0, 0}, 0, 0, {weights.data(), 2, 2, 2});
  // |1 - 0| of the first row and |2 - 1| of the second, over two rows.
  CHECK(heads.detected({0, 0}, DetectionPattern::kPrevious, {}).abs == 0.0);
}

}  // namespace attnviz
