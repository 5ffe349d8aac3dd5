#include "attnviz/report/patterns/focus_bars.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "attnviz/report/attention_heatmap.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using Tokens = std::vector<std::size_t>;

// One token's weights in some heads, for tokens "w0", "w1" and so on, the first n_seen of which are
// visible.
struct FocusRowsOfHeads {
  std::vector<float> weights;  // [heads, tokens]
  Heatmap heatmap;

  FocusRowsOfHeads(std::vector<float> all, std::size_t n_heads, std::size_t n_seen)
      : weights(std::move(all)) {
    const std::size_t n_tokens = weights.size() / n_heads;
    heatmap.panels = {{"", test::matrix_over(weights, n_heads, n_tokens),
                       [n_seen](std::size_t, std::size_t token) { return token < n_seen; }}};
    for (std::size_t head = 0; head < n_heads; ++head) {
      heatmap.query_labels.push_back(fmt::format("L{}H{}", head / 2, head % 2));
    }
    for (std::size_t token = 0; token < n_tokens; ++token) {
      heatmap.key_labels.push_back(fmt::format(" w{}", token));
    }
    heatmap.title = "attention of \"x\"";
    heatmap.notes = {"mask causal"};
  }
  FocusRowsOfHeads(const FocusRowsOfHeads&) = delete;  // the heatmap views `weights`
  FocusRowsOfHeads& operator=(const FocusRowsOfHeads&) = delete;
};

Tokens first_tokens(std::size_t count) {
  Tokens all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Two layers of two heads over eight tokens, the last of which is masked. Means over the heads:
// tokens 0 to 6 get 0.1, 0.02, 0.2, 0.04, 0.3, 0.05 and 0.06.
FocusRowsOfHeads eight_tokens() {
  return {{0.1f, 0.02f, 0.2f, 0.04f, 0.3f, 0.05f, 0.06f, 9.0f,   //
           0.1f, 0.02f, 0.4f, 0.04f, 0.3f, 0.05f, 0.06f, 9.0f,   //
           0.2f, 0.02f, 0.2f, 0.04f, 0.5f, 0.05f, 0.06f, 9.0f,   //
           0.0f, 0.02f, 0.0f, 0.04f, 0.1f, 0.05f, 0.06f, 9.0f},  //
          4,
          7};
}

const std::vector<HeadId> kFourHeads = {{1, 0}, {1, 1}, {2, 0}, {2, 1}};

}  // namespace

TEST_CASE("FocusBars: up to 40 tokens have a bar each, including masked ones") {
  const FocusRowsOfHeads sample(std::vector<float>(40, 0.025f), 1, 30);
  const FocusBars bars(sample.heatmap, {0, 0, false});
  CHECK(bars.shown == first_tokens(40));
  CHECK(bars.others.empty());
  CHECK(bars.n_left_out == 0);
  CHECK(bars.number_of_others(sample.heatmap.panels.front(), 0, 1) == "0.0%");
}

TEST_CASE("FocusBars: of 41 tokens the 20 with the largest weight in any head, in text order") {
  std::vector<float> weights(2 * 41, 0.01f);
  for (std::size_t i = 0; i < 10; ++i) {
    weights[2 * i] = 0.2f;            // tokens 0, 2, … 18 in the first head
    weights[41 + 40 - 2 * i] = 0.3f;  // tokens 40, 38, … 22 in the second
  }
  const FocusRowsOfHeads sample(weights, 2, 41);
  const FocusBars bars(sample.heatmap, {0, 0, false});
  const FocusBars of_key(sample.heatmap, {0, 0, true});
  Tokens expected;
  for (std::size_t token = 0; token <= 40; token += 2) {
    if (token != 20) {
      expected.push_back(token);
    }
  }
  CHECK(bars.shown == expected);
  CHECK(bars.others.size() == 21);
  const HeatmapPanel& panel = sample.heatmap.panels.front();
  CHECK(bars.number_of_others(panel, 0, 1) == "21.0%");  // 21 of 0.01
  CHECK(of_key.number_of_others(panel, 1, 1) == "1.0%");
  CHECK(bars.legend() == std::vector<std::string>{"full bar = 50%", "others: all together"});
  CHECK(of_key.legend().back() == "others: the most of one");
}

TEST_CASE(
    "FocusBars: masked tokens of a long text are left out and counted, not among the others") {
  std::vector<float> weights(60, 0.0f);
  weights[3] = 0.75f;
  weights[59] = 0.9f;  // which is masked
  const FocusRowsOfHeads few(weights, 1, 5);
  const FocusBars bars(few.heatmap, {3, 0, false});
  CHECK(bars.shown == first_tokens(5));
  CHECK(bars.others.empty());
  CHECK(bars.n_left_out == 55);
  CHECK(bars.legend() == std::vector<std::string>{"full bar = 100%", "55 masked tokens left out"});
  const FocusRowsOfHeads none(weights, 1, 0);
  const FocusBars of_none(none.heatmap, {0, 0, false});
  CHECK(of_none.shown.empty());
  CHECK(of_none.low == 0.0);
  CHECK(of_none.high == 1.0);
}

TEST_CASE("FocusBars: a full bar is the largest weight rounded up, regardless of masked cells") {
  const auto full = [](const std::vector<float>& weights, std::size_t n_seen) {
    return FocusBars(FocusRowsOfHeads(weights, 1, n_seen).heatmap, {0, 0, false}).high;
  };
  CHECK(full({0.05f, 0.03f, 0.9f}, 2) == doctest::Approx(0.05));
  CHECK(full({0.05f, 0.03f, 0.11f}, 3) == doctest::Approx(0.2));
  CHECK(full({1.0f}, 1) == doctest::Approx(1.0));
}

TEST_CASE("FocusBars: scores are numbers, with bars to both sides of zero if some are negative") {
  const auto bars_of = [](const FocusRowsOfHeads& sample) {
    return FocusBars(sample.heatmap, {0, 0, false, PatternKind::kScores});
  };
  const FocusRowsOfHeads both({8.0f, -2.0f, 4.0f}, 1, 3);
  const FocusBars bars = bars_of(both);
  CHECK(bars.low == doctest::Approx(-2.0));
  CHECK(bars.high == doctest::Approx(10.0));
  CHECK(bars.part_below() == doctest::Approx(1.0 / 6.0));
  CHECK(bars.number(-1.995f, 0) == "-2.00");
  CHECK(bars.number(-0.001f, 0) == "0.00");
  CHECK(bars.legend() == std::vector<std::string>{"bars from -2 to 10"});
  const FocusRowsOfHeads below({-5.0f, -1.0f}, 1, 2);
  CHECK(bars_of(below).low == doctest::Approx(-5.0));
  CHECK(bars_of(below).high == 0.0);
  CHECK(bars_of(below).part_below() == 1.0);
  const FocusRowsOfHeads above({5.0f, 1.0f}, 1, 2);
  CHECK(bars_of(above).part_below() == 0.0);
  CHECK(bars_of(above).legend() == std::vector<std::string>{"full bar = 5"});
  // Regardless of masked scores, with as many digits as small and large ones need.
  const FocusRowsOfHeads small({0.012f, -0.0034f, -900.0f}, 1, 2);
  CHECK(bars_of(small).number(-0.0034f, 0) == "-0.0034");
  const FocusRowsOfHeads large({123456.0f, -1.0f}, 1, 2);
  CHECK(bars_of(large).number(123456.0f, 0) == "1.23e+05");
}

TEST_CASE("FocusBars: for the other scores the largest is given, as their sum has no meaning") {
  std::vector<float> scores(50, -3.0f);
  scores[7] = 6.0f;
  scores[45] = -2.5f;
  const FocusRowsOfHeads sample(scores, 1, 50);
  const FocusBars bars(sample.heatmap, {0, 0, false, PatternKind::kScores});
  CHECK(bars.number_of_others(sample.heatmap.panels.front(), 0, 1) == "-3.00");
  CHECK(bars.legend().back() == "others: the largest of one");
}

TEST_CASE("bars_subject: the tokens' numbers are those of the picture") {
  AttentionDocument document;
  document.drawing.focus = Focus{4, true};
  Heatmap focus = eight_tokens().heatmap;
  focus.first_key = EntryNumbers({1, 2, 4});
  const BarsSubject subject = bars_subject(document, focus);
  CHECK(subject.token == 4);
  CHECK(subject.as_key);
  CHECK(subject.first_index.of(2) == 4);
}

TEST_CASE(
    "focus_maps: layers by heads for the six tokens with the most attention on average, in order") {
  const FocusRowsOfHeads sample = eight_tokens();
  const auto maps = focus_maps(sample.heatmap, kFourHeads, {7, 10, false});
  REQUIRE(maps);
  std::vector<std::string> titles;
  for (const HeatmapPanel& panel : maps->panels) {
    titles.push_back(panel.title);
  }
  CHECK(titles == std::vector<std::string>{"\"w0\" (10)", "\"w2\" (12)", "\"w3\" (13)",
                                           "\"w4\" (14)", "\"w5\" (15)", "\"w6\" (16)"});
  CHECK(maps->query_labels == std::vector<std::string>{"L1", "L2"});
  CHECK(maps->key_labels == std::vector<std::string>{"H0", "H1"});
  CHECK(maps->query_axis == "layer");
  CHECK(maps->key_axis == "head");
  const HeatmapPanel& of_two = maps->panels[1];
  CHECK(of_two.values(0, 0) == 0.2f);
  CHECK(of_two.values(0, 1) == 0.4f);
  CHECK(of_two.values(1, 0) == 0.2f);
  CHECK(of_two.values(1, 1) == 0.0f);
  CHECK(of_two.is_visible(1, 1));
  CHECK(maps->title == "attention of \"x\"");
  // The seventh gets 2 % in each head; the eighth is masked, and not counted.
  CHECK(maps->notes ==
        std::vector<std::string>{"6 of 7 tokens: those with the most attention on average over the "
                                 "heads; no other gets more than 2.0 %",
                                 "mask causal"});
  check(*maps);
}

TEST_CASE(
    "focus_maps: the largest mean weights in text order, NaN among them, and a note on the "
    "others") {
  const float nan = std::nanf("");
  const FocusRowsOfHeads sample(
      {0.5f, 0.01f, nan, 0.4f, 0.39f, 0.38f, 0.37f, 0.06f, 0.05f, 0.04f, 0.03f, 0.02f}, 1, 12);
  const auto maps = focus_maps(sample.heatmap, std::vector<HeadId>{{0, 0}}, {11, 0, false});
  REQUIRE(maps);
  std::vector<std::string> titles;
  for (const HeatmapPanel& panel : maps->panels) {
    titles.push_back(panel.title);
  }
  CHECK(titles == std::vector<std::string>{"\"w0\" (0)", "\"w2\" (2)", "\"w3\" (3)", "\"w4\" (4)",
                                           "\"w5\" (5)", "\"w6\" (6)"});
  CHECK(maps->notes.front().find("gets more than 6.0 %") != std::string::npos);
}

TEST_CASE("focus_maps: missing heads, and heads that do not see a token, have no cells") {
  FocusRowsOfHeads sample({0.5f, 0.5f, 0.25f, 0.75f, 0.125f, 0.875f}, 3, 2);
  sample.heatmap.panels.front().visible = [](std::size_t head, std::size_t token) {
    return head != 2 || token == 1;
  };
  const std::vector<HeadId> heads = {{0, 0}, {0, 2}, {3, 1}};
  const auto maps = focus_maps(sample.heatmap, heads, {1, 0, false});
  REQUIRE(maps);
  REQUIRE(maps->panels.size() == 2);
  CHECK(maps->query_labels.size() == 4);
  CHECK(maps->key_labels.size() == 3);
  CHECK(maps->panels[0].is_visible(0, 0));
  CHECK_FALSE(maps->panels[0].is_visible(0, 1));  // there is no such head
  CHECK_FALSE(maps->panels[0].is_visible(3, 1));  // it does not see this token
  CHECK(maps->panels[1].is_visible(3, 1));
  CHECK(maps->panels[1].values(3, 1) == 0.875f);
  CHECK(maps->masked_name == "no head, or masked");
  CHECK(maps->notes == std::vector<std::string>{"mask causal"});  // all tokens are there
}

TEST_CASE("focus_maps: with shares of a row each cell is a share of its head's largest weight") {
  FocusRowsOfHeads sample({0.5f, 0.25f, 0.125f, 0.5f}, 2, 2);
  sample.heatmap.scale.kind = ScaleKind::kRowMax;
  const std::vector<HeadId> heads = {{0, 0}, {1, 0}};
  const auto maps = focus_maps(sample.heatmap, heads, {1, 0, false});
  REQUIRE(maps);
  CHECK(maps->panels[0].values(0, 0) == 1.0f);
  CHECK(maps->panels[0].values(1, 0) == 0.25f);
  CHECK(maps->panels[1].values(0, 0) == 0.5f);
  CHECK(maps->panels[1].values(1, 0) == 1.0f);
  CHECK(maps->scale.kind == ScaleKind::kLinear);
  CHECK(maps->value_name == "share of the largest weight");
}

TEST_CASE("focus_maps: one visible token gives one map, none gives no maps") {
  const FocusRowsOfHeads one({1.0f, 1.0f}, 2, 1);
  const std::vector<HeadId> heads = {{0, 0}, {1, 0}};
  const auto maps = focus_maps(one.heatmap, heads, {0, 0, false});
  REQUIRE(maps);
  CHECK(maps->panels.size() == 1);
  const FocusRowsOfHeads unseen({1.0f, 1.0f}, 2, 0);
  CHECK_FALSE(focus_maps(unseen.heatmap, heads, {0, 0, false}));
}

}  // namespace attnviz
