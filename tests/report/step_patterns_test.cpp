#include "attnviz/report/patterns/step_patterns.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/core/error.h"
#include "attnviz/report/attention_heatmap.h"
#include "support/naive.h"
#include "support/sample_inspection.h"

namespace attnviz {
namespace {

// The document of a run over these tokens, drawn at this step.
AttentionDocument stepped(const Model& model, const std::vector<std::string>& tokens,
                          PatternKind kind, const AttentionRequest& request = {}) {
  const std::vector<std::string_view> input(tokens.begin(), tokens.end());
  TokenizedText text;
  for (const std::string& token : tokens) {
    text.tokens.emplace_back().text = token;
  }
  const auto patterns = std::make_shared<PatternStore>(std::vector<HeadId>{{0, 0}}, tokens.size());
  run(model, input, request, *patterns);
  AttentionDocument document = attention_document(model, text, request, *patterns);
  document.storage = patterns;
  show_step(document, model, input, request, kind);
  return document;
}

std::vector<double> last_row(const AttentionDocument& document) {
  const ConstMatrix weights = document.patterns.front().weights;
  const auto row = weights.row(weights.rows - 1);
  return {row.begin(), row.end()};
}

void check_about(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-6));
  }
}

const std::vector<std::string> kSat = {"The", " cat", " sat"};

}  // namespace

TEST_CASE("show_step: every step of a head, computed by hand") {
  const Model model = test::model_by_hand();
  check_about(last_row(stepped(model, kSat, PatternKind::kScores)), {2, 4, 2});
  check_about(last_row(stepped(model, kSat, PatternKind::kScaled)), {1, 2, 1});
  check_about(last_row(stepped(model, kSat, PatternKind::kMasked)), {1, 2, 1});
  const double e = std::exp(1.0);
  const double sum = 2 * e + e * e;
  check_about(last_row(stepped(model, kSat, PatternKind::kWeights)),
              {e / sum, e * e / sum, e / sum});
  // Values times W_O are [1 0 0], [0 1 0] and [4 0 0].
  const double shares = e + e * e + 4 * e;
  check_about(last_row(stepped(model, kSat, PatternKind::kValueShares)),
              {e / shares, e * e / shares, 4 * e / shares});
}

TEST_CASE("show_step: the temperature divides the scaled scores, not the original ones") {
  const Model model = test::model_by_hand();
  AttentionRequest cold;
  cold.temperature = 0.5f;
  check_about(last_row(stepped(model, kSat, PatternKind::kScores, cold)), {2, 4, 2});
  check_about(last_row(stepped(model, kSat, PatternKind::kScaled, cold)), {2, 4, 2});
}

TEST_CASE(
    "show_step: all scores exist before the mask, and masked ones are minus infinity after it") {
  const Model model = test::random_head(5);
  const auto tokens = test::numbered_tokens(5);
  const AttentionDocument scores = stepped(model, tokens, PatternKind::kScaled);
  const AttentionDocument masked = stepped(model, tokens, PatternKind::kMasked);
  const ConstMatrix before = scores.patterns.front().weights;
  const ConstMatrix after = masked.patterns.front().weights;
  for (std::size_t query = 0; query < 5; ++query) {
    for (std::size_t key = 0; key < 5; ++key) {
      CAPTURE(query);
      CAPTURE(key);
      CHECK(before(query, key) != 0.0f);
      CHECK(after(query, key) ==
            (key <= query ? before(query, key) : -std::numeric_limits<float>::infinity()));
      CHECK(scores.sees(query, key));
      CHECK(masked.sees(query, key) == (key <= query));
    }
  }
  CHECK(scores.visibility_of(HeadId{}).visible(0, 4));
  CHECK_FALSE(masked.visibility_of(HeadId{}).visible(0, 4));
}

TEST_CASE("take_softmax: the softmax of a run's scores are its weights") {
  for (const Positions positions : {Positions::kNone, Positions::kRope, Positions::kAlibi}) {
    const Model model = test::random_head(6, positions);
    const auto tokens = test::numbered_tokens(6);
    AttentionDocument masked = stepped(model, tokens, PatternKind::kMasked);
    const AttentionDocument run = stepped(model, tokens, PatternKind::kWeights);
    take_softmax(masked, {});
    CHECK(masked.kind == PatternKind::kWeights);
    const ConstMatrix expected = run.patterns.front().weights;
    for (std::size_t query = 0; query < 6; ++query) {
      for (std::size_t key = 0; key < 6; ++key) {
        CHECK(masked.patterns.front().weights(query, key) ==
              doctest::Approx(expected(query, key)).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("take_softmax: given scores with a divisor and a temperature, computed by hand") {
  const std::vector<float> scores = {0.0f, 8.0f, 4.0f, 8.0f};
  AttentionDocument document;
  document.query_tokens = document.key_tokens = {"a", "b"};
  document.kind = PatternKind::kScores;
  document.patterns.push_back({{0, 0}, test::matrix_over(scores, 2, 2)});
  AttentionDocument divided = document;
  take_softmax(document, {.temperature = 2.0f, .divide_by = 4.0f});
  // (8 - 0) / 8 = 1 and (8 - 4) / 8 = 0.5.
  CHECK(document.patterns.front().weights(0, 0) == doctest::Approx(1 / (1 + std::exp(1.0))));
  CHECK(document.patterns.front().weights(1, 1) == doctest::Approx(1 / (1 + std::exp(-0.5))));
  divide_scores(divided, {.temperature = 2.0f, .divide_by = 4.0f});
  CHECK(divided.patterns.front().weights(0, 1) == 1.0f);
  CHECK(divided.patterns.front().weights(1, 0) == 0.5f);
}

TEST_CASE("take_softmax: masked scores do not count, and values that are not numbers are refused") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> scores = {1.0f, -kInfinity, -kInfinity, -kInfinity};
  AttentionDocument document;
  document.query_tokens = document.key_tokens = {"a", "b"};
  document.patterns.push_back({{0, 0}, test::matrix_over(scores, 2, 2)});
  take_softmax(document, {});
  const ConstMatrix weights = document.patterns.front().weights;
  CHECK(weights(0, 0) == 1.0f);
  CHECK(weights(0, 1) == 0.0f);
  CHECK(weights(1, 0) == 0.0f);
  CHECK(weights(1, 1) == 0.0f);
  const std::vector<float> broken = {std::nanf(""), 1.0f, 1.0f, 1.0f};
  document.patterns.front().weights = test::matrix_over(broken, 2, 2);
  CHECK_THROWS_AS(take_softmax(document, {}), Error);
}

TEST_CASE("take_softmax: divisors whose product overflows or underflows a float") {
  const std::vector<float> scores = {0.0f, 8.0f, 4.0f, 8.0f};
  AttentionDocument document;
  document.query_tokens = document.key_tokens = {"a", "b"};
  document.patterns.push_back({{0, 0}, test::matrix_over(scores, 2, 2)});
  AttentionDocument sharp = document;
  for (const float divisor : {1e20f, 1e38f}) {  // quotients that underflow
    AttentionDocument flat = document;
    take_softmax(flat, {.temperature = divisor, .divide_by = divisor});
    CHECK(flat.patterns.front().weights(0, 0) == 0.5f);
    CHECK(flat.patterns.front().weights(1, 1) == 0.5f);
  }
  const std::vector<float> small = {0.0f, 0.0f, 1e-40f, 0.0f};
  AttentionDocument fine = document;
  fine.patterns.front().weights = test::matrix_over(small, 2, 2);
  take_softmax(fine, {.temperature = 1e-20f, .divide_by = 1e-20f});  // 1e-40 becomes 1
  CHECK(fine.patterns.front().weights(0, 0) == 0.5f);
  CHECK(fine.patterns.front().weights(1, 0) ==
        doctest::Approx(1 / (1 + std::exp(-1.0))).epsilon(1e-4));
  try {
    take_softmax(sharp, {.temperature = 1e-20f, .divide_by = 1e-20f});
    FAIL("was divided");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kUsage);  // the scores are right
  }
}

TEST_CASE("take_softmax: rows without a score are reported, and their cells stay masked") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> scores = {1.0f, -kInfinity, -kInfinity, -kInfinity};
  AttentionDocument document;
  document.query_tokens = document.key_tokens = {"a", "b"};
  document.kind = PatternKind::kScores;
  document.patterns.push_back({{0, 3}, test::matrix_over(scores, 2, 2)});
  for (const bool are_weights : {false, true}) {
    if (are_weights) {
      take_softmax(document, {});
    }
    const HeatmapPanel panel = attention_heatmap(document).panels.front();
    CHECK(panel.is_visible(0, 0));
    CHECK_FALSE(panel.is_visible(0, 1));
    CHECK_FALSE(panel.is_visible(1, 0));
    CHECK(panel.mask == "masked scores");
    CHECK(document.notes.size() == (are_weights ? 1 : 0));
  }
  CHECK(document.notes.front() ==
        "1 of 2 rows see no key because all of their scores are masked: head 0.3, query 1; softmax "
        "would be 0 / 0, so their weights are set to 0");
}

TEST_CASE("choose_drawing: scores are drawn around zero, for any signs") {
  const std::vector<float> scores = {1.0f, 2.0f, 3.0f, 4.0f};
  AttentionDocument document;
  document.query_tokens = document.key_tokens = {"a", "b"};
  document.kind = PatternKind::kScores;
  document.run.mask = Mask{};
  document.patterns.push_back({{0, 0}, test::matrix_over(scores, 2, 2)});
  const Drawing drawing = choose_drawing({}, document);
  CHECK(drawing.scale.low == -4.0f);
  CHECK(drawing.scale.high == 4.0f);
  CHECK(drawing.scale.colormap.name() == "blue-red");
  DrawingRequest without_sink;
  without_sink.drop_sink = true;
  CHECK_THROWS_AS(choose_drawing(without_sink, document), Error);
}

}  // namespace attnviz
