#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/model/model.h"
#include "attnviz/model/random_model.h"

namespace attnviz {
namespace {

constexpr float kTwoEmbeddings[] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f};

Model model_of(std::size_t d_model) {
  Model model;
  model.config.name = "w.json";
  model.config.d_model = d_model;
  return model;
}

Model with_embeddings() {
  Model model = model_of(3);
  model.vocabulary = {"cat", "sat"};
  model.embeddings = {kTwoEmbeddings, 2, 3, 3};
  return model;
}

std::vector<float> row(const MatrixBuffer& stream, std::size_t index) {
  const auto values = stream.view().row(index);
  return {values.begin(), values.end()};
}

std::string message_of(const Model& model, const std::vector<std::string_view>& pieces) {
  try {
    embed(model, pieces);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kUsage);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("embed: a piece gets its embedding at every position") {
  const std::vector<std::string_view> pieces = {"sat", "cat", "sat"};
  const MatrixBuffer stream = embed(with_embeddings(), pieces);
  CHECK(row(stream, 0) == std::vector{4.0f, 5.0f, 6.0f});
  CHECK(row(stream, 1) == std::vector{1.0f, 2.0f, 3.0f});
  CHECK(row(stream, 2) == row(stream, 0));
}

TEST_CASE("random_pieces: names each piece without an embedding once") {
  const std::vector<std::string_view> pieces = {"dog", "cat", "Cat", "dog", "sat"};
  CHECK(random_pieces(with_embeddings(), pieces) == std::vector<std::string_view>{"dog", "Cat"});
  CHECK(random_pieces(model_of(3), pieces) ==
        std::vector<std::string_view>{"dog", "cat", "Cat", "sat"});
  Model by_position = model_of(3);
  by_position.inputs = {kTwoEmbeddings, 2, 3, 3};
  CHECK(random_pieces(by_position, pieces).empty());
  Model strict = with_embeddings();
  strict.random_unknown = false;
  CHECK(random_pieces(strict, pieces).empty());
}

TEST_CASE("embed: a piece without an embedding gets a random one, the same for the same piece") {
  Model model = with_embeddings();
  model.config.seed = 11;
  const std::vector<std::string_view> pieces = {"dog", "cat", "dog", "Dog"};
  const MatrixBuffer stream = embed(model, pieces);
  std::vector<float> expected(3);
  random_embedding(11, "dog", expected);
  CHECK(row(stream, 0) == expected);
  CHECK(row(stream, 1) == std::vector{1.0f, 2.0f, 3.0f});
  CHECK(row(stream, 2) == expected);
  CHECK(row(stream, 3) != expected);
}

TEST_CASE(
    "embed: an unknown piece is refused if the model requires it, with the closest known one") {
  Model model = with_embeddings();
  model.random_unknown = false;
  CHECK(message_of(model, {"cat", "cta"}) ==
        "w.json: no embedding for the token \"cta\" (did you mean \"cat\"?): add it to "
        "\"embeddings\", or set \"unknown\" to \"random\"");
}

TEST_CASE("embed: inputs by position are used unchanged, regardless of the pieces") {
  Model model = model_of(2);
  model.inputs = {kTwoEmbeddings, 3, 2, 2};
  const std::vector<std::string_view> pieces = {"x", "x", "\xFF"};
  const MatrixBuffer stream = embed(model, pieces);
  CHECK(row(stream, 0) == std::vector{1.0f, 2.0f});
  CHECK(row(stream, 2) == std::vector{5.0f, 6.0f});
}

TEST_CASE("embed: inputs for another number of tokens are refused with both numbers") {
  Model model = model_of(2);
  model.inputs = {kTwoEmbeddings, 3, 2, 2};
  CHECK(message_of(model, {"one", "two"}) ==
        "w.json: \"inputs\" has vectors for 3 tokens, but the text has 2: give a text of 3 tokens, "
        "or replace \"inputs\" by \"embeddings\", a vector for each token");
}

TEST_CASE("embed: inputs that contain their text name it in the message") {
  Model model = model_of(2);
  model.inputs = {kTwoEmbeddings, 3, 2, 2};
  model.text = "a b c";
  CHECK(message_of(model, {"one", "two"})
            .find("give a text of 3 tokens, such as its own, \"a b c\"") != std::string::npos);
}

TEST_CASE("embed: the message about inputs for a single token uses the singular") {
  Model model = model_of(6);
  model.inputs = {kTwoEmbeddings, 1, 6, 6};
  CHECK(message_of(model, {"one", "two"}).find("has vectors for 1 token, but the text has 2: ") !=
        std::string::npos);
}

TEST_CASE("embed: sinusoidal positions are added, sines and cosines side by side") {
  // The formula of Vaswani et al. 2017, section 3.5, with d_model 4: angles p and p / 100.
  const std::vector<float> zeros(12, 0.0f);
  Model model = model_of(4);
  model.inputs = {zeros.data(), 3, 4, 4};
  model.config.positions = Positions::kSinusoidal;
  const std::vector<std::string_view> pieces = {"a", "b", "c"};
  const MatrixBuffer stream = embed(model, pieces);
  CHECK(row(stream, 0) == std::vector{0.0f, 1.0f, 0.0f, 1.0f});
  CHECK(stream.view()(1, 0) == doctest::Approx(0.841470985));
  CHECK(stream.view()(1, 1) == doctest::Approx(0.540302306));
  CHECK(stream.view()(1, 2) == doctest::Approx(0.009999833));
  CHECK(stream.view()(2, 0) == doctest::Approx(0.909297427));
  CHECK(stream.view()(2, 3) == doctest::Approx(0.999800007));
}

TEST_CASE("embed: an odd d_model ends with a sine") {
  const std::vector<float> zeros(6, 0.0f);
  Model model = model_of(3);
  model.inputs = {zeros.data(), 2, 3, 3};
  model.config.positions = Positions::kSinusoidal;
  const std::vector<std::string_view> pieces = {"a", "b"};
  const MatrixBuffer stream = embed(model, pieces);
  CHECK(stream.view()(1, 2) == doctest::Approx(std::sin(std::pow(10000.0, -2.0 / 3.0))));
}

TEST_CASE("embed: no pieces give a stream without rows") {
  CHECK(embed(with_embeddings(), {}).rows() == 0);
}

}  // namespace attnviz
