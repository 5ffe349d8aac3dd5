// The claims of samples/README.md, computed with plain loops in double precision.

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/model/stored_model.h"
#include "support/json.h"
#include "support/naive.h"

namespace attnviz {
namespace {

const std::filesystem::path kSamples = ATTNVIZ_SOURCE_DIR "/samples";
const std::filesystem::path kTextbook = ATTNVIZ_SOURCE_DIR "/tests/reference/textbook.json";

// [query, key] weights of one head of layer 0, from the model's own inputs.
class Pattern {
 public:
  Pattern(const Model& model, std::size_t head, const Mask& mask) : n_(model.inputs.rows) {
    const HeadWeights& weights = model.layers.at(0).heads.at(head);
    const auto q = rounded(test::naive_matmul(model.inputs, weights.query.weight.as_floats()));
    const auto k = rounded(test::naive_matmul(model.inputs, weights.key.weight.as_floats()));
    const double scale = 1.0 / std::sqrt(static_cast<double>(weights.d_head()));
    weights_ = test::naive_pattern(test::matrix_over(q, n_, weights.d_head()),
                                   test::matrix_over(k, n_, weights.d_head()), scale, mask);
  }

  double operator()(std::size_t query, std::size_t key) const {
    return weights_.at(query * n_ + key);
  }
  std::size_t size() const { return n_; }

 private:
  static std::vector<float> rounded(const std::vector<double>& values) {
    std::vector<float> floats;
    floats.reserve(values.size());
    for (const double value : values) {
      floats.push_back(static_cast<float>(value));
    }
    return floats;
  }

  std::size_t n_;
  std::vector<double> weights_;
};

// The pattern of a model with these `embeddings`, for the words of one text.
Pattern pattern_of(Model model, const std::vector<std::string_view>& words) {
  const MatrixBuffer stream = embed(model, words);
  model.inputs = stream.view();
  return {model, 0, model.config.mask};
}

void check_row(const Pattern& pattern, std::size_t query, const std::vector<double>& expected,
               double tolerance) {
  for (std::size_t key = 0; key < expected.size(); ++key) {
    CAPTURE(query);
    CAPTURE(key);
    CHECK(std::abs(pattern(query, key) - expected[key]) < tolerance);
  }
}

void check_textbook(const char* sample, const char* name) {
  const auto reference = test::read_json(kTextbook)[name]["f64"];
  const Model model = load_weights_json(kSamples / sample);
  const std::pair<const char*, Mask> cases[] = {{"attn", {MaskKind::kNone}},
                                                {"attn_causal", {MaskKind::kCausal}}};
  for (const auto& [key, mask] : cases) {
    const Pattern pattern(model, 0, mask);
    REQUIRE(reference[key].size() == pattern.size());
    for (std::size_t query = 0; query < pattern.size(); ++query) {
      check_row(pattern, query, reference[key][query], 1e-6);
    }
  }
}

}  // namespace

TEST_CASE(
    "samples: in verbs-and-nouns verbs look at the nouns before them, other words everywhere") {
  const Pattern pattern =
      pattern_of(load_weights_json(kSamples / "verbs-and-nouns.json"),
                 {"the", "cat", "saw", "a", "dog", "and", "the", "dog", "slept"});
  const double e6 = std::exp(6.0);
  check_row(pattern, 2, {1 / (e6 + 2), e6 / (e6 + 2), 1 / (e6 + 2)}, 1e-6);
  const double noun = e6 / (3 * e6 + 6);
  const double other = 1 / (3 * e6 + 6);
  check_row(pattern, 8, {other, noun, other, other, noun, other, other, noun, other}, 1e-6);
  check_row(pattern, 5, std::vector<double>(6, 1.0 / 6.0), 1e-6);
}

TEST_CASE("samples: your-journey shows the book's weights for \"journey\"") {
  const Model model = load_weights_json(kSamples / "your-journey.json");
  CHECK(model.config.mask == Mask{MaskKind::kNone});
  check_row(Pattern(model, 0, model.config.mask), 1,
            {0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820}, 6e-5);
  check_row(Pattern(model, 0, Mask{}), 1, {0.3986, 0.6014, 0, 0, 0, 0}, 6e-5);
  check_textbook("your-journey.json", "book_d3");
}

TEST_CASE("samples: numpy-3-tokens shows the published weights") {
  const Model model = load_weights_json(kSamples / "numpy-3-tokens.json");
  CHECK(model.config.mask == Mask{MaskKind::kNone});
  check_row(Pattern(model, 0, model.config.mask), 0, {0.2784, 0.3241, 0.3975}, 6e-5);
  check_row(Pattern(model, 0, Mask{}), 1, {0.4388, 0.5612, 0}, 6e-5);
  check_textbook("numpy-3-tokens.json", "numpy42_n3");
}

TEST_CASE("samples: cat-sat-on-the-mat has six tokens of four numbers and is nearly flat") {
  const Model model = load_weights_json(kSamples / "cat-sat-on-the-mat.json");
  CHECK(model.inputs.rows == 6);
  CHECK(model.config.d_model == 4);
  // Computed in Python from the published matrices.
  check_row(Pattern(model, 0, Mask{}), 2, {0.131206, 0.374304, 0.494490, 0, 0, 0}, 1e-6);
  check_row(Pattern(model, 0, Mask{}), 5,
            {0.122062, 0.238301, 0.281805, 0.086145, 0.130399, 0.141288}, 1e-6);
  const Pattern pattern(model, 0, {MaskKind::kNone});
  for (std::size_t query = 0; query < 6; ++query) {
    for (std::size_t key = 0; key < 6; ++key) {
      CHECK(pattern(query, key) > 0.05);
      CHECK(pattern(query, key) < 0.40);
    }
  }
}

TEST_CASE("samples: each head of four-heads does what the README says") {
  // the cat saw the dog and the cat ran
  const std::vector<int> words = {0, 1, 2, 0, 3, 4, 0, 1, 5};
  const Model model = load_weights_json(kSamples / "four-heads.json");
  REQUIRE(model.inputs.rows == words.size());
  REQUIRE(model.layers.at(0).heads.size() == 4);
  for (const Mask mask : {Mask{MaskKind::kCausal}, Mask{MaskKind::kNone}}) {
    const Pattern previous(model, 0, mask), first(model, 1, mask);
    for (std::size_t query = 0; query < words.size(); ++query) {
      CHECK(previous(query, query == 0 ? 0 : query - 1) > 0.98);
      CHECK(first(query, 0) > 0.98);
    }
  }
  const Pattern same(model, 2, Mask{}), uniform(model, 3, Mask{});
  for (std::size_t query = 0; query < words.size(); ++query) {
    double to_same = 0.0;
    for (std::size_t key = 0; key <= query; ++key) {
      to_same += words[key] == words[query] ? same(query, key) : 0.0;
      CHECK(uniform(query, key) == doctest::Approx(1.0 / static_cast<double>(query + 1)));
    }
    CHECK(to_same > 0.98);
  }
  for (const std::size_t the : {0u, 3u, 6u}) {
    CHECK(same(6, the) == doctest::Approx(1.0 / 3.0).epsilon(0.01));
  }
  CHECK(same(7, 1) == doctest::Approx(same(7, 7)));
}

}  // namespace attnviz
