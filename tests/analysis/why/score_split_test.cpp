// Scores as sums of products of parts, against inspected scores, double loops and known circuits.
#include "attnviz/analysis/why/attribution.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/model_builder.h"
#include "support/naive.h"
#include "support/naive_model.h"
#include "support/prediction_model.h"
#include "support/why_cases.h"

namespace attnviz {
namespace {

using test::ModelBuilder;
using Vector = std::vector<double>;

const TokenizedText kFiveTokens = test::text_of({0, 0, 0, 0, 0});

std::string part_name(const StreamPart& part) {
  const std::string layer = std::to_string(part.layer);
  switch (part.kind) {
    case LogitPartKind::kEmbedding:
      return "embedding";
    case LogitPartKind::kPosition:
      return "position";
    case LogitPartKind::kHead:
      return layer + "." + std::to_string(part.head);
    case LogitPartKind::kOutputBias:
      return "b_O " + layer;
    case LogitPartKind::kMlp:
      return "MLP " + layer;
    default:
      return "bias";
  }
}

// The key's part with the largest share of the score, over all parts of the query.
std::string largest_key_part(const ScoreSplit& split) {
  const std::size_t n = split.key_parts.size();
  std::vector<double> shares(n);
  for (std::size_t i = 0; i < split.products.size(); ++i) {
    shares[i % n] += split.products[i];
  }
  const auto largest = std::ranges::max_element(shares) - shares.begin();
  return part_name(split.key_parts[static_cast<std::size_t>(largest)]);
}

// Against inspect_heads(), which computes it by another route.
void check_score(const Model& model, const ModelInput& input, const TokenizedText& text,
                 HeadId head, std::size_t query, std::size_t key,
                 const AttentionRequest& request = {}) {
  CAPTURE(head.layer);
  CAPTURE(head.head);
  CAPTURE(query);
  CAPTURE(key);
  const std::vector<HeadId> heads = {head};
  const auto inspections = inspect_heads(model, input, request, heads, query, false);
  const Inspection& seen = inspections.front();
  const ScoreSplit split = split_score(model, text, request, head, query, key);
  REQUIRE(split.products.size() == split.query_parts.size() * split.key_parts.size());
  const double bias = seen.bias.empty() ? 0.0 : static_cast<double>(seen.bias[key]);
  test::check_why(split.score, static_cast<double>(seen.scaled[key]) + bias);
  CHECK(split.position_bias == doctest::Approx(bias));
  test::check_why(std::accumulate(split.products.begin(), split.products.end(), bias), split.score);
  CHECK(split.weight == doctest::Approx(static_cast<double>(seen.weights[key])).epsilon(1e-4));
}

void check_heads(const Model& model, const std::vector<std::uint32_t>& ids) {
  ModelInput input;
  input.ids = ids;
  const TokenizedText text = test::text_of(ids);
  for (const std::size_t layer : {std::size_t{0}, model.n_layers() / 2, model.n_layers() - 1}) {
    for (std::size_t head = 0; head < model.layers[layer].heads.size(); ++head) {
      check_score(model, input, text, {layer, head}, ids.size() - 1, 1);
      check_score(model, input, text, {layer, head}, 2, 2);
      check_score(model, input, text, {layer, head}, 1, 3);
    }
  }
}

// A row of [n, width].
Vector row_of(const Vector& all, std::size_t row, std::size_t width) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(row * width);
  return {first, first + static_cast<std::ptrdiff_t>(width)};
}

Vector in_doubles(std::span<const float> x) {
  return {x.begin(), x.end()};
}

Vector multiplied(const Vector& x, const StoredMatrix& w) {
  Vector out(w.cols);
  for (std::size_t i = 0; i < w.rows; ++i) {
    for (std::size_t j = 0; j < w.cols; ++j) {
      out[j] += x[i] * static_cast<double>(test::value(w, i, j));
    }
  }
  return out;
}

struct NaivePart {
  std::string name;
  Vector vector;
};

// The stream before layer 2 at a token of a prediction_model().
std::vector<NaivePart> naive_parts(const Model& model, std::size_t token) {
  const test::NaiveResult result = test::naive_run(model);
  std::vector<NaivePart> parts = {{"embedding", in_doubles(model.inputs.row(token))}};
  for (std::size_t index = 0; index < 2; ++index) {
    const LayerWeights& layer = model.layers[index];
    const test::NaiveLayer& steps = result.layers[index];
    const std::size_t width = layer.heads[0].d_value() + layer.heads[1].d_value();
    const Vector z = row_of(steps.contexts, token, width);
    for (std::size_t head = 0; head < 2; ++head) {
      const std::size_t first = head == 0 ? 0 : layer.heads[0].d_value();
      const std::size_t count = layer.heads[head].d_value();
      Vector output(model.config.d_model);
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < output.size(); ++j) {
          const float w = layer.output.weight.empty()
                              ? test::value(layer.heads[head].output, i, j)
                              : test::value(layer.output.weight, first + i, j);
          output[j] += z[first + i] * static_cast<double>(w);
        }
      }
      parts.push_back({std::to_string(index) + "." + std::to_string(head), output});
    }
    parts.push_back({"b_O " + std::to_string(index), in_doubles(layer.output.bias)});
    if (!steps.mlp.empty()) {
      parts.push_back({"MLP " + std::to_string(index), row_of(steps.mlp, token, 6)});
    }
  }
  return parts;
}

// Contributions of the parts, and of the biases, to queries or keys of a head of layer 2.
std::vector<NaivePart> naive_shares(const Model& model, std::size_t token, const Projection& to) {
  std::vector<NaivePart> parts = naive_parts(model, token);
  Vector bias = in_doubles(to.bias);
  if (model.config.order != LayerOrder::kAttentionOnly) {
    const Norm& norm = model.layers[2].attention_norm;  // with a mean and a bias
    Vector x(6);
    for (const NaivePart& part : parts) {
      std::ranges::transform(x, part.vector, x.begin(), std::plus());
    }
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / 6.0;
    double square = 0.0;
    for (const double one : x) {
      square += (one - mean) * (one - mean) / 6.0;
    }
    for (NaivePart& part : parts) {
      const double own = std::accumulate(part.vector.begin(), part.vector.end(), 0.0) / 6.0;
      for (std::size_t i = 0; i < 6; ++i) {
        part.vector[i] = (part.vector[i] - own) / std::sqrt(square + norm.epsilon) *
                         static_cast<double>(norm.weight[i]);
      }
    }
    const Vector beta = multiplied(in_doubles(norm.bias), to.weight);
    std::ranges::transform(bias, beta, bias.begin(), std::plus());
  }
  for (NaivePart& part : parts) {
    part.vector = multiplied(part.vector, to.weight);
  }
  parts.push_back({"bias", bias});
  return parts;
}

// Tokens D A B C A, each at its own position: [token 4 | token before 4 | position 5].
//   head 0.0  looks at the previous position and writes which token is there
//   head 0.1  looks at all tokens uniformly and adds up which they are, where no head reads
//   head 1.0  looks for those whose token before is its own token
Model induction_circuit(ModelBuilder& builder) {
  constexpr std::size_t kWidth = 14, kTokens = 4, kPlaces = 5, kPlace = 8;
  constexpr std::size_t kText[] = {3, 0, 1, 2, 0};
  const auto matrix = [&](std::size_t rows, std::size_t cols, auto cell_of, std::size_t count,
                          float value) {
    std::vector<float> all(rows * cols);
    for (std::size_t i = 0; i < count; ++i) {
      const auto [row, col] = cell_of(i);
      all[row * cols + col] = value;
    }
    return builder.keep(std::move(all), rows, cols);
  };
  const auto shifted = [](std::size_t row, std::size_t col) {
    return [=](std::size_t i) { return std::pair(row + i, col + i); };
  };
  Model& model = builder.model;
  std::vector<float> inputs(5 * kWidth);
  for (std::size_t i = 0; i < 5; ++i) {
    inputs[i * kWidth + kText[i]] = 1.0f;
    inputs[i * kWidth + kPlace + i] = 1.0f;
  }
  model.inputs = builder.keep(std::move(inputs), 5, kWidth);
  const ConstMatrix token = matrix(kWidth, kTokens, shifted(0, 0), kTokens, 1.0f);
  const ConstMatrix none = matrix(kWidth, 1, shifted(0, 0), 0, 0.0f);
  LayerWeights first;
  first.heads.push_back({{matrix(kWidth, kPlaces, shifted(kPlace, 0), kPlaces, 40.0f), {}},
                         {matrix(kWidth, kPlaces, shifted(kPlace, 1), kPlaces - 1, 1.0f), {}},
                         {token, {}},
                         matrix(kTokens, kWidth, shifted(0, kTokens), kTokens, 1.0f)});
  first.heads.push_back(
      {{none, {}}, {none, {}}, {token, {}}, matrix(kTokens, kWidth, shifted(0, 13), 1, 1.0f)});
  LayerWeights second;
  second.heads.push_back({{matrix(kWidth, kTokens, shifted(0, 0), kTokens, 20.0f), {}},
                          {matrix(kWidth, kTokens, shifted(kTokens, 0), kTokens, 1.0f), {}},
                          {token, {}},
                          matrix(kTokens, kWidth, shifted(0, 0), kTokens, 1.0f)});
  model.layers = {first, second};
  return model;
}

}  // namespace

TEST_CASE("score split: for every model the products of parts sum to the inspected score") {
  std::size_t n_models = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(ATTNVIZ_SOURCE_DIR "/tests/reference/models")) {
    if (!exists(entry.path() / "config.json")) {
      continue;
    }
    CAPTURE(entry.path().string());
    const Model model = load_hugging_face(entry.path());
    if (model.config.order != LayerOrder::kPostNorm) {
      check_heads(model, {1, 5, 3, 7, 2, 5, 3});
      ++n_models;
    }
  }
  CHECK(n_models > 20);
  for (const test::WhyCase& one : test::why_cases()) {
    CAPTURE(one.numbers["model"].dump());
    check_heads(one.model, one.ids);
  }
}

TEST_CASE("score split: each part agrees with double loops, biases come last") {
  for (const LayerOrder order :
       {LayerOrder::kPreNorm, LayerOrder::kParallel, LayerOrder::kAttentionOnly}) {
    const Model model = test::prediction_model(order);
    const HeadWeights& head = model.layers[2].heads[0];
    constexpr std::size_t kQuery = 3, kKey = 1;
    const ScoreSplit split = split_score(model, kFiveTokens, {}, {2, 0}, kQuery, kKey);
    const std::vector<NaivePart> queries = naive_shares(model, kQuery, head.query);
    const std::vector<NaivePart> keys = naive_shares(model, kKey, head.key);
    REQUIRE(split.query_parts.size() == queries.size());
    REQUIRE(split.key_parts.size() == keys.size());
    for (std::size_t q = 0; q < queries.size(); ++q) {
      CHECK(part_name(split.query_parts[q]) == queries[q].name);
      for (std::size_t k = 0; k < keys.size(); ++k) {
        CHECK(part_name(split.key_parts[k]) == keys[k].name);
        const double product = std::inner_product(
            queries[q].vector.begin(), queries[q].vector.end(), keys[k].vector.begin(), 0.0);
        test::check_why(split.products[q * keys.size() + k], product / std::sqrt(6.0));
      }
    }
  }
}

TEST_CASE("score split: positions, temperature, scale, norms of queries and omitted parts") {
  for (const Positions positions :
       {Positions::kNone, Positions::kRope, Positions::kAlibi, Positions::kSinusoidal}) {
    ModelBuilder builder(1, 6);
    Model model = test::prediction_model(LayerOrder::kPreNorm);
    model.config.positions = positions;
    model.layers[2].heads[1].query = model.layers[2].heads[0].query;
    model.layers[2].heads[1].key = model.layers[2].heads[0].key;
    Norm& own = model.layers[2].query_norm;
    own.kind = NormKind::kLayer;
    own.weight = builder.random(1, 6).row(0);
    own.bias = builder.random(1, 6).row(0);
    model.layers[2].key_norm.kind = NormKind::kRms;
    model.layers[2].key_norm.weight = builder.random(1, 6).row(0);
    model.layers[1].after_attention_norm = own;
    model.layers[0].after_mlp_norm = own;
    AttentionRequest request;
    request.temperature = 0.7f;
    request.scale = positions != Positions::kAlibi;
    request.interventions = std::make_shared<const Interventions>(
        Interventions{{{0, 1, false, false}}, {{{3}, {0, 2}, {1, 2}, {}}}});
    const test::Pieces pieces(5);
    for (const std::size_t key : {0u, 2u, 4u}) {
      check_score(model, pieces, kFiveTokens, {2, 1}, 3, key, request);
    }
    const ScoreSplit split = split_score(model, kFiveTokens, request, {2, 1}, 3, 2);
    CHECK((part_name(split.query_parts[1]) == "position") == (positions == Positions::kSinusoidal));
    CHECK((split.position_bias != 0.0) == (positions == Positions::kAlibi));
  }
}

TEST_CASE("score split: without a residual a layer reads only the output of the one before") {
  Model model = test::prediction_model(LayerOrder::kAttentionOnly);
  model.config.residual = false;
  check_score(model, test::Pieces(5), kFiveTokens, {2, 0}, 4, 1);
  const ScoreSplit split = split_score(model, kFiveTokens, {}, {2, 0}, 4, 1);
  std::string names;
  for (const StreamPart& part : split.key_parts) {
    names += part_name(part) + " ";
  }
  CHECK(names == "1.0 1.1 b_O 1 bias ");
}

TEST_CASE("score split: an induction head looks for what a previous-token head wrote") {
  ModelBuilder builder(5, 14);
  const Model toy = induction_circuit(builder);
  const ScoreSplit split = split_score(toy, kFiveTokens, {}, {1, 0}, 4, 2);
  CHECK(split.weight > 0.99);
  CHECK(largest_key_part(split) == "0.0");
  // The query's token times what head 0.0 wrote about the key's, divided by √4.
  CHECK(split.products[1] == doctest::Approx(10.0).epsilon(1e-6));
  CHECK(split.score == doctest::Approx(10.0).epsilon(1e-6));

  // "One day Harry Potter met a cat. Harry": from the last token to what followed the first Harry.
  const Model demo = demo_model();
  const TokenizedText text = test::text_of({0, 322, 1081, 3945, 4296, 2216, 3875, 777, 14, 3945});
  for (const std::size_t head : {1u, 3u}) {
    const ScoreSplit of_demo = split_score(demo, text, {}, {2, head}, 9, 4);
    CHECK(of_demo.weight > 0.5);
    CHECK(largest_key_part(of_demo) == "1.3");
  }
}

TEST_CASE("score split: impossible requests are refused") {
  const Model demo = demo_model();
  CHECK_THROWS_WITH_AS(split_score(demo, test::text_of({1, 2}), {}, {0, 0}, 1, 2),
                       "token 2: the text has 2 tokens", Error);
  CHECK_THROWS_AS(split_score(demo, {}, {}, {0, 0}, 0, 0), Error);
  CHECK_THROWS_WITH_AS(
      split_score(test::prediction_model(LayerOrder::kPostNorm), kFiveTokens, {}, {0, 0}, 1, 0),
      doctest::Contains("its layers end in norms"), Error);
}

}  // namespace attnviz
