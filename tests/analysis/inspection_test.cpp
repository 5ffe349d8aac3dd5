#include "attnviz/analysis/inspection.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/simd.h"
#include "support/model_builder.h"
#include "support/naive.h"
#include "support/naive_model.h"

namespace attnviz {
namespace {

using test::ModelBuilder;
using test::OutputForm;
using test::Pieces;

// Three tokens of two numbers, d_head 1, d_value 2, W_O per head: small enough to compute by hand.
//   x = [1 0], [0 1], [1 1]   q = 2 x0   k = x0 + 3 x1   v = [x0, 2 x1]   W_O = [[0 1] [1 0]]
Model by_hand(ModelBuilder& builder) {
  Model& model = builder.model;
  model.inputs = builder.keep({1, 0, 0, 1, 1, 1}, 3, 2);
  model.layers.push_back({{{{builder.keep({2, 0}, 2, 1), {}},
                            {builder.keep({1, 3}, 2, 1), {}},
                            {builder.keep({1, 0, 0, 2}, 2, 2), {}},
                            builder.keep({0, 1, 1, 0}, 2, 2)}},
                          {}});
  return model;
}

Inspection inspect_one(const Model& model, std::size_t query, const AttentionRequest& request = {},
                       HeadId head = {}) {
  const Pieces pieces(model.inputs.rows);
  auto all = inspect_heads(model, pieces, request, std::vector{head}, query, /*all_queries=*/true);
  REQUIRE(all.size() == 1);
  return std::move(all.front());
}

// Two layers with heads of different shapes; the last layer's W_O as requested.
Model two_layers(OutputForm form, Positions positions) {
  ModelBuilder builder(11, 6);
  builder.add_layer({{4, 3}, {2, 5}}, OutputForm::kPerLayer);
  builder.add_layer({{3, 3}, {5, 2}, {4, 4}}, form);
  builder.model.config.positions = positions;
  return builder.model;
}

const std::vector<HeadId> kAllHeads = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 2}};

}  // namespace

TEST_CASE("inspection: a head computed by hand") {
  ModelBuilder builder(3, 2);
  const Inspection head = inspect_one(by_hand(builder), 2);
  CHECK(head.n_tokens() == 3);
  CHECK(head.d_model() == 2);
  CHECK(head.d_head() == 1);
  CHECK(head.d_value() == 2);
  CHECK(head.x()[0] == 1.0f);
  CHECK(head.x()[1] == 1.0f);
  CHECK(head.q.view()(2, 0) == 2.0f);
  CHECK(head.k.view()(0, 0) == 1.0f);
  CHECK(head.k.view()(1, 0) == 3.0f);
  CHECK(head.k.view()(2, 0) == 4.0f);
  CHECK(head.scores == std::vector<float>{2, 6, 8});
  CHECK(head.scaled == std::vector<float>{2, 6, 8});
  CHECK(head.masked == std::vector<float>{2, 6, 8});
  CHECK(head.bias.empty());
  CHECK(head.max == 8.0f);
  const double a = std::exp(-6.0), b = std::exp(-2.0), sum = 1.0 + a + b;
  CHECK(test::largest_difference(test::as_row(head.exponentials), {a, b, 1.0}) < 1e-7);
  CHECK(head.sum == doctest::Approx(sum));
  CHECK(test::largest_difference(test::as_row(head.weights), {a / sum, b / sum, 1 / sum}) < 1e-6);
  CHECK(head.probabilities == head.weights);
  CHECK(test::largest_difference(head.shares.view(),
                                 {a / sum, 0, 0, 2 * b / sum, 1 / sum, 2 / sum}) < 1e-6);
  const double c0 = (a + 1) / sum, c1 = (2 * b + 2) / sum;
  CHECK(test::largest_difference(test::as_row(head.context), {c0, c1}) < 1e-6);
  CHECK(test::largest_difference(test::as_row(head.output), {c1, c0}) < 1e-6);
  CHECK(head.others.empty());
  CHECK(test::largest_difference(test::as_row(head.result), {1 + c1, 1 + c0}) < 1e-6);
}

TEST_CASE("inspection: keys after the query are masked, but their scores are still there") {
  ModelBuilder builder(3, 2);
  const Inspection head = inspect_one(by_hand(builder), 0);
  constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
  CHECK(head.scores == std::vector<float>{2, 6, 8});
  CHECK(head.masked == std::vector<float>{2, kMinusInfinity, kMinusInfinity});
  CHECK(head.exponentials == std::vector<float>{1, 0, 0});
  CHECK(head.weights == std::vector<float>{1, 0, 0});
  CHECK(head.sum == 1.0f);
}

TEST_CASE("inspection: the weights are bit-identical to those that the engine hands to its sinks") {
  for (const std::string& target : kernels::simd_targets()) {
    const kernels::ScopedSimdTarget forced(target);
    for (const Positions positions : {Positions::kNone, Positions::kRope, Positions::kAlibi}) {
      for (const char* mask : {"causal", "none", "window:3", "strided:2", "block:4"}) {
        CAPTURE(target);
        CAPTURE(mask);
        const Model model = two_layers(OutputForm::kPerHead, positions);
        AttentionRequest request;
        request.mask = parse_mask(mask);
        request.temperature = 0.7f;
        request.dropout = 0.25f;
        request.dropout_seed = 5;
        const test::Result whole = test::run(model, request);
        for (const std::size_t query : {0u, 5u, 10u}) {
          const Pieces pieces(11);
          for (const Inspection& head :
               inspect_heads(model, pieces, request, kAllHeads, query, true)) {
            const ConstMatrix pattern = whole.patterns.pattern(head.head);
            CHECK(test::same_bits(test::as_row(head.weights), pattern.row_block(query, 1)));
            CHECK(test::same_bits(head.all->weights.view(), pattern));
            if (head.head.layer == 1) {
              CHECK(test::same_bits(test::as_row(head.result), whole.out().row_block(query, 1)));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("inspection: every step follows from the one before it in double precision") {
  for (const Positions positions : {Positions::kNone, Positions::kRope, Positions::kAlibi}) {
    for (const OutputForm form : {OutputForm::kNone, OutputForm::kPerHead, OutputForm::kPerLayer}) {
      const Model model = two_layers(form, positions);
      AttentionRequest request;
      request.temperature = 2.0f;
      const std::size_t query = 7;
      const test::NaiveResult naive = test::naive_run(model, request);
      const Pieces pieces(11);
      for (const Inspection& head : inspect_heads(model, pieces, request, kAllHeads, query, true)) {
        const std::size_t n = head.n_tokens();
        std::vector<double> weights, context(head.d_value(), 0.0);
        for (std::size_t key = 0; key < n; ++key) {
          double score = 0.0;
          for (std::size_t i = 0; i < head.d_head(); ++i) {
            score += static_cast<double>(head.q.view()(query, i)) *
                     static_cast<double>(head.k.view()(key, i));
          }
          CHECK(head.scores[key] == doctest::Approx(score).epsilon(1e-5));
          const double scaled = score / std::sqrt(static_cast<double>(head.d_head())) / 2.0;
          CHECK(head.scaled[key] == doctest::Approx(scaled).epsilon(1e-5));
          const double bias = head.bias.empty() ? 0.0 : static_cast<double>(head.bias[key]);
          if (key <= query) {
            CHECK(head.masked[key] == doctest::Approx(scaled + bias).epsilon(1e-5));
          } else {
            CHECK(std::isinf(head.masked[key]));
          }
          weights.push_back(naive.patterns[head.head.layer][head.head.head][query * n + key]);
          for (std::size_t i = 0; i < head.d_value(); ++i) {
            context[i] += weights.back() * static_cast<double>(head.v.view()(key, i));
          }
        }
        CHECK(test::largest_difference(test::as_row(head.weights), weights) < 2e-6);
        CHECK(test::largest_difference(test::as_row(head.context), context) < 5e-6);
        CHECK(head.bias.empty() == (positions != Positions::kAlibi));
        CHECK(head.has_output() == (head.head.layer == 0 || form != OutputForm::kNone));
      }
    }
  }
}

TEST_CASE("inspection: ALiBi's bias is minus slope times distance, over the temperature") {
  const Model model = two_layers(OutputForm::kPerHead, Positions::kAlibi);
  AttentionRequest request;
  request.temperature = 2.0f;
  // Two heads: the slopes are 2^-4 and 2^-8.
  const Inspection head = inspect_one(model, 3, request, {0, 1});
  CHECK(head.bias[3] == 0.0f);
  CHECK(head.bias[1] == doctest::Approx(-2.0 / 256.0 / 2.0));
  CHECK(head.bias[5] == doctest::Approx(-2.0 / 256.0 / 2.0));
}

TEST_CASE("inspection: x, output, the other heads and b_O add up to the result") {
  for (const OutputForm form : {OutputForm::kPerHead, OutputForm::kPerLayer}) {
    for (const bool residual : {true, false}) {
      Model model = two_layers(form, Positions::kNone);
      model.config.residual = residual;
      const Inspection head = inspect_one(model, 4, {}, {1, 1});
      // The outputs of the other two heads, obtained by inspecting them.
      const Inspection first = inspect_one(model, 4, {}, {1, 0});
      const Inspection third = inspect_one(model, 4, {}, {1, 2});
      REQUIRE(head.others.size() == 6);
      for (std::size_t i = 0; i < 6; ++i) {
        CHECK(head.others[i] == doctest::Approx(first.output[i] + third.output[i]).epsilon(1e-4));
        const float x = residual ? head.x()[i] : 0.0f;
        CHECK(head.result[i] ==
              doctest::Approx(x + head.output[i] + head.others[i] + head.b_output[i]));
      }
    }
  }
}

TEST_CASE("inspection: without W_O the result holds the context, beside those of the other heads") {
  const Model model = two_layers(OutputForm::kNone, Positions::kNone);
  const Inspection head = inspect_one(model, 4, {}, {1, 1});
  CHECK(head.output.empty());
  CHECK(head.others.empty());
  CHECK(head.context_in_result == 3);
  REQUIRE(head.result.size() == 9);
  CHECK(head.result[3] == head.context[0]);
  CHECK(head.result[4] == head.context[1]);
}

TEST_CASE("inspection: dropout is kept apart from the softmax") {
  ModelBuilder builder(30, 4);
  builder.add_layer({{2, 2}}, OutputForm::kPerHead);
  AttentionRequest request;
  request.dropout = 0.5f;
  request.dropout_seed = 3;
  const Inspection head = inspect_one(builder.model, 29, request);
  std::size_t dropped = 0;
  double sum = 0.0;
  for (std::size_t key = 0; key < 30; ++key) {
    sum += static_cast<double>(head.probabilities[key]);
    dropped += head.weights[key] == 0.0f ? 1u : 0u;
    CHECK((head.weights[key] == 0.0f ||
           head.weights[key] == doctest::Approx(2.0 * head.probabilities[key])));
  }
  CHECK(sum == doctest::Approx(1.0));
  CHECK(dropped > 5);
  CHECK(dropped < 25);
}

TEST_CASE("inspection: one token attends to itself alone") {
  ModelBuilder builder(1, 3);
  builder.add_layer({{2, 2}}, OutputForm::kPerHead);
  const Inspection head = inspect_one(builder.model, 0);
  CHECK(head.weights == std::vector<float>{1.0f});
  CHECK(head.sum == 1.0f);
}

TEST_CASE("inspection: matrices over all queries are computed only on request") {
  ModelBuilder builder(3, 2);
  const Model model = by_hand(builder);
  const Pieces pieces(3);
  const std::vector heads = {HeadId{}};
  CHECK(inspect_heads(model, pieces, {}, heads, 1, false).front().all == nullptr);
  CHECK(inspection_bytes(model, heads, 1000, true) >
        inspection_bytes(model, heads, 1000, false) + 4.0 * 4.0 * 1e6);
}

TEST_CASE("inspection: a query outside the text, and weights that overflow, are reported") {
  ModelBuilder builder(3, 2);
  Model model = by_hand(builder);
  const Pieces pieces(3);
  const std::vector heads = {HeadId{}};
  CHECK_THROWS_WITH_AS(inspect_heads(model, pieces, {}, heads, 3, false),
                       "query 3: expected an index from 0 to 2", Error);
  CHECK_THROWS_AS(inspect_heads(model, {}, {}, heads, 0, false), Error);
  model.layers[0].heads[0].query.weight = builder.keep({3e38f, 3e38f}, 2, 1);
  CHECK_THROWS_AS(inspect_heads(model, pieces, {}, heads, 0, false), Error);
}

}  // namespace attnviz
