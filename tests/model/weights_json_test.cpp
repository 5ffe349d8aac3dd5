#include "attnviz/model/stored_model.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <regex>
#include <span>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/model/random_model.h"
#include "support/json.h"
#include "support/malformed_weights.h"

namespace attnviz {
namespace {

std::string written(const Model& model) {
  std::string text;
  write_weights_json(model, [&](std::string_view bytes) { text += bytes; });
  return text;
}

std::vector<float> flat(ConstMatrix matrix) {
  std::vector<float> values;
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    values.insert(values.end(), matrix.row(i).begin(), matrix.row(i).end());
  }
  return values;
}

void check_same(std::span<const float> a, std::span<const float> b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(std::bit_cast<std::uint32_t>(a[i]) == std::bit_cast<std::uint32_t>(b[i]));
  }
}

void check_same(ConstMatrix a, ConstMatrix b) {
  REQUIRE(a.rows == b.rows);
  if (!a.empty()) {
    REQUIRE(a.cols == b.cols);
  }
  check_same(flat(a), flat(b));
}

void check_same(const Projection& a, const Projection& b) {
  check_same(a.weight.as_floats(), b.weight.as_floats());
  check_same(a.bias, b.bias);
}

void check_same(const Model& a, const Model& b) {
  CHECK(a.config.name == b.config.name);
  CHECK(a.config.d_model == b.config.d_model);
  CHECK(a.config.tokenizer == b.config.tokenizer);
  CHECK(a.config.mask == b.config.mask);
  CHECK(a.config.positions == b.config.positions);
  CHECK(a.config.residual == b.config.residual);
  CHECK(a.config.random_weights == b.config.random_weights);
  CHECK(a.config.seed == b.config.seed);
  CHECK(a.random_unknown == b.random_unknown);
  CHECK(a.vocabulary == b.vocabulary);
  check_same(a.embeddings.as_floats(), b.embeddings.as_floats());
  check_same(a.inputs, b.inputs);
  REQUIRE(a.layers.size() == b.layers.size());
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    check_same(a.layers[i].output, b.layers[i].output);
    REQUIRE(a.layers[i].heads.size() == b.layers[i].heads.size());
    for (std::size_t h = 0; h < a.layers[i].heads.size(); ++h) {
      check_same(a.layers[i].heads[h].query, b.layers[i].heads[h].query);
      check_same(a.layers[i].heads[h].key, b.layers[i].heads[h].key);
      check_same(a.layers[i].heads[h].value, b.layers[i].heads[h].value);
      check_same(a.layers[i].heads[h].output.as_floats(), b.layers[i].heads[h].output.as_floats());
    }
  }
}

constexpr std::string_view kEverything = R"({
  "schema": "attnviz.weights/1", "name": "both kinds of W_O", "random": false, "seed": 5,
  "d_model": 2, "tokenizer": "chars", "mask": "window:3", "positions": "alibi",
  "convention": "row", "unknown": "error", "residual": false,
  "embeddings": {"a": [1, -0.0], "猫": [1e-45, 3.4028235e38]},
  "layers": [
    {"heads": [
       {"W_Q": [[1, 2, 3], [4, 5, 6]], "b_Q": [7, 8, 9],
        "W_K": [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], "b_K": [0.7, 0.8, 0.9],
        "W_V": [[1], [2]], "b_V": [3], "W_O": [[4, 5]]},
       {"W_Q": [[1], [2]], "W_K": [[3], [4]], "W_V": [[5, 6], [7, 8]], "W_O": [[9, 10], [11, 12]]}],
     "b_O": [13, 14]},
    {"heads": [{"W_Q": [[1], [2]], "W_K": [[3], [4]], "W_V": [[5], [6]]}],
     "W_O": [[1, 2]], "b_O": [3, 4]}]})";

}  // namespace

TEST_CASE("weights JSON: every feature of the format is read") {
  const Model model = parse_weights_json(kEverything, "w.json");
  CHECK(model.config.name == "both kinds of W_O");
  CHECK(model.config.seed == 5);
  CHECK(model.config.d_model == 2);
  CHECK(model.config.tokenizer == "chars");
  CHECK(model.config.mask == Mask{MaskKind::kWindow, 3});
  CHECK(model.config.positions == Positions::kAlibi);
  CHECK_FALSE(model.config.residual);
  CHECK_FALSE(model.random_unknown);
  CHECK(model.vocabulary == std::vector<std::string>{"a", "猫"});
  CHECK(std::signbit(model.embeddings.as_floats()(0, 1)));
  CHECK(model.embeddings.as_floats()(1, 0) == std::numeric_limits<float>::denorm_min());
  CHECK(model.embeddings.as_floats()(1, 1) == std::numeric_limits<float>::max());
  REQUIRE(model.layers.size() == 2);
  const HeadWeights& head = model.layers[0].heads[0];
  CHECK(head.d_head() == 3);
  CHECK(head.d_value() == 1);
  CHECK(flat(head.query.weight.as_floats()) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(head.query.bias[2] == 9.0f);
  CHECK(head.key.weight.as_floats()(1, 0) == 0.4f);
  CHECK(head.key.bias[0] == 0.7f);
  CHECK(head.value.bias[0] == 3.0f);
  CHECK(flat(head.output.as_floats()) == std::vector<float>{4, 5});
  CHECK(model.layers[0].heads[1].d_head() == 1);
  CHECK(model.layers[0].heads[1].d_value() == 2);
  CHECK(model.layers[0].output.weight.empty());
  CHECK(model.layers[0].output.bias[1] == 14.0f);
  CHECK(model.layers[0].has_output());
  CHECK(flat(model.layers[1].output.weight.as_floats()) == std::vector<float>{1, 2});
}

TEST_CASE("weights JSON: only the heads' matrices are required") {
  const Model model = parse_weights_json(
      R"({"layers": [{"heads": [{"W_Q": [[1], [2]], "W_K": [[3], [4]], "W_V": [[5], [6]]}]}]})",
      "tiny.json");
  CHECK(model.config.name == "tiny.json");
  CHECK(model.config.d_model == 2);
  CHECK(model.config.tokenizer == "words");
  CHECK(model.config.mask == Mask{});
  CHECK(model.config.positions == Positions::kNone);
  CHECK(model.config.residual);
  CHECK_FALSE(model.config.random_weights);
  CHECK(model.random_unknown);
  CHECK(model.inputs.empty());
  CHECK_FALSE(model.layers[0].has_output());
}

TEST_CASE("weights JSON: d_model follows from inputs, from embeddings or from the first W_Q") {
  const std::string heads =
      R"("layers": [{"heads": [{"W_Q": [[1], [2]], "W_K": [[3], [4]], "W_V": [[5], [6]]}]}]})";
  CHECK(parse_weights_json("{\"inputs\": [[1, 2]], " + heads, "w").config.d_model == 2);
  CHECK(parse_weights_json("{\"embeddings\": {\"a\": [1, 2]}, " + heads, "w").config.d_model == 2);
  CHECK_THROWS_WITH_AS(parse_weights_json("{\"inputs\": [[1, 2, 3]], " + heads, "w"),
                       "w: layers[0].heads[0].W_Q: expected 3 rows, found 2 (d_model is 3)", Error);
}

TEST_CASE("weights JSON: the column convention transposes the layers' matrices and nothing else") {
  const Model rows = parse_weights_json(
      R"({"inputs": [[1, 2], [3, 4], [5, 6]], "layers": [{"heads": [
          {"W_Q": [[1, 2, 3], [4, 5, 6]], "W_K": [[1, 0, 2], [3, 4, 0]], "W_V": [[7], [8]],
           "b_Q": [1, 2, 3], "W_O": [[9, 10]]}]}]})",
      "w");
  const Model columns = parse_weights_json(
      R"({"convention": "column", "inputs": [[1, 2], [3, 4], [5, 6]], "layers": [{"heads": [
          {"W_Q": [[1, 4], [2, 5], [3, 6]], "W_K": [[1, 3], [0, 4], [2, 0]], "W_V": [[7, 8]],
           "b_Q": [1, 2, 3], "W_O": [[9], [10]]}]}]})",
      "w");
  check_same(rows, columns);
}

TEST_CASE("weights JSON: in column convention d_model is the number of columns of W_Q") {
  const Model model = parse_weights_json(
      R"({"convention": "column",
          "layers": [{"heads": [{"W_Q": [[1, 2, 3]], "W_K": [[1, 2, 3]], "W_V": [[1, 2, 3]]}]}]})",
      "w");
  CHECK(model.config.d_model == 3);
  CHECK(model.layers[0].heads[0].d_head() == 1);
}

TEST_CASE("weights JSON: a written file loads back bit for bit") {
  const Model everything = parse_weights_json(kEverything, "w.json");
  check_same(parse_weights_json(written(everything), "other.json"), everything);

  const Model valid = parse_weights_json(test::valid_weights(), "w.json");
  check_same(parse_weights_json(written(valid), "other.json"), valid);
}

TEST_CASE("weights JSON: random models load back bit for bit and are still announced as random") {
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{42}, ~std::uint64_t{0}}) {
    const Model model = random_model(
        {.n_layers = 2, .n_heads = 4, .n_kv_heads = 2, .d_model = 10, .d_head = 3, .d_value = 5},
        seed, Positions::kSinusoidal);
    const Model again = parse_weights_json(written(model), "other.json");
    check_same(again, model);
    CHECK(again.config.random_weights);
    const std::vector<std::string_view> pieces = {"The", "cat"};
    check_same(embed(again, pieces).view(), embed(model, pieces).view());
  }
}

TEST_CASE("weights JSON: each row of a matrix is on one line, to be edited") {
  const std::string text =
      written(parse_weights_json(R"({"layers": [{"heads": [{"W_Q": [[1, 2], [2.5, -0.0]],
                                     "W_K": [[3, 4], [4, 4]], "W_V": [[5], [6]]}]}]})",
                                 "w"));
  CHECK(text.find("\n            [2.5, -0.0]\n          ],\n") != std::string::npos);
}

TEST_CASE("weights JSON: weights that JSON cannot represent are refused, not written as null") {
  Model model = random_model({}, 1);
  const float value = std::nanf("");
  model.layers[0].output.weight = {&value, 1, 1, 1};
  CHECK_THROWS_WITH_AS(written(model), "W_O holds NaN or infinity, which JSON cannot say", Error);
}

TEST_CASE("weights JSON: a file is named by its path in messages and by its name in the model") {
  const auto path = std::filesystem::temp_directory_path() / "attnviz-weights-test.json";
  std::ofstream(path) << test::valid_weights();
  CHECK(load_weights_json(path).config.name == "attnviz-weights-test.json");
  std::ofstream(path) << "[";
  CHECK_THROWS_WITH_AS(
      load_weights_json(path),
      (path.string() + ": line 1, column 2: the file ends too early: expected a value").c_str(),
      Error);
  std::filesystem::remove(path);
  CHECK_THROWS_AS(load_weights_json(path), Error);
}

TEST_CASE("weights JSON: the schema accepts the masks that the reader accepts") {
  const auto schema =
      test::read_json(ATTNVIZ_SOURCE_DIR "/assets/schemas/attnviz.weights-1.schema.json");
  const std::regex masks(schema["properties"]["mask"]["pattern"].get<std::string>());
  for (const char* mask :
       {"causal", "none", "window:3", "around:1", "strided:2", "block:4", "around:0", "round:1"}) {
    CAPTURE(mask);
    bool is_read = true;
    try {
      parse_mask(mask);
    } catch (const Error&) {
      is_read = false;
    }
    CHECK(std::regex_match(mask, masks) == is_read);
  }
}

TEST_CASE("weights JSON: the reader knows every key of the schema") {
  const auto schema =
      test::read_json(ATTNVIZ_SOURCE_DIR "/assets/schemas/attnviz.weights-1.schema.json");
  const auto unknown = [](const std::string& document, const std::string& key) {
    try {
      parse_weights_json(document, "w");
      return false;
    } catch (const Error& error) {
      return std::string(error.what()).find("unknown key \"" + key + "\"") != std::string::npos;
    }
  };
  for (const auto& [key, about] : schema["properties"].items()) {
    CHECK_FALSE(unknown("{\"" + key + "\": null}", key));
  }
  for (const auto& [key, about] : schema["$defs"]["layer"]["properties"].items()) {
    CHECK_FALSE(unknown("{\"d_model\": 1, \"layers\": [{\"" + key + "\": null}]}", key));
  }
  for (const auto& [key, about] : schema["$defs"]["head"]["properties"].items()) {
    CHECK_FALSE(
        unknown("{\"d_model\": 1, \"layers\": [{\"heads\": [{\"" + key + "\": 1}]}]}", key));
  }
}

TEST_CASE(
    "weights JSON: a file that has embeddings for no token, and refuses all others, is refused") {
  const std::string document = R"({"text": "the cat", "unknown": "error", "layers": [{"heads": [)"
                               R"({"W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}]}]})";
  try {
    parse_weights_json(document, "w.json");
    FAIL_CHECK("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kMalformed);
    CHECK(
        std::string(error.what()) ==
        "w.json: unknown: \"error\" refuses every token, as there are no \"embeddings\": add them, "
        "or \"inputs\" by position, or set it to \"random\"");
  }
}

TEST_CASE("weights JSON: the text of the inputs is read and written; a blank one is refused") {
  const std::string head = R"({"W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]})";
  const auto weights = [&head](const std::string& text) {
    return R"({"text": ")" + text + R"(", "layers": [{"heads": [)" + head + "]}]}";
  };
  const Model model = parse_weights_json(weights("the cat"), "w.json");
  CHECK(model.text == "the cat");
  CHECK(parse_weights_json(written(model), "w.json").text == "the cat");
  CHECK_THROWS_AS(parse_weights_json(weights("  "), "w.json"), Error);
}

}  // namespace attnviz
