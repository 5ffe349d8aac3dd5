// Models whose heads read latents: inspections of them, against plain loops and against files that
// hold the same numbers in another layout.

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "attnviz/analysis/compare/compare.h"
#include "attnviz/analysis/heads/probe.h"
#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/analysis/inspection.h"
#include "attnviz/analysis/model_shape.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/kernels/stored_numbers.h"
#include "attnviz/model/stored_model.h"
#include "support/reference_case.h"

namespace attnviz {
namespace {

namespace fs = std::filesystem;
using Doubles = std::vector<double>;

const fs::path kCases = ATTNVIZ_SOURCE_DIR "/tests/reference/experts";
constexpr const char* kLatentModels[] = {"deepseek2-lite", "deepseek2-groups", "deepseek3",
                                         "deepseek3-plain"};

Doubles as_doubles(std::span<const float> values) {
  return {values.begin(), values.end()};
}

// x · weight, with as many numbers of x as the matrix has rows.
Doubles projected(const StoredMatrix& weight, const Doubles& x) {
  const MatrixBuffer w = to_floats(weight);
  Doubles out(w.cols());
  for (std::size_t row = 0; row < w.rows(); ++row) {
    for (std::size_t col = 0; col < w.cols(); ++col) {
      out[col] += x[row] * static_cast<double>(w.view()(row, col));
    }
  }
  return out;
}

// The norm of the first numbers, as many as it has weights.
void norm_front(const Norm& norm, Doubles& x) {
  double square = 0.0;
  for (std::size_t i = 0; i < norm.weight.size(); ++i) {
    square += x[i] * x[i] / static_cast<double>(norm.weight.size());
  }
  for (std::size_t i = 0; i < norm.weight.size(); ++i) {
    x[i] *= static_cast<double>(norm.weight[i]) / std::sqrt(square + norm.epsilon);
  }
}

// Rotates the dimensions from `first` on in place, in pairs of neighbours.
void turn(const Rope& rope, std::size_t first, std::size_t position, Doubles& x) {
  for (std::size_t i = 0; i < rope.inverse_frequencies.size(); ++i) {
    const double angle = static_cast<double>(position) * rope.inverse_frequencies[i];
    const double a = x[first + 2 * i];
    const double b = x[first + 2 * i + 1];
    x[first + 2 * i] = a * std::cos(angle) - b * std::sin(angle);
    x[first + 2 * i + 1] = a * std::sin(angle) + b * std::cos(angle);
  }
}

void check_near(std::span<const float> actual, const Doubles& expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    CHECK(std::abs(static_cast<double>(actual[i]) - expected[i]) < 2e-5);
  }
}

}  // namespace

TEST_CASE("latents: inspected queries, keys and values are those of plain loops") {
  for (const char* const name : kLatentModels) {
    CAPTURE(name);
    const test::ReferenceCase loaded = test::load_reference_case(kCases / name);
    const Model& model = loaded.model;
    const ModelInput input = loaded.text.view();
    const std::size_t query = input.size() - 2;
    for (const Inspection& head :
         inspect_heads(model, input, {}, select_heads(model, "", ""), query, true)) {
      const LayerWeights& layer = model.layers[head.head.layer];
      const Latents& latents = layer.latents;
      const HeadWeights& weights = layer.heads[head.head.head];
      const std::size_t first = weights.d_head() - latents.n_shared();
      REQUIRE(latents.present());
      const Doubles y = as_doubles(head.y());
      Doubles c_q = y;
      if (latents.query_rank() > 0) {
        c_q = projected(latents.query_down.weight, y);
        norm_front(latents.query_norm, c_q);
      }
      Doubles q = projected(weights.query.weight, c_q);
      turn(*layer.rope, first, query, q);
      check_near(head.q.view().row(query), q);
      for (std::size_t token = 0; token < input.size(); ++token) {
        Doubles c = projected(latents.key_down.weight, as_doubles(head.look->view().row(token)));
        norm_front(latents.key_norm, c);
        Doubles k = projected(weights.key.weight, c);
        k.insert(k.end(), c.begin() + static_cast<std::ptrdiff_t>(latents.rank()), c.end());
        turn(*layer.rope, first, token, k);
        check_near(head.k.view().row(token), k);
        check_near(head.v.view().row(token), projected(weights.value.weight, c));
      }
    }
  }
}

TEST_CASE("latents: both GGUF layouts hold the same numbers as the folder") {
  for (const char* const name :
       {"deepseek2-lite/deepseek2-lite.gguf", "deepseek2-lite/deepseek2-lite-oldkv.gguf",
        "deepseek3/deepseek3.gguf", "deepseek3/deepseek3-oldkv.gguf",
        "deepseek3-plain/deepseek3-plain.gguf"}) {
    const fs::path file = name;
    CAPTURE(name);
    const Model folder = load_hugging_face(kCases / file.parent_path());
    const Model gguf = load_gguf(kCases / file);
    require_same_heads(folder, gguf);
    CHECK(different_settings(folder, gguf).empty());
    std::size_t n_latent = 0;
    for (const TensorDifference& tensor : compare_tensors(folder, gguf, 1)) {
      CAPTURE(tensor.name);
      CHECK(tensor.relative == 0.0);
      const bool is_latent = tensor.name == "W_key_down" || tensor.name == "key_down_norm";
      n_latent += is_latent ? 1U : 0U;
    }
    CHECK(n_latent == 2 * folder.n_layers());
  }
}

TEST_CASE("latents: each number of the files is counted once") {
  for (const char* const name : kLatentModels) {
    CAPTURE(name);
    const Model model = load_hugging_face(kCases / name);
    const ModelShape shape = model_shape(model);
    std::size_t n_numbers = 0;
    for (const StoredWeights::Numbers& numbers : model.stored.used) {
      n_numbers += numbers.count;
    }
    CHECK(count_parameters(shape).total == n_numbers);
    const LayerShape& layer = *shape.first_latent();
    const HeadsShape& heads = layer.heads.front();
    CHECK(layer.kept() == heads.n_heads * (heads.d_head + heads.d_value));
    CHECK(layer.kept_latents() == layer.key_rank + layer.shared_key);
    CHECK(kept_latent_bytes(shape, 7, 2) == 7 * 2 * model.n_layers() * layer.kept_latents());
  }
}

TEST_CASE("latents: their projections are part of a model's fingerprint") {
  Model model = load_hugging_face(kCases / "deepseek3");
  const std::string before = model_fingerprint(model);
  model.layers[1].latents.key_down = model.layers[0].latents.key_down;
  CHECK(model_fingerprint(model) != before);
}

TEST_CASE("latents: a head's copying score equals that of the same head with one full matrix") {
  const Model model = load_hugging_face(kCases / "deepseek2-lite");
  Model expanded = model;
  LayerWeights& layer = expanded.layers[1];
  const Latents latents = layer.latents;
  layer.latents = {};
  std::vector<MatrixBuffer> kept;
  for (HeadWeights& head : layer.heads) {
    const MatrixBuffer down = to_floats(latents.key_down.weight);
    MatrixBuffer value(down.rows(), head.d_value());
    for (std::size_t row = 0; row < down.rows(); ++row) {
      Doubles c = as_doubles(down.view().row(row).first(latents.rank()));
      for (std::size_t i = 0; i < c.size(); ++i) {
        c[i] *= static_cast<double>(latents.key_norm.weight[i]);
      }
      const Doubles v = projected(head.value.weight, c);
      for (std::size_t col = 0; col < v.size(); ++col) {
        value.view()(row, col) = static_cast<float>(v[col]);
      }
    }
    kept.push_back(std::move(value));
    head.value.weight = kept.back().view();
  }
  const std::vector<HeadId> heads = {{1, 0}, {1, 3}};
  const auto found = copying_scores(model, heads, 1);
  const auto expected = copying_scores(expanded, heads, 1);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    CHECK(*found[i] == doctest::Approx(*expected[i]).epsilon(1e-3));
  }
}

}  // namespace attnviz
