// Spans of a text that are hidden from later tokens, against float64 numbers and double loops.
#include "attnviz/analysis/why/prediction_change.h"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <vector>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/naive_model.h"
#include "support/prediction_model.h"
#include "support/why_cases.h"

namespace attnviz {
namespace {

const TokenizedText kFive = test::text_of({0, 0, 0, 0, 0});

// Every span of five tokens, and an empty one.
std::vector<TokenSpan> all_spans() {
  std::vector<TokenSpan> spans = {{2, 2}};
  for (std::size_t begin = 0; begin < 5; ++begin) {
    for (std::size_t end = begin + 1; end <= 5; ++end) {
      spans.push_back({begin, end});
    }
  }
  return spans;
}

// ln p of the target 3, in double loops.
void check_spans(const Model& model, const AttentionRequest& request) {
  const std::vector<TokenSpan> spans = all_spans();
  const auto found = leave_one_out(model, kFive, request, 3, spans);
  const double base = test::naive_log_probabilities(model, {}, request).back()[3];
  REQUIRE(found.size() == spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const TokenSpan span = spans[i];
    CAPTURE(span.begin);
    CAPTURE(span.end);
    REQUIRE(found[i].has_value() == (span.end < 5));
    if (!found[i]) {
      continue;
    }
    test::NaiveEdits edits;
    edits.hides = [&](HeadId /*head*/, std::size_t query, std::size_t key) {
      return query >= span.end && key >= span.begin && key < span.end;
    };
    test::check_why(*found[i],
                    test::naive_log_probabilities(model, edits, request).back()[3] - base);
  }
  CHECK(*found.front() == 0.0);
}

}  // namespace

TEST_CASE(
    "leave_one_out: changes agree with float64 numbers, with none for spans up to the last token") {
  for (const test::WhyCase& one : test::why_cases()) {
    CAPTURE(one.numbers["model"].dump());
    std::vector<TokenSpan> spans;
    for (const nlohmann::json& given : one.numbers["leave_one_out"]) {
      spans.push_back({given["span"][0], given["span"][1]});
    }
    const auto found =
        leave_one_out(one.model, test::text_of(one.ids), {}, one.numbers["target"], spans);
    REQUIRE(found.size() == spans.size());
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const nlohmann::json& expected = one.numbers["leave_one_out"][i]["target_change_nats"];
      REQUIRE(found[i].has_value() == !expected.is_null());
      if (found[i]) {
        test::check_why(*found[i], expected);
      }
    }
  }
}

TEST_CASE("leave_one_out: every span of a text agrees with double loops") {
  for (const LayerOrder order :
       {LayerOrder::kPreNorm, LayerOrder::kPostNorm, LayerOrder::kAttentionOnly}) {
    for (const Positions positions : {Positions::kNone, Positions::kRope, Positions::kAlibi}) {
      Model model = test::prediction_model(order);
      model.config.positions = positions;
      check_spans(model, {});
    }
  }
}

TEST_CASE("leave_one_out: where tokens look ahead, tokens before the span change, too") {
  const Model model = test::prediction_model(LayerOrder::kPreNorm);
  AttentionRequest request;
  request.mask = Mask{MaskKind::kNone, 0};
  check_spans(model, request);
}

TEST_CASE("leave_one_out: on top of earlier omissions") {
  const Model model = test::prediction_model(LayerOrder::kPreNorm);
  AttentionRequest request;
  request.interventions = std::make_shared<const Interventions>(
      Interventions{{{0, 1, false, false}}, {{{3}, {2, 3}, {1, 2}, {}}}});
  test::NaiveEdits edits;
  edits.context_factor = [](HeadId head) { return head == HeadId{0, 1} ? 0.0 : 1.0; };
  edits.hides = [](HeadId head, std::size_t query, std::size_t key) {
    return head.layer == 1 && query >= 3 && key == 2;
  };
  const double base = test::naive_log_probabilities(model, edits).back()[3];
  edits.hides = [](HeadId head, std::size_t query, std::size_t key) {
    return (head.layer == 1 && query >= 3 && key == 2) || (query >= 2 && key == 1);
  };
  const double changed = test::naive_log_probabilities(model, edits).back()[3];
  constexpr TokenSpan kSpan[] = {{1, 2}};
  test::check_why(*leave_one_out(model, kFive, request, 3, kSpan).front(), changed - base);
}

TEST_CASE("leave_one_out: impossible requests are refused; a single token has nothing before it") {
  const Model model = test::prediction_model(LayerOrder::kPreNorm);
  constexpr TokenSpan kPast[] = {{4, 6}};
  CHECK_THROWS_WITH_AS(leave_one_out(model, kFive, {}, 3, kPast),
                       "tokens 4 to 6: the text has 5 tokens", Error);
  constexpr TokenSpan kBackwards[] = {{3, 1}};
  CHECK_THROWS_AS(leave_one_out(model, kFive, {}, 3, kBackwards), Error);
  constexpr TokenSpan kFirst[] = {{0, 1}};
  CHECK_THROWS_AS(leave_one_out(model, kFive, {}, 11, kFirst), Error);
  CHECK_THROWS_AS(leave_one_out(model, {}, {}, 3, {}), Error);
  CHECK_FALSE(leave_one_out(demo_model(), test::text_of({5}), {}, 3, kFirst).front());
}

}  // namespace attnviz
