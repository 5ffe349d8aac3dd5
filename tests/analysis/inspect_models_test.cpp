// Heads of whole models, one query followed: against the engine, the references and plain loops.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/model/stored_model.h"
#include "support/model_builder.h"
#include "support/naive.h"
#include "support/reference_case.h"

namespace attnviz {
namespace {

using test::ReferenceCase;
using Doubles = std::vector<double>;

const std::filesystem::path kModels = ATTNVIZ_SOURCE_DIR "/tests/reference/models";
const std::filesystem::path kFamilies = ATTNVIZ_SOURCE_DIR "/tests/reference/families";

Doubles doubles(std::span<const float> values) {
  return {values.begin(), values.end()};
}

// The largest difference, as a share of the largest number where that is above 1.
double difference(std::span<const float> actual, const Doubles& expected) {
  REQUIRE(actual.size() == expected.size());
  double largest = 0.0;
  double size = 1.0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(actual[i]) - expected[i]));
    size = std::max(size, std::abs(expected[i]));
  }
  return largest / size;
}

Doubles normed(const Norm& norm, const Doubles& x) {
  const auto n = static_cast<double>(x.size());
  double mean = 0.0, square = 0.0;
  for (const double value : x) {
    mean += norm.kind == NormKind::kLayer ? value / n : 0.0;
  }
  for (const double value : x) {
    square += (value - mean) * (value - mean) / n;
  }
  Doubles out;
  out.reserve(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double gain =
        static_cast<double>(norm.weight[i]) + static_cast<double>(norm.weight_offset);
    const double bias = norm.bias.empty() ? 0.0 : static_cast<double>(norm.bias[i]);
    out.push_back((x[i] - mean) / std::sqrt(square + norm.epsilon) * gain + bias);
  }
  return out;
}

Doubles projected(const Projection& projection, const Doubles& x) {
  const ConstMatrix weight = projection.weight.as_floats();
  Doubles out;
  out.reserve(weight.cols);
  for (std::size_t col = 0; col < weight.cols; ++col) {
    double sum = projection.bias.empty() ? 0.0 : static_cast<double>(projection.bias[col]);
    for (std::size_t row = 0; row < weight.rows; ++row) {
      sum += x[row] * static_cast<double>(weight(row, col));
    }
    out.push_back(sum);
  }
  return out;
}

Doubles turned(const Inspection& head, std::size_t position, Doubles x) {
  const std::size_t pairs = head.rope->n_pairs();
  const auto magnitude = static_cast<double>(head.rope->magnitude);
  for (std::size_t i = 0; i < pairs; ++i) {
    const double angle = static_cast<double>(position) * head.rope->frequencies[i];
    const double a = x[i], b = x[i + pairs];
    x[i] = magnitude * (a * std::cos(angle) - b * std::sin(angle));
    x[i + pairs] = magnitude * (a * std::sin(angle) + b * std::cos(angle));
  }
  return x;
}

std::vector<Inspection> inspect(const Model& model, const ModelInput& input, std::size_t query,
                                const AttentionRequest& request = {}) {
  return inspect_heads(model, input, request, select_heads(model, "", ""), query,
                       /*all_queries=*/true);
}

// The head's contexts as the engine computes them: in a layer without W_O, side by side.
MatrixBuffer contexts_of(const Model& model, const Inspection& head) {
  Model last = model;
  LayerWeights& layer = last.layers[head.head.layer];
  layer.output = {};
  LayerMemory memory;
  RunObserver idle_observer;
  return attend_layer(last, head.head.layer, head.look->view(), {}, head.request, idle_observer,
                      memory, nullptr);
}

}  // namespace

TEST_CASE("whole models: weights and context are bit-identical to the engine's, in every family") {
  for (const auto& folder : test::reference_cases()) {
    const ReferenceCase reference = test::load_reference_case(folder);
    CAPTURE(reference.name);
    const std::size_t n = reference.text.ids.size();
    PatternStore patterns(select_heads(reference.model, "", ""), n);
    run(reference.model, reference.text.view(), {}, patterns);
    std::size_t first = 0;  // first index of the head's numbers in the reference
    for (const Inspection& head : inspect(reference.model, reference.text.view(), n / 2)) {
      CAPTURE(head.head.layer);
      CAPTURE(head.head.head);
      const ConstMatrix pattern = patterns.pattern(head.head);
      CHECK(test::same_bits(test::as_row(head.weights), pattern.row_block(n / 2, 1)));
      CHECK(test::same_bits(head.all->weights.view(), pattern));
      const MatrixBuffer contexts = contexts_of(reference.model, head);
      const ConstMatrix own = contexts.view().col_block(head.context_in_result, head.d_value());
      CHECK(test::same_bits(head.all->context.view(), own));
      CHECK(test::same_bits(test::as_row(head.context), own.row_block(n / 2, 1)));
      const std::span<const float> expected =
          std::span(reference.attention).subspan(first + n / 2 * n, n);
      CHECK(difference(head.weights, doubles(expected)) < 1e-5);
      first += n * n;
    }
    CHECK(first == reference.attention.size());
  }
}

TEST_CASE("whole models: plain loops lead from norms to projections to rotation") {
  for (const auto& folder : test::reference_cases()) {
    const ReferenceCase reference = test::load_reference_case(folder);
    CAPTURE(reference.name);
    const std::size_t query = reference.text.ids.size() - 1;
    for (const Inspection& head : inspect(reference.model, reference.text.view(), query)) {
      const Doubles x = doubles(head.x());
      const Doubles y = head.norm.present() ? normed(head.norm, x) : x;
      CHECK(difference(head.y(), y) < 1e-6);
      const std::size_t keys[] = {query, 0, query / 2};
      for (const std::size_t key : keys) {
        const Doubles look = doubles(head.look->view().row(key));
        Doubles k = projected(head.weights_in.key, look);
        CHECK(difference(head.projected_keys().row(key), k) < 1e-5);
        k = head.key_norm.present() ? normed(head.key_norm, k) : k;
        CHECK(difference(head.upright_keys().row(key), k) < 1e-5);
        k = head.rope ? turned(head, key, k) : k;
        CHECK(difference(head.k.view().row(key), k) < 1e-5);
      }
      Doubles q = projected(head.weights_in.query, y);
      CHECK(difference(head.projected_queries().row(query), q) < 1e-5);
      q = head.query_norm.present() ? normed(head.query_norm, q) : q;
      CHECK(difference(head.upright_queries().row(query), q) < 1e-5);
      q = head.rope ? turned(head, query, q) : q;
      CHECK(difference(head.q.view().row(query), q) < 1e-5);
      CHECK(difference(head.v.view().row(query), projected(head.weights_in.value, y)) < 1e-5);
    }
  }
}

TEST_CASE("whole models: scale, cap and mask lead from q . k to the softmax's input") {
  AttentionRequest request;
  request.temperature = 1.5f;
  for (const auto& folder : test::reference_cases()) {
    const ReferenceCase reference = test::load_reference_case(folder);
    CAPTURE(reference.name);
    const std::size_t n = reference.text.ids.size();
    const std::size_t query = n - 3;
    for (const Inspection& head : inspect(reference.model, reference.text.view(), query, request)) {
      const LayerWeights& layer = reference.model.layers[head.head.layer];
      const double scale = layer.score_scale == 0.0
                               ? 1.0 / std::sqrt(static_cast<double>(head.d_head()))
                               : layer.score_scale;
      double sum = 0.0, most = -1e300;
      Doubles masked;
      masked.reserve(n);
      for (std::size_t key = 0; key < n; ++key) {
        double score = 0.0;
        for (std::size_t i = 0; i < head.d_head(); ++i) {
          score += static_cast<double>(head.q.view()(query, i)) *
                   static_cast<double>(head.k.view()(key, i));
        }
        CHECK(head.scores[key] == doctest::Approx(score).epsilon(1e-4));
        const auto cap = static_cast<double>(layer.soft_cap);
        const double scaled = score * scale / (cap > 0.0 ? 1.0 : 1.5);
        CHECK(head.scaled[key] == doctest::Approx(scaled).epsilon(1e-4));
        const double capped = cap > 0.0 ? cap * std::tanh(scaled / cap) : scaled;
        REQUIRE(head.capped.size() == (cap > 0.0 ? n : 0u));
        if (cap > 0.0) {
          CHECK(head.capped[key] == doctest::Approx(capped).epsilon(1e-4));
        }
        masked.push_back(cap > 0.0 ? capped / 1.5 : capped);
        if (head.is_visible(key)) {
          CHECK(head.masked[key] == doctest::Approx(masked.back()).epsilon(1e-4));
          most = std::max(most, masked.back());
        } else {
          CHECK(std::isinf(head.masked[key]));
        }
      }
      for (std::size_t key = 0; key < n; ++key) {
        sum += head.is_visible(key) ? std::exp(masked[key] - most) : 0.0;
      }
      Doubles weights;
      weights.reserve(n);
      for (std::size_t key = 0; key < n; ++key) {
        weights.push_back(head.is_visible(key) ? std::exp(masked[key] - most) / sum : 0.0);
      }
      CHECK(difference(head.weights, weights) < 1e-5);
    }
  }
}

TEST_CASE("whole models: the numbers shown add up to the stream after attention") {
  for (const auto& folder : test::reference_cases()) {
    const ReferenceCase reference = test::load_reference_case(folder);
    CAPTURE(reference.name);
    const auto heads = inspect(reference.model, reference.text.view(), 2);
    for (const Inspection& head : heads) {
      Doubles sum(head.d_model(), 0.0);
      for (const Inspection& other : heads) {
        for (std::size_t i = 0; i < sum.size() && other.head.layer == head.head.layer; ++i) {
          sum[i] += static_cast<double>(other.output[i]);
        }
      }
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += head.b_output.empty() ? 0.0 : static_cast<double>(head.b_output[i]);
      }
      if (head.after_norm.present()) {
        CHECK(difference(head.attended, sum) < 1e-5);
        sum = normed(head.after_norm, sum);
        CHECK(difference(head.added, sum) < 1e-5);
      }
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += static_cast<double>(head.x()[i]);
      }
      if (head.result_norm.present()) {
        sum = normed(head.result_norm, sum);
      }
      CHECK(difference(head.result, sum) < 2e-5);
      if (!head.others.empty()) {
        const double others =
            static_cast<double>(head.attended[0]) - static_cast<double>(head.output[0]) -
            (head.b_output.empty() ? 0.0 : static_cast<double>(head.b_output[0])) -
            (head.after_norm.present() ? 0.0 : static_cast<double>(head.x()[0]));
        CHECK(head.others[0] == doctest::Approx(others).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("whole models: a head's parts are reported as its family defines them") {
  const auto first_head = [](const char* name, std::size_t layer = 0, std::size_t head = 0) {
    const ReferenceCase reference = test::load_reference_case(kModels / name);
    const std::vector<HeadId> heads = {{layer, head}};
    // The inspection keeps the model only as long as it lives itself: copy the facts.
    return std::pair(reference.model,
                     std::move(inspect_heads(reference.model, reference.text.view(), {}, heads,
                                             reference.text.ids.size() - 1, false)
                                   .front()));
  };
  const auto [gpt2_model, gpt2] = first_head("gpt2-untied-inverse-layer", 1);
  CHECK(gpt2.norm.kind == NormKind::kLayer);
  CHECK_FALSE(gpt2.rope.has_value());
  CHECK(gpt2.own_scale == doctest::Approx(1.0 / std::sqrt(5.0) / 2.0));
  const auto [neox_model, neox] = first_head("gpt-neox-parallel");
  CHECK(neox.rope->n_pairs() == 2);  // a half of 8 dimensions
  CHECK(neox.order == LayerOrder::kParallel);
  const auto [yarn_model, yarn] = first_head("llama-rope-yarn");
  CHECK(yarn.rope->scaling == "yarn");
  CHECK(yarn.rope->magnitude == doctest::Approx(0.1 * std::log(4.0) + 1.0));
  const auto [llama_model, llama] = first_head("llama-gqa-bias", 0, 3);
  CHECK(llama.n_kv_heads == 2);
  CHECK(llama.kv_head == 1);
  CHECK(llama.rope->scaling == "none");
  const auto [gemma_model, gemma] = first_head("gemma2-softcap-window");
  CHECK(gemma.soft_cap > 0.0f);
  CHECK(gemma.after_norm.present());
  CHECK(gemma.norm.weight_offset == 1.0f);
  const auto [qwen_model, qwen] = first_head("qwen3-qk-norm");
  CHECK(qwen.norms_queries());
  CHECK(qwen.q_normed.rows() > 0);
  const auto [bert_model, bert] = first_head("bert-pair");
  CHECK_FALSE(bert.norm.present());
  CHECK(bert.result_norm.present());
  CHECK(bert.has_segments);
  CHECK(bert.segment == 1);
  CHECK(bert.look == bert.input);
}

TEST_CASE("HunYuan: queries and keys are rotated, then normalized, and each stage is shown") {
  const Model model = load_hugging_face(kFamilies / "hunyuan-0.5b");
  const std::vector<std::uint32_t> ids = {5, 11, 2, 17, 5};
  ModelInput text;
  text.ids = ids;
  const std::vector<Inspection> heads = inspect(model, text, 3);
  const Inspection& head = heads.back();
  CHECK(head.norms_turned);
  CHECK(head.q_normed.rows() == 0);
  REQUIRE(head.q_turned.rows() == ids.size());
  const auto squares = [](std::span<const float> row) {
    double sum = 0.0;
    for (const float number : row) {
      sum += static_cast<double>(number) * static_cast<double>(number);
    }
    return sum;
  };
  for (std::size_t token = 0; token < ids.size(); ++token) {
    for (const auto& [projected, turned, done, norm] :
         {std::tuple{&head.q_projected, &head.q_turned, &head.q, &head.query_norm},
          std::tuple{&head.k_projected, &head.k_turned, &head.k, &head.key_norm}}) {
      const auto row = turned->view().row(token);
      // A rotation keeps lengths; the norm is that of the rotated vector.
      CHECK(squares(row) == doctest::Approx(squares(projected->view().row(token))));
      CHECK(difference(done->view().row(token), normed(*norm, doubles(row))) < 1e-6);
    }
  }
}

TEST_CASE("whole models: a long text processed in blocks, and a text of one token") {
  const Model model = load_hugging_face(kModels / "llama-gqa-bias");
  for (const std::size_t n : {1u, 64u}) {
    test::TokenIds text;
    text.ids.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
      text.ids.push_back(static_cast<std::uint32_t>(i * 7 % model.embeddings.rows));
    }
    PatternStore patterns(select_heads(model, "", ""), n);
    run(model, text.view(), {}, patterns);
    for (const Inspection& head : inspect(model, text.view(), n - 1)) {
      CHECK(test::same_bits(head.all->weights.view(), patterns.pattern(head.head)));
      CHECK(difference(head.weights, doubles(patterns.pattern(head.head).row(n - 1))) == 0.0);
    }
  }
}

TEST_CASE("norm_numbers: mean, variance and root of a row computed by hand") {
  const std::vector<float> x = {1, 3, 5, 7};
  const std::vector<float> ones = {1, 1, 1, 1};
  Norm norm;
  norm.weight = ones;
  norm.epsilon = 4.0;
  const NormNumbers layer = norm_numbers(norm, x);
  CHECK(layer.mean == 4.0);
  CHECK(layer.square == 5.0);
  CHECK(layer.divisor == 3.0);
  norm.kind = NormKind::kRms;
  const NormNumbers rms = norm_numbers(norm, x);
  CHECK(rms.mean == 0.0);
  CHECK(rms.square == 21.0);
  CHECK(rms.divisor == 5.0);
}

}  // namespace attnviz
