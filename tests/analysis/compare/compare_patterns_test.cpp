#include "attnviz/analysis/compare/compare.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "attnviz/analysis/run_stores.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/head_math.h"
#include "attnviz/core/error.h"
#include "attnviz/model/random_model.h"
#include "attnviz/model/stored_model.h"
#include "support/json.h"
#include "support/model_builder.h"

namespace attnviz {
namespace {

using nlohmann::json;

std::vector<HeadId> heads_of(const Model& model) {
  std::vector<HeadId> heads;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    for (std::size_t head = 0; head < model.layers[layer].heads.size(); ++head) {
      heads.push_back({layer, head});
    }
  }
  return heads;
}

std::vector<std::size_t> all_tokens(std::size_t n) {
  std::vector<std::size_t> tokens;
  for (std::size_t i = 0; i < n; ++i) {
    tokens.push_back(i);
  }
  return tokens;
}

ModelInput of_ids(const std::vector<std::uint32_t>& ids) {
  ModelInput input;
  input.ids = ids;
  return input;
}

std::vector<HeadDifference> differences(const Model& a, const ModelInput& text_a, const Model& b,
                                        const ModelInput& text_b, std::size_t n_threads = 1) {
  AttentionRequest request;
  request.n_threads = n_threads;
  PatternStore first(heads_of(a), text_a.size());
  run(a, text_a, request, first);
  const std::vector<std::size_t> tokens = all_tokens(text_a.size());
  const auto run_of = [&](const Model& model) {
    return ComparedRun{tokens, [&](HeadId head) { return mask_of(model, head.layer, request); }};
  };
  PatternComparison second(first, run_of(a), run_of(b));
  run(b, text_b, request, second);
  return second.differences();
}

void check_near(double found, const json& expected) {
  CAPTURE(found);
  CAPTURE(expected.dump());
  CHECK(std::abs(found - expected.get<double>()) < 1e-5);
}

Model reference_model(const std::filesystem::path& path) {
  return path.filename() == "demo"     ? demo_model()
         : path.extension() == ".gguf" ? load_gguf(path)
                                       : load_hugging_face(path);
}

}  // namespace

TEST_CASE("js_divergence_bits: 0 for equal rows, 1 for disjoint ones, and one computed by hand") {
  const float a[] = {0.5f, 0.5f, 0.0f, 0.0f};
  const float b[] = {0.0f, 0.0f, 0.25f, 0.75f};
  const float none[] = {0.0f, 0.0f, 0.0f, 0.0f};
  CHECK(js_divergence_bits(a, a) == 0.0);
  CHECK(js_divergence_bits(a, b) == 1.0);
  CHECK(!js_divergence_bits(a, none));
  // (1, 0) and (½, ½): m = (¾, ¼); ½ log2(4/3) + ½ (½ log2(2/3) + ½ log2 2).
  const float sure[] = {1.0f, 0.0f};
  const float half[] = {0.5f, 0.5f};
  CHECK(*js_divergence_bits(sure, half) ==
        doctest::Approx(0.5 * std::log2(4.0 / 3.0) + 0.25 * std::log2(2.0 / 3.0) + 0.25));
}

TEST_CASE("PatternComparison: a run does not differ from itself, for any number of threads") {
  const test::Pieces pieces(150);
  const Model model = random_model({.n_layers = 2, .n_heads = 3}, /*seed=*/4);
  const ModelInput input{std::span<const std::string_view>(pieces)};
  for (const std::size_t n_threads : {std::size_t{1}, std::size_t{4}}) {
    for (const HeadDifference& head : differences(model, input, model, input, n_threads)) {
      CHECK(head.js_bits == 0.0);
      CHECK(head.js_bits_max == 0.0);
      CHECK(head.largest_change == 0.0f);
    }
  }
}

TEST_CASE("PatternComparison: agrees with plain loops, for any number of threads") {
  constexpr std::size_t kTokens = 150;
  const test::Pieces pieces(kTokens);
  const ModelInput input{std::span<const std::string_view>(pieces)};
  const Model a = random_model({.n_layers = 2, .n_heads = 2}, /*seed=*/4);
  const Model b = random_model({.n_layers = 2, .n_heads = 2}, /*seed=*/5);
  PatternStore of_a(heads_of(a), kTokens);
  PatternStore of_b(heads_of(b), kTokens);
  run(a, input, {}, of_a);
  run(b, input, {}, of_b);
  for (const std::size_t n_threads : {std::size_t{1}, std::size_t{4}}) {
    for (const HeadDifference& head : differences(a, input, b, input, n_threads)) {
      const ConstMatrix first = of_a.pattern(head.head);
      const ConstMatrix second = of_b.pattern(head.head);
      double sum = 0.0;
      double most = 0.0;
      float largest = 0.0f;
      for (std::size_t query = 0; query < kTokens; ++query) {
        double bits = 0.0;
        for (std::size_t key = 0; key <= query; ++key) {
          const auto p = static_cast<double>(first(query, key));
          const auto q = static_cast<double>(second(query, key));
          bits += 0.5 * p * std::log2(2.0 * p / (p + q)) + 0.5 * q * std::log2(2.0 * q / (p + q));
          largest = std::max(largest, std::abs(first(query, key) - second(query, key)));
        }
        sum += bits;
        most = std::max(most, bits);
      }
      CHECK(*head.js_bits == doctest::Approx(sum / (kTokens - 1)).epsilon(1e-5));
      CHECK(head.js_bits_max.value() == doctest::Approx(most).epsilon(1e-5));
      CHECK(head.largest_change == largest);
      CHECK(std::abs(first(head.query, head.key) - second(head.query, head.key)) == largest);
      CHECK(head.weights[0] == first(head.query, head.key));
      CHECK(head.weights[1] == second(head.query, head.key));
    }
  }
}

TEST_CASE(
    "PatternComparison: a query that sees two keys in only one run is counted, whichever it is") {
  const test::Pieces pieces(3);
  const ModelInput input{std::span<const std::string_view>(pieces)};
  const Model causal = random_model({}, /*seed=*/4);
  Model blind = causal;
  blind.config.mask = Mask{MaskKind::kWindow, 1};
  const auto one = differences(causal, input, blind, input);
  const auto other = differences(blind, input, causal, input);
  for (std::size_t i = 0; i < one.size(); ++i) {
    REQUIRE(one[i].js_bits.has_value());
    REQUIRE(other[i].js_bits.has_value());
    CHECK(*one[i].js_bits > 0.0);
    CHECK(*one[i].js_bits == doctest::Approx(*other[i].js_bits));
  }
}

TEST_CASE("PatternComparison: one token alone has no divergence") {
  const test::Pieces pieces(1);
  const Model model = random_model({}, /*seed=*/4);
  const ModelInput input{std::span<const std::string_view>(pieces)};
  CHECK(!differences(model, input, model, input).front().js_bits);
}

TEST_CASE("RestrictSink: rows and columns of chosen tokens, rescaled to sum to 1") {
  PatternStore store({{0, 0}}, 2);
  const std::size_t tokens[] = {1, 3};
  RestrictSink sink(store, tokens, 4);
  const float rows[] = {1, 0, 0, 0, 0.5f, 0.5f, 0, 0, 0, 0, 1, 0, 0.25f, 0.25f, 0.25f, 0.25f};
  sink.rows({0, 0}, 0, 0, {rows, 2, 4, 4});
  const float last[] = {0.25f, 0.25f, 0.5f};  // for the keys from 1 on
  sink.rows({0, 0}, 3, 1, {last, 1, 3, 3});
  const ConstMatrix found = store.pattern({0, 0});
  CHECK(found(0, 0) == 1.0f);
  CHECK(found(0, 1) == 0.0f);
  CHECK(found(1, 0) == doctest::Approx(1.0 / 3.0));
  CHECK(found(1, 1) == doctest::Approx(2.0 / 3.0));
}

TEST_CASE("diff: agrees with an independent float64 implementation") {
  const std::filesystem::path folder = ATTNVIZ_SOURCE_DIR "/../shared/reference/why";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("SKIPPED: no ../shared/reference/why");
    return;
  }
  const json reference = test::read_json(folder / "diff.json");
  for (const json& one : reference["cases"]) {
    const bool of_models = one.contains("models");
    std::vector<Model> models;
    std::vector<std::vector<std::uint32_t>> ids;
    if (of_models) {
      for (const json& name : one["models"]) {
        models.push_back(reference_model(folder / ".." / name.get<std::string>()));
      }
      ids.assign(2, one["ids"].get<std::vector<std::uint32_t>>());
    } else {
      const std::string name = one["model"];
      models.assign(2, reference_model(folder / ".." / "models" / name));
      ids = one["ids"].get<std::vector<std::vector<std::uint32_t>>>();
    }
    const auto found = differences(models[0], of_ids(ids[0]), models[1], of_ids(ids[1]));
    for (const HeadDifference& head : found) {
      const auto at = [&](const char* key) { return one[key][head.head.layer][head.head.head]; };
      CAPTURE(one.dump().substr(0, 100));
      check_near(*head.js_bits, at("js_bits"));
      check_near(head.js_bits_max.value(), at("js_bits_max"));
      check_near(static_cast<double>(head.largest_change), at("max_change"));
      // One of two keys gains what the other loses, and equal rows change nowhere.
      const bool is_tie = at("max_change_at")[0] == 1 || at("max_change") < 1e-6;
      CHECK((is_tie || json{head.query, head.key} == at("max_change_at")));
    }
  }
}

TEST_CASE("PatternComparison: the share of a learned sink counts as one more key") {
  PatternStore first({{0, 0}}, 2);
  const std::vector<float> before = {1.0f, 0.0f, 0.5f, 0.5f};
  first.rows({0, 0}, 0, 0, {before.data(), 2, 2, 2});
  const std::vector<std::size_t> tokens = all_tokens(2);
  const ComparedRun seen{tokens, [](HeadId) { return Mask{}; }};
  PatternComparison second(first, seen, seen);
  // The same shares among the tokens, but half of everything goes to the sink: 0.5 · 1 bit of KL to
  // the mean there.
  const std::vector<float> after = {1.0f, 0.0f, 0.25f, 0.25f};
  const std::vector<float> sinks = {0.0f, 0.5f};
  second.sinks({0, 0}, 0, sinks);
  second.rows({0, 0}, 0, 0, {after.data(), 2, 2, 2});
  const std::vector<HeadDifference> found = second.differences();
  REQUIRE(found.size() == 1);
  const std::vector<float> whole_before = {0.5f, 0.5f, 0.0f};
  const std::vector<float> whole_after = {0.25f, 0.25f, 0.5f};
  CHECK(found[0].js_bits == js_divergence_bits(whole_before, whole_after));
  CHECK(*found[0].js_bits > 0.3);
  CHECK(found[0].largest_change == 0.25f);  // of a weight on a token
}

}  // namespace attnviz
