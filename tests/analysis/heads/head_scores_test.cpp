#include "attnviz/analysis/heads/head_scores.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "support/json.h"
#include "support/sample_heads.h"

namespace attnviz {
namespace {

using nlohmann::json;

ScoreTally tally_of(const json& attention, const ScoredTokens& tokens, const Mask& mask) {
  ScoreTally tally(tokens, mask);
  for (std::size_t query = attention.size(); query-- > 0;) {  // any order will do
    tally.add(query, 0, attention[query].get<std::vector<double>>());
  }
  return tally;
}

ScoredTokens tokens_of(const json& one) {
  ScoredTokens::Options options;
  options.band = one["w"];
  if (one.contains("punctuation_keys") && !one["punctuation_keys"].is_null()) {
    options.punctuation = one["punctuation_keys"].get<std::vector<std::size_t>>();
  }
  return {one["ids"].get<std::vector<TokenId>>(), options};
}

void check_value(const std::string& what, const std::optional<double>& found, const json& expected,
                 double tolerance) {
  CAPTURE(what);
  REQUIRE(found.has_value() == !expected.is_null());
  if (found) {
    const auto number = expected.get<double>();
    CHECK(std::abs(*found - number) <= tolerance * std::max(1.0, std::abs(number)));
  }
}

}  // namespace

TEST_CASE("head scores: for hand-built patterns, what independent programs find") {
  const json cases = test::read_json(test::kHeadsReference / "patterns.json")["cases"];
  REQUIRE(cases.size() == 40);
  for (const json& one : cases) {
    const std::string name = one["name"];
    const ScoredTokens tokens = tokens_of(one);
    const Mask mask = parse_mask(one["mask"].get<std::string>());
    const ScoreValues found = tally_of(one["attention"], tokens, mask).values();
    for (const auto& [key, score] : kScoreNames) {
      const auto expected = one["scores"].find(key);
      if (expected != one["scores"].end()) {
        check_value(name + ": " + std::string(key), found[score], *expected, 1e-9);
      }
    }
    CHECK((found[Score::kSinkAlpha].value_or(0.0) > kSinkEpsilon) ==
          one["scores"]["sink"].get<bool>());
    if (name.starts_with("uniform/")) {
      const ScoreValues uniform = uniform_scores(tokens, mask);
      for (const auto& [key, score] : kScoreNames) {
        if (const auto expected = one["scores"].find(key); expected != one["scores"].end()) {
          check_value("uniform: " + name + ": " + std::string(key), uniform[score], *expected,
                      1e-9);
        }
      }
    }
  }
}

TEST_CASE("head scores: weights scaled up by dropout may be large") {
  const ScoredTokens tokens(2, {});
  ScoreTally tally(tokens, Mask());
  const double rows[] = {0.0, 3000.0, 1000.0};
  tally.add(0, 0, std::span(rows).first(1));
  tally.add(1, 0, std::span(rows).last(2));
  CHECK(tally.values()[Score::kSinkAlpha] == 1500.0);
  CHECK(tally.values()[Score::kFirst] == 3000.0);
}

TEST_CASE("head scores: a weight below 0 or not a number is refused with its position") {
  const ScoredTokens tokens({1, 2, 3});
  ScoreTally tally(tokens, Mask());
  const double rows[] = {0.5, -0.25, std::nan("")};
  CHECK_THROWS_WITH_AS(tally.add(2, 0, rows),
                       "query 2, key 1: expected a weight from 0 to 2^24, found -0.25", Error);
  CHECK_THROWS_WITH_AS(tally.add(2, 2, std::span(rows).subspan(2)),
                       "query 2, key 2: expected a weight from 0 to 2^24, found nan", Error);
}

TEST_CASE("head scores: the share of a learned sink is a weight, too") {
  const ScoredTokens tokens({1, 2, 3});
  ScoreTally tally(tokens, Mask());
  for (const float odd : {-1.0f, 3e38f, std::nanf("")}) {
    CHECK_THROWS_AS(tally.add_sinks(std::span(&odd, 1)), Error);
  }
}

TEST_CASE(
    "head scores: without ids repetitions have no score, without marks punctuation has none") {
  const ScoredTokens tokens(3, {});
  ScoreTally tally(tokens, Mask());
  for (std::size_t query = 0; query < 3; ++query) {
    tally.add(query, 0, std::vector<double>(query + 1, 1.0 / static_cast<double>(query + 1)));
  }
  const ScoreValues found = tally.values();
  CHECK(found[Score::kPrevious].has_value());
  CHECK(!found[Score::kDuplicate].has_value());
  CHECK(!found[Score::kInduction].has_value());
  CHECK(!found[Score::kPunctuation].has_value());
}

TEST_CASE("head scores: a head that repeats the first copy retrieves all of it") {
  ScoredTokens::Options options;
  options.copied = {.begin = 1, .size = 3};
  const ScoredTokens tokens({9, 4, 5, 6, 4, 5, 6}, options);
  ScoreTally tally(tokens, Mask());
  const auto look = [&tally](std::size_t query, std::size_t key) {
    std::vector<double> row(7);
    row[key] = 1.0;
    tally.add(query, 0, row);
  };
  for (std::size_t query = 0; query < 3; ++query) {
    look(query, 0);
  }
  look(3, 1);  // 4 is to be repeated
  look(4, 2);  // 5
  look(5, 0);  // 6 is at 3
  look(6, 3);  // nothing is left to be repeated
  CHECK(*tally.values()[Score::kRetrieval] == doctest::Approx(2.0 / 3.0));
}

TEST_CASE("head scores: a hidden key counts as one that the query does not see") {
  const ScoredTokens tokens({5, 6, 7, 8});
  // Query 2 sees itself alone, which leaves it no choice; query 3 does not see the first key.
  const Visibility seen({}, {{{2, 3}, {0, 2}, {}, {}}, {{3, 4}, {0, 1}, {}, {}}}, 4, 4);
  ScoreTally tally(tokens, seen);
  tally.add(0, 0, std::vector<double>{1.0});
  tally.add(1, 0, std::vector<double>{0.4, 0.6});
  tally.add(2, 0, std::vector<double>{0.0, 0.0, 1.0});
  tally.add(3, 0, std::vector<double>{0.0, 0.25, 0.25, 0.5});
  const ScoreValues scores = tally.values();
  CHECK(*scores[Score::kFirst] == doctest::Approx(0.4));
  CHECK(*scores[Score::kPrevious] == doctest::Approx((0.4 + 0.25) / 2.0));
  CHECK(*scores[Score::kSelf] == doctest::Approx((0.6 + 0.5) / 2.0));
  const double bits = -0.4 * std::log2(0.4) - 0.6 * std::log2(0.6);
  CHECK(*scores[Score::kEntropyFraction] == doctest::Approx((bits + 1.5 / std::log2(3.0)) / 2.0));
  CHECK(*scores[Score::kSinkAlpha] == doctest::Approx((1.0 + 0.4) / 2.0));
  const ScoreValues uniform = uniform_scores(tokens, seen);
  CHECK(*uniform[Score::kPrevious] == doctest::Approx((1.0 / 2.0 + 1.0 / 3.0) / 2.0));
  CHECK(*uniform[Score::kFirst] == doctest::Approx(0.5));
  CHECK(*uniform[Score::kEntropyFraction] == doctest::Approx(1.0));
}

TEST_CASE("head scores: the band is skipped where a query sees nothing beyond it") {
  ScoredTokens::Options options;
  options.band = 1;
  const ScoredTokens tokens(4, options);
  const auto band_of = [&](const Visibility& seen) {
    ScoreTally tally(tokens, seen);
    tally.add(2, 0, std::vector<double>{0.0, 0.5, 0.5, 0.0});
    tally.add(3, 0, std::vector<double>{0.0, 0.25, 0.5, 0.25});
    return tally.values()[Score::kBand];
  };
  CHECK(*band_of(Visibility()) == doctest::Approx((1.0 + 0.75) / 2.0));
  CHECK(*band_of({{}, {{{2, 3}, {0, 1}, {}, {}}}, 4, 4}) == doctest::Approx(0.75));
  CHECK(!band_of({{}, {{{2, 4}, {0, 2}, {}, {}}}, 4, 4}));
}

TEST_CASE("head scores: rows in blocks, in any order, give bit-identical scores") {
  const ScoredTokens tokens({1, 2, 1, 2, 1});
  const std::vector<HeadId> heads = {{0, 0}};
  const float weights[5][5] = {{1.0f},
                               {0.1f, 0.9f},
                               {0.2f, 0.3f, 0.5f},
                               {0.7f, 0.1f, 0.1f, 0.1f},
                               {0.3f, 0.3f, 0.1f, 0.1f, 0.2f}};
  const ConstMatrix all{&weights[0][0], 5, 5, 5};
  const auto causal = [](HeadId) { return Mask(); };
  HeadScores whole(heads, tokens, causal), parts(heads, tokens, causal);
  whole.rows({0, 0}, 0, 0, all);
  parts.rows({0, 0}, 3, 0, all.row_block(3, 2));
  parts.rows({0, 0}, 0, 0, all.row_block(0, 3));
  for (const auto& [key, score] : kScoreNames) {
    CHECK(whole.scores({0, 0})[score] == parts.scores({0, 0})[score]);
  }
  SUBCASE("keys are weighted by the norms of transformed values") {
    const std::vector<double> norms = {0.0, 1.0, 1.0, 1.0, 1.0};
    HeadScores weighted(heads, tokens, causal, [&norms](HeadId) { return std::span(norms); });
    weighted.rows({0, 0}, 0, 0, all);
    // Row 0 has nothing left; rows 1 to 4: 1, 0.3 / 0.8, 0.1 / 0.3, 0.1 / 0.7.
    CHECK(*weighted.scores({0, 0})[Score::kPrevious] ==
          doctest::Approx((0.0 + 0.375 + 1.0 / 3.0 + 1.0 / 7.0) / 4.0));
    CHECK(*weighted.scores({0, 0})[Score::kFirst] == 0.0);
  }
}

}  // namespace attnviz
