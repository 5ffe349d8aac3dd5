#include "attnviz/attention/engine.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/kernels/simd.h"
#include "support/model_builder.h"
#include "support/naive.h"
#include "support/naive_model.h"
#include "support/screen_text.h"

namespace attnviz {
namespace {

using test::contains;
using test::ModelBuilder;
using test::OutputForm;

// One head whose query and key are the single input value times a factor, and whose value is the
// input.
Model one_number_model(const std::vector<float>& inputs, float query_factor) {
  ModelBuilder builder(1, 1);
  builder.model.inputs = builder.keep(inputs, inputs.size(), 1);
  HeadWeights head;
  head.query.weight = builder.keep({query_factor}, 1, 1);
  head.key.weight = builder.keep({1.0f}, 1, 1);
  head.value.weight = builder.keep({1.0f}, 1, 1);
  builder.model.layers.push_back({{head}, {}});
  return builder.model;
}

std::string message_of(const Model& model, const AttentionRequest& request, ErrorKind kind) {
  try {
    test::run(model, request);
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("engine: every SIMD target agrees with the reference at odd sizes") {
  for (const std::size_t n : {1u, 2u, 7u, 17u, 40u, 129u}) {
    for (const std::size_t d : {1u, 3u, 8u, 15u, 33u, 64u}) {
      ModelBuilder builder(n, 5, d);
      builder.add_layer({{d, d}});
      const test::NaiveResult expected = test::naive_run(builder.model);
      for (const std::string& target : kernels::simd_targets()) {
        const kernels::ScopedSimdTarget forced(target);
        CAPTURE(n);
        CAPTURE(d);
        CAPTURE(target);
        const test::Result actual = test::run(builder.model);
        CHECK(test::largest_difference(actual.pattern(0, 0), expected.patterns[0][0]) < 2e-6);
        CHECK(test::largest_difference(actual.out(), expected.output) < 2e-6);
      }
    }
  }
}

TEST_CASE("engine: bit-identical for any number of threads") {
  // Every step has enough work for several threads.
  ModelBuilder builder(530, 64);
  builder.add_layer({{40, 50}, {47, 43}, {41, 41}}, OutputForm::kPerHead);
  builder.add_layer({{8, 8}, {64, 120}}, OutputForm::kPerLayer);
  for (const std::string mask : {"causal", "none", "window:9", "strided:5", "block:20"}) {
    CAPTURE(mask);
    AttentionRequest request;
    request.mask = parse_mask(mask);
    request.dropout = 0.2f;
    const test::Result one = test::run(builder.model, request);
    for (const std::size_t n_threads : {2u, 7u}) {
      CAPTURE(n_threads);
      request.n_threads = n_threads;
      const test::Result many = test::run(builder.model, request);
      CHECK(test::same_bits(many.out(), one.out()));
      for (const HeadId head : one.patterns.heads()) {
        CHECK(test::same_bits(many.patterns.pattern(head), one.patterns.pattern(head)));
      }
    }
  }
}

TEST_CASE("engine: later tokens change no bit of earlier rows") {
  for (const std::string mask : {"causal", "window:30", "strided:5", "block:50"}) {
    CAPTURE(mask);
    ModelBuilder builder(100, 8);
    builder.add_layer({{4, 4}, {3, 5}}, OutputForm::kPerHead).add_layer({{8, 8}});
    builder.model.config.mask = parse_mask(mask);
    const test::Result before = test::run(builder.model);

    constexpr std::size_t kChanged = 60;
    std::vector<float> inputs(builder.model.inputs.data, builder.model.inputs.data + 100 * 8);
    inputs[kChanged * 8 + 3] += 1.0f;
    builder.model.inputs = builder.keep(inputs, 100, 8);
    const test::Result after = test::run(builder.model);

    for (const HeadId head : before.patterns.heads()) {
      CHECK(test::same_bits(after.patterns.pattern(head).row_block(0, kChanged),
                            before.patterns.pattern(head).row_block(0, kChanged)));
    }
    CHECK(test::same_bits(after.out().row_block(0, kChanged), before.out().row_block(0, kChanged)));
    CHECK(
        !test::same_bits(after.out().row_block(kChanged, 1), before.out().row_block(kChanged, 1)));
  }
}

TEST_CASE("engine: rope and alibi agree with the reference, causal and bidirectional") {
  for (const Positions positions : {Positions::kRope, Positions::kAlibi}) {
    for (const std::string mask : {"causal", "none", "window:20"}) {
      CAPTURE(mask);
      ModelBuilder builder(70, 6);
      builder.add_layer({{8, 8}, {7, 3}, {1, 2}}, OutputForm::kPerLayer).add_layer({{4, 4}});
      builder.model.config.positions = positions;
      AttentionRequest request;
      request.mask = parse_mask(mask);
      request.temperature = 0.75f;  // divides alibi's bias as well
      const test::Result actual = test::run(builder.model, request);
      const test::NaiveResult expected = test::naive_run(builder.model, request);
      for (const HeadId head : actual.patterns.heads()) {
        CHECK(test::largest_difference(actual.patterns.pattern(head),
                                       expected.patterns[head.layer][head.head]) < 2e-6);
      }
      builder.model.config.positions = Positions::kNone;
      CHECK(!test::same_bits(test::run(builder.model, request).out(), actual.out()));
    }
  }
}

TEST_CASE("engine: alibi alone gives a softmax of distances") {
  Model model = one_number_model({1.0f, 1.0f, 1.0f}, 0.0f);
  model.config.positions = Positions::kAlibi;
  // One head's slope is 1/256.
  const double near = 1.0;
  const double middle = std::exp(-1.0 / 256.0);
  const double far = std::exp(-2.0 / 256.0);
  const test::Result causal = test::run(model);
  CHECK(std::abs(causal.pattern(0, 0)(2, 0) - far / (near + middle + far)) < 1e-6);
  AttentionRequest request;
  request.mask = Mask{MaskKind::kNone, 0};
  const test::Result both_ways = test::run(model, request);
  CHECK(std::abs(both_ways.pattern(0, 0)(1, 0) - middle / (near + 2 * middle)) < 1e-6);
  CHECK(both_ways.pattern(0, 0)(1, 0) == both_ways.pattern(0, 0)(1, 2));
}

TEST_CASE("engine: temperature divides the scaled scores; without scaling they stay large") {
  // Last row's scores are 0, 2 and 4 times the factor.
  const Model model = one_number_model({0.0f, 1.0f, 2.0f}, 1.0f);
  const auto last_weight = [&](float temperature) {
    AttentionRequest request;
    request.temperature = temperature;
    return static_cast<double>(test::run(model, request).pattern(0, 0)(2, 2));
  };
  const auto expected = [](double t) {
    return std::exp(4 / t) / (1 + std::exp(2 / t) + std::exp(4 / t));
  };
  CHECK(std::abs(last_weight(1.0f) - expected(1.0)) < 1e-6);
  CHECK(std::abs(last_weight(2.0f) - expected(2.0)) < 1e-6);
  CHECK(std::abs(last_weight(0.25f) - expected(0.25)) < 1e-6);
  CHECK(std::abs(last_weight(1e30f) - 1.0 / 3.0) < 1e-6);
  CHECK(last_weight(1e-30f) == 1.0);

  ModelBuilder builder(20, 6);
  builder.add_layer({{9, 4}, {3, 3}});
  AttentionRequest request;
  request.scale = false;
  request.temperature = 2.0f;
  const test::Result unscaled = test::run(builder.model, request);
  const test::NaiveResult unscaled_expected = test::naive_run(builder.model, request);
  CHECK(test::largest_difference(unscaled.pattern(0, 0), unscaled_expected.patterns[0][0]) < 2e-6);
  // Unscaled with T = √d_head equals the scaled form.
  request.temperature = 3.0f;
  const test::Result by_hand = test::run(builder.model, request);
  const test::NaiveResult scaled = test::naive_run(builder.model);
  CHECK(test::largest_difference(by_hand.pattern(0, 0), scaled.patterns[0][0]) < 2e-6);
}

TEST_CASE("engine: dropout rescales the weights that it keeps, in the pattern and in the context") {
  ModelBuilder builder(90, 6);
  builder.add_layer({{4, 4}, {4, 4}});
  const test::Result whole = test::run(builder.model);
  AttentionRequest request;
  request.dropout = 0.5f;
  request.dropout_seed = 11;
  const test::Result dropped = test::run(builder.model, request);
  std::size_t n_dropped = 0;
  std::size_t n_visible = 0;
  for (std::size_t query = 0; query < 90; ++query) {
    for (std::size_t key = 0; key < 90; ++key) {
      const float weight = whole.pattern(0, 1)(query, key);
      const float kept = dropped.pattern(0, 1)(query, key);
      REQUIRE((kept == 0.0f || kept == weight * 2.0f));
      n_visible += weight != 0.0f ? 1 : 0;
      n_dropped += weight != 0.0f && kept == 0.0f ? 1 : 0;
    }
  }
  // Five standard deviations around a half.
  const auto half = static_cast<double>(n_visible) / 2.0;
  CHECK(std::abs(static_cast<double>(n_dropped) - half) < 5.0 * std::sqrt(half / 2.0));

  const ConstMatrix x = builder.model.inputs;
  const Projection& value = builder.model.layers[0].heads[1].value;
  const std::vector<float> bias(value.bias.begin(), value.bias.end());
  const std::vector<double> v = test::naive_matmul(x, value.weight.as_floats(), bias);
  std::vector<float> v_floats(v.begin(), v.end());
  const std::vector<double> context =
      test::naive_matmul(dropped.pattern(0, 1), test::matrix_over(v_floats, 90, 4));
  CHECK(test::largest_difference(dropped.out().col_block(4, 4), context) < 2e-6);

  CHECK(test::same_bits(test::run(builder.model, request).out(), dropped.out()));
  request.dropout_seed = 12;
  CHECK(!test::same_bits(test::run(builder.model, request).out(), dropped.out()));
  request.dropout = 0.0f;
  CHECK(test::same_bits(test::run(builder.model, request).out(), whole.out()));
}

TEST_CASE("engine: scores of plus and minus ten thousand pick one key without overflow") {
  const Model model = one_number_model({-1.0f, 1.0f, 0.0f, 1.0f}, 1e4f);
  const test::Result result = test::run(model);
  const std::vector<double> expected = {1,      0,      0,      0, 0, 1,   0, 0,
                                        1. / 3, 1. / 3, 1. / 3, 0, 0, 0.5, 0, 0.5};
  CHECK(test::largest_difference(result.pattern(0, 0), expected) < 1e-7);
  CHECK(test::largest_difference(result.out(), {-1, 1, 0, 1}) < 1e-6);
}

TEST_CASE("engine: layers above the last requested head are not computed") {
  ModelBuilder builder(10, 4);
  for (int layer = 0; layer < 3; ++layer) {
    builder.add_layer({{4, 4}, {2, 2}}, OutputForm::kPerLayer);
  }
  const Model& model = builder.model;
  const auto output_of_first = [&](std::size_t n_layers) {
    Model part = model;
    part.layers.resize(n_layers);
    return test::naive_run(part).output;
  };
  PatternStore middle({{0, 1}, {1, 0}}, 10);
  Model broken = model;  // above
  constexpr float kHuge = 1e30f;
  broken.layers[2].heads[0].query.weight = builder.random(4, 4, kHuge);
  broken.layers[2].heads[0].key.weight = builder.random(4, 4, kHuge);
  run(broken, test::Pieces(10), {}, middle);
  const test::NaiveResult expected = test::naive_run(model);
  CHECK(test::largest_difference(middle.pattern({1, 0}), expected.patterns[1][0]) < 2e-6);

  Model part = model;
  for (const std::size_t n_layers : {std::size_t{2}, std::size_t{3}}) {
    part.layers = {model.layers.begin(), model.layers.begin() + static_cast<int>(n_layers)};
    const MatrixBuffer output = test::output_of(part, test::Pieces(10));
    CHECK(test::largest_difference(output.view(), output_of_first(n_layers)) < 5e-6);
  }
}

TEST_CASE("engine: option values out of range are usage errors that name them") {
  ModelBuilder builder(3, 2);
  builder.add_layer({{2, 2}});
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float temperature :
       {0.0f, -0.0f, -1.0f, kNan, kInfinity, -kInfinity, 1e-45f, 1.2e-38f, 2e38f}) {
    AttentionRequest request;
    request.temperature = temperature;
    CAPTURE(temperature);
    CHECK(contains(message_of(builder.model, request, ErrorKind::kUsage), "temperature"));
  }
  for (const float dropout : {-0.1f, 1.0f, 2.0f, kNan, kInfinity}) {
    AttentionRequest request;
    request.dropout = dropout;
    CAPTURE(dropout);
    CHECK(contains(message_of(builder.model, request, ErrorKind::kUsage), "dropout"));
  }
  for (const MaskKind kind : {MaskKind::kWindow, MaskKind::kStrided, MaskKind::kBlock}) {
    AttentionRequest request;
    request.mask = Mask{kind, 0};
    CHECK(contains(message_of(builder.model, request, ErrorKind::kUsage), "at least 1"));
  }
  CHECK_THROWS_AS(test::output_of(builder.model, {}), Error);
  CHECK_THROWS_AS(test::output_of(builder.model, test::Pieces(4)), Error);
  builder.model.layers.clear();
  CHECK_THROWS_AS(test::output_of(builder.model, test::Pieces(3)), Error);
}

TEST_CASE("engine: numbers that overflow are malformed weights, and the first head is named") {
  constexpr float kHuge = 1e30f;
  for (const std::size_t n_threads : {1u, 4u}) {
    ModelBuilder builder(700, 4);
    builder.add_layer({{2, 2}, {2, 2}, {2, 2}, {2, 2}});
    AttentionRequest request;
    request.n_threads = n_threads;

    Model model = builder.model;
    for (const std::size_t head : {2u, 3u}) {
      model.layers[0].heads[head].query.weight = builder.random(4, 2, kHuge);
      model.layers[0].heads[head].key.weight = builder.random(4, 2, kHuge);
    }
    CHECK(contains(message_of(model, request, ErrorKind::kMalformed),
                   "layer 0, head 2: a score is not a finite number"));

    model = builder.model;
    model.layers[0].heads[1].value.weight = builder.random(4, 2, 3e38f);
    CHECK(contains(message_of(model, request, ErrorKind::kMalformed),
                   "layer 0, head 1: a context is not a finite number"));

    for (const std::size_t head : {2u, 3u}) {  // checked head by head, scores first
      model.layers[0].heads[head].query.weight = builder.random(4, 2, kHuge);
      model.layers[0].heads[head].key.weight = builder.random(4, 2, kHuge);
    }
    CHECK(contains(message_of(model, request, ErrorKind::kMalformed),
                   "layer 0, head 1: a context is not a finite number"));

    model = builder.model;
    model.layers[0].output.weight = builder.random(8, 4, 3e38f);
    CHECK(contains(message_of(model, request, ErrorKind::kMalformed),
                   "layer 0, the output is not a finite number"));
  }
  // Minus infinity is as wrong as plus infinity, although a mask may write it.
  CHECK(contains(message_of(one_number_model({1e20f, -1e20f}, 1.0f), {}, ErrorKind::kMalformed),
                 "a score is not a finite number"));
  // Nor may a score become infinite in between, with ALiBi's penalty or without.
  AttentionRequest cold;
  cold.temperature = 1e-37f;
  for (const Positions positions : {Positions::kNone, Positions::kAlibi}) {
    for (const float factor : {80.0f, -80.0f}) {
      Model model = one_number_model({1.0f, 0.5f}, factor);
      model.config.positions = positions;
      CHECK(contains(message_of(model, cold, ErrorKind::kMalformed),
                     "a score is not a finite number"));
    }
  }
}

}  // namespace attnviz
