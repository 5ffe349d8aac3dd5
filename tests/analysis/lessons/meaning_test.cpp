// A word's vectors, against a run in double loops and cosines from another loop.
#include "attnviz/analysis/lessons/lesson_numbers.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/error.h"
#include "attnviz/model/random_model.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "support/naive.h"

namespace attnviz {
namespace {

// All rows of the stream before a layer or after the last one.
class AllRows : public RunObserver {
 public:
  explicit AllRows(std::size_t n_layers) : n_layers_(n_layers) {}
  bool wants(std::size_t layer, LayerStep step) const override {
    return step == LayerStep::kBefore || (step == LayerStep::kAfter && layer + 1 == n_layers_);
  }
  void stream(const RunPlace& /*at*/, ConstMatrix x) override { streams.push_back(copy_of(x)); }

  std::vector<MatrixBuffer> streams;

 private:
  std::size_t n_layers_;
};

TokenizedText demo_text(const std::string& text) {
  return demo_tokenizer()->tokenize(text);
}

}  // namespace

TEST_CASE("meaning: the mean of a word's rows as the next layer receives them") {
  const Model model = demo_model();
  const TokenizedText text = demo_text("He sat on the bank of the river");
  const InputColumns input(text);
  AllRows rows(model.n_layers());
  run(model, input.view(), AttentionRequest(), rows);
  const std::vector<std::size_t> tokens = {2, 5};
  const MatrixBuffer vectors = word_vectors(model, text, AttentionRequest(), tokens);
  REQUIRE(vectors.rows() == model.n_layers() + 1);
  REQUIRE(rows.streams.size() == model.n_layers() + 1);
  for (std::size_t point = 0; point < vectors.rows(); ++point) {
    for (std::size_t i = 0; i < vectors.cols(); ++i) {
      const double a = static_cast<double>(rows.streams[point].view()(2, i));
      const double b = static_cast<double>(rows.streams[point].view()(5, i));
      REQUIRE(static_cast<double>(vectors.view()(point, i)) ==
              doctest::Approx((a + b) / 2.0).epsilon(1e-5));
    }
  }
}

TEST_CASE("meaning: before the first layer a word has the same vector at every position") {
  const Model model = demo_model();
  const TokenizedText a = demo_text("The cat sat"), b = demo_text("Once he saw a cat");
  const WordPlace in_a = place_of_word(a, "cat", "word"), in_b = place_of_word(b, "cat", "word");
  const MatrixBuffer of_a = word_vectors(model, a, AttentionRequest(), in_a.tokens);
  const MatrixBuffer of_b = word_vectors(model, b, AttentionRequest(), in_b.tokens);
  CHECK(cosine(of_a.view().row(0), of_b.view().row(0)).value() == doctest::Approx(1.0));
  CHECK(cosine(of_a.view().row(4), of_b.view().row(4)).value() < 0.99);
}

TEST_CASE("meaning: cosines agree with a plain loop, and zero vectors have none") {
  const auto a = test::random_values(33, 1), b = test::random_values(33, 2);
  double product = 0.0, of_a = 0.0, of_b = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    of_a += std::pow(static_cast<double>(a[i]), 2.0);
    of_b += std::pow(static_cast<double>(b[i]), 2.0);
  }
  CHECK(cosine(a, b).value() == doctest::Approx(product / std::sqrt(of_a * of_b)));
  CHECK(cosine(a, a).value() == doctest::Approx(1.0));
  const std::vector<float> x = {1.0f, 0.0f}, y = {0.0f, -2.0f}, minus = {-3.0f, 0.0f};
  CHECK(cosine(x, y).value() == 0.0);
  CHECK(cosine(x, minus).value() == -1.0);
  const std::vector<float> zero = {0.0f, 0.0f};
  CHECK(!cosine(x, zero));
}

TEST_CASE("meaning: a word of several tokens, a word with several occurrences, and several words") {
  const TokenizedText pieces = demo_text("The zyxwvut sat");
  CHECK(place_of_word(pieces, "zyxwvut", "word").tokens.size() > 1);
  const TokenizedText twice = demo_text("The cat saw the cat");
  CHECK(place_of_word(twice, "cat", "word").tokens == std::vector<std::size_t>{5});
  CHECK(!place_of_word(twice, "cat", "word").note.empty());
  CHECK(place_of_word(twice, "cat#1", "word").tokens == std::vector<std::size_t>{2});
  CHECK(place_of_word(demo_text("The cat sat"), "The cat", "word").tokens ==
        std::vector<std::size_t>{1, 2});
  CHECK(place_of_word(twice, "CAT", "word").tokens == std::vector<std::size_t>{5});
  const TokenizedText number = make_tokenizer("words")->tokenize("he has 2 cats");
  CHECK(place_of_word(number, "2", "word").tokens == std::vector<std::size_t>{2});
  CHECK_THROWS_AS(place_of_word(number, "1", "word"), Error);
  CHECK_THROWS_AS(place_of_word(twice, "dog", "word"), Error);
  CHECK_THROWS_AS(place_of_word(twice, "cat#3", "word"), Error);
}

TEST_CASE("meaning: a last layer without W_O leaves no stream to compare") {
  const Model model = random_model({.n_layers = 1, .n_heads = 2, .d_model = 12, .d_head = 4}, 1);
  const TokenizedText text = make_tokenizer("words")->tokenize("the cat sat");
  const std::vector<std::size_t> tokens = {1};
  const MatrixBuffer vectors = word_vectors(model, text, AttentionRequest(), tokens);
  CHECK(vectors.rows() == (model.layers.back().has_output() ? 2 : 1));
  CHECK(vectors.cols() == 12);
}

}  // namespace attnviz
