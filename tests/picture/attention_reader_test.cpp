#include "attnviz/report/json/attention_reader.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/formats/npy.h"
#include "attnviz/picture/figure_file.h"
#include "attnviz/report/attention_heatmap.h"
#include "attnviz/report/json/document_json.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using Strings = std::vector<std::string>;

AttentionDocument read_one(std::string_view bytes, const GivenTokens& tokens = {}) {
  std::vector<ReadDocument> documents = read_attention(bytes, "a.json", tokens);
  REQUIRE(documents.size() == 1);
  return std::move(documents.front().document);
}

std::string written(const AttentionDocument& document) {
  std::string out;
  write_attention_json(document, [&out](std::string_view bytes) { out += bytes; });
  return out;
}

Error failure(std::string_view bytes, const GivenTokens& tokens = {}) {
  try {
    read_attention(bytes, "a.json", tokens);
  } catch (const Error& error) {
    return error;
  }
  FAIL("was read");
  return {ErrorKind::kIo, ""};
}

bool contains(const Error& error, std::string_view part) {
  return std::string_view(error.what()).find(part) != std::string_view::npos;
}

// A document that uses every feature of the format.
AttentionDocument full_document(const std::vector<float>& weights) {
  AttentionDocument document;
  document.text = "a \xE7\x8C\xAB";
  document.query_tokens = document.key_tokens = {"a", "\xE7\x8C\xAB"};
  document.token_ids = {5, 70000};
  document.model = ModelFacts{};
  document.model->name = "w.json";
  document.model->random_embeddings = {"a"};
  document.model->seed = 18446744073709551615U;
  document.model->n_layers = 3;
  document.model->n_heads = 4;
  document.model->n_kv_heads = 2;
  document.model->d_model = 8;
  document.model->d_head = 3;
  document.model->d_value = 5;
  document.model->positions = Positions::kRope;
  document.model->tokenizer = "chars";
  document.run = {Mask{MaskKind::kWindow, 2}, 0.7f, false, 0.25f, 9};
  document.drawing.scale = {Colormap("magma_r"), ScaleKind::kLog, 0.01f, 2.0f};
  document.drawing.pool = PoolKind::kMean;
  document.drawing.title = "A title";
  for (const HeadId head : {HeadId{0, 1}, HeadId{0, 3}, HeadId{2, 1}, HeadId{2, 3}}) {
    document.patterns.push_back({head, test::matrix_over(weights, 2, 2)});
  }
  return document;
}

}  // namespace

TEST_CASE("read_attention: reads back what write_attention_json wrote, and draws the same bytes") {
  const std::vector<float> weights = {1.0f, 0.0f, 0.1f, 0.9f};
  AttentionDocument rectangle = full_document(weights);
  AttentionDocument selection = full_document(weights);
  selection.patterns.erase(selection.patterns.begin() + 1);
  AttentionDocument without_sink = full_document(weights);
  without_sink.drawing.drop_sink = true;
  AttentionDocument words = full_document(weights);
  words.token_ids.clear();
  words.text = "of two";
  words.words =
      DocumentWords{Fold::kLines, {{0, 2, {7}}, {2, 6, {300, 5}}}, Mask{MaskKind::kWindow, 2}};
  words.turns = {{{}, 0, 1}, {"user", 1, 2}};
  words.turn_attention = {{0.1f, 0.9f}, {0.3f, 0.7f}};
  AttentionDocument turned = full_document(weights);
  turned.drawing.transposed = turned.drawing.plain_labels = true;
  AttentionDocument bare;
  bare.query_tokens = {"q"};
  bare.key_tokens = {"x", "y"};
  bare.patterns.push_back({{0, 0}, test::matrix_over(weights, 1, 2)});
  for (const AttentionDocument& document :
       {rectangle, selection, without_sink, words, turned, bare}) {
    const std::string json = written(document);
    const AttentionDocument again = read_one(json);
    CHECK(written(again) == json);
    CHECK(render_figure(attention_heatmap(again)) == render_figure(attention_heatmap(document)));
  }
}

TEST_CASE("read_attention: nested lists of two, three and four levels") {
  const AttentionDocument two = read_one("[[1, 0], [0.5, 0.5]]");
  CHECK(two.patterns.size() == 1);
  CHECK(two.patterns[0].weights(1, 0) == 0.5f);
  CHECK(two.query_tokens == Strings{"0", "1"});
  CHECK_FALSE(two.run.mask);
  const AttentionDocument three = read_one("[[[1, 0]], [[0.25, 0.75]]]");
  CHECK(three.patterns.size() == 2);
  CHECK(three.patterns[1].head == HeadId{0, 1});
  CHECK(three.patterns[1].weights(0, 1) == 0.75f);
  CHECK(three.query_tokens == Strings{"0"});
  CHECK(three.key_tokens == Strings{"0", "1"});
  const AttentionDocument four = read_one("[[[[1]], [[2]]], [[[3]], [[4]]], [[[5]], [[6]]]]");
  CHECK(four.patterns.size() == 6);
  CHECK(four.patterns[3].head == HeadId{1, 1});
  CHECK(four.patterns[3].weights(0, 0) == 4.0f);
}

TEST_CASE("read_attention: arrays of the same shapes") {
  const std::vector<float> values = test::random_values(24, 1);
  const std::vector<std::vector<std::size_t>> shapes = {{4, 6}, {2, 3, 4}, {2, 2, 2, 3}};
  for (const std::vector<std::size_t>& shape : shapes) {
    std::string bytes = npy_header(shape);
    write_npy_values(test::matrix_over(values, 1, 24),
                     [&bytes](std::string_view more) { bytes += more; });
    const AttentionDocument document = read_one(bytes);
    const std::size_t rows = shape[shape.size() - 2];
    const std::size_t cols = shape.back();
    REQUIRE(document.patterns.size() == 24 / (rows * cols));
    for (std::size_t i = 0; i < 24; ++i) {
      CHECK(document.patterns[i / (rows * cols)].weights(i / cols % rows, i % cols) == values[i]);
    }
  }
  const std::array<std::size_t, 1> line = {24};
  CHECK(failure(npy_header(line) + std::string(96, '\0')).kind() == ErrorKind::kUnsupported);
}

TEST_CASE("read_attention: given tokens, for queries and for keys") {
  const GivenTokens both{Strings{"one", "two"}, Strings{"x", "y", "z"}};
  const AttentionDocument cross = read_one("[[1, 0, 0], [0, 1, 0]]", both);
  CHECK(cross.query_tokens == Strings{"one", "two"});
  CHECK(cross.key_tokens == Strings{"x", "y", "z"});
  const GivenTokens same{Strings{"one", "two"}, {}};
  CHECK(read_one("[[1, 0], [0, 1]]", same).key_tokens == Strings{"one", "two"});
  CHECK(read_one("[[1, 0, 0], [0, 1, 0]]", same).key_tokens == Strings{"0", "1", "2"});
  const AttentionDocument kept = read_one(
      R"({"text": "a b", "tokens": ["a", "b"], "token_ids": [1, 2], "key_tokens": ["x", "y"],
                   "attention": [[[[1, 0], [0, 1]]]]})",
      same);
  CHECK(kept.query_tokens == Strings{"one", "two"});
  CHECK(kept.key_tokens == Strings{"x", "y"});  // the file's own
  CHECK_FALSE(kept.text);                       // roles of the tokens that were replaced
  CHECK(kept.token_ids.empty());
  const Error wrong = failure("[[1, 0, 0]]", same);
  CHECK(wrong.kind() == ErrorKind::kUsage);
  CHECK(contains(wrong, "tokens: expected 1 token, found 2"));
  CHECK(
      contains(failure("[[1]]", {{}, Strings{"x", "y"}}), "key_tokens: expected 1 token, found 2"));
}

TEST_CASE("read_attention: turns are dropped if other tokens are given") {
  const auto n_turns = [](const std::string& tokens, int end) {
    const GivenTokens given{Strings{"one", "two"}, {}};
    return read_one(fmt::format(R"({{"tokens": {}, "turns": [{{"role": "user", "begin": 0,)"
                                R"( "end": {}}}], "attention": [[[[1, 0], [0, 1]]]]}})",
                                tokens, end),
                    given)
        .turns.size();
  };
  CHECK(n_turns(R"(["a"])", 1) == 0);
  CHECK(n_turns(R"(["a", "b"])", 2) == 1);
}

TEST_CASE("read_attention: a mean covers at least one head") {
  for (const char* mean : {R"("rollout": {}, "layers": [], "heads": [])",
                           R"("rollout": {}, "layers": [0], "heads": [])",
                           R"("average": "all", "layers": [], "heads": [0])"}) {
    CAPTURE(mean);
    CHECK(contains(failure("{" + std::string(mean) + R"(, "attention": [[[[1, 0], [0, 1]]]]})"),
                   "expected at least one head in layers and heads, found none"));
  }
}

TEST_CASE("read_attention: means are over existing layers or heads") {
  const auto with = [](const std::string& more) {
    return R"({"tokens": ["a"], "attention": [[[[1]]], [[[1]]]], "average": "heads", )" + more +
           "}";
  };
  CHECK(read_one(with(R"("layers": [0, 5], "averaged": [{"layer": 0, "head": 1},
                                                    {"layer": 5, "head": 0}])"))
            .average->heads.size() == 2);
  for (const char* averaged :
       {R"([{"layer": 0, "head": 1}])",
        R"([{"layer": 0, "head": 1}, {"layer": 1, "head": 1}, {"layer": 5, "head": 0}])",
        R"([{"layer": 1, "head": 1}, {"layer": 5, "head": 0}])"}) {
    const Error error = failure(with(R"("layers": [0, 5], "averaged": )" + std::string(averaged)));
    CHECK(error.kind() == ErrorKind::kMalformed);
    CHECK(contains(error, "averaged: "));
  }
}

TEST_CASE("read_attention: the numbers of layers and heads are limited") {
  const auto with = [](const char* layer) {
    return R"({"tokens": ["a"], "selected": [{"layer": )" + std::string(layer) +
           R"(, "head": 0, "attention": [[1]]}]})";
  };
  CHECK(read_one(with("16777215")).patterns.front().head.layer == 16'777'215);
  for (const char* layer : {"16777216", "18446744073709551615"}) {
    CHECK(contains(failure(with(layer)), "numbers of layers and heads up to 16777215"));
  }
  const std::string listed = R"({"tokens": ["a"], "attention": [[[[1]]]], "layers": [)";
  CHECK(read_one(listed + "16777215]}").patterns.front().head.layer == 16'777'215);
  CHECK(contains(failure(listed + "16777217]}"), "layers: expected indices from 0"));
}

TEST_CASE("read_attention: several lines are several documents") {
  const std::string line = R"({"tokens": ["a"], "attention": [[[[1]]]]})";
  CHECK(read_attention(line + "\n\n" + line + "\n", "a.json", {}).size() == 2);
  CHECK(read_attention("{\n\"attention\": [[[[1]]]]\n}\n", "a.json", {}).size() == 1);
  CHECK(contains(failure(line + "\n{\"attention\": 5}\n"), "a.json: line 2: "));
}

TEST_CASE("read_attention: null and -Infinity are masked scores") {
  constexpr float kMasked = -std::numeric_limits<float>::infinity();
  const auto row_of = [](std::string_view bytes, std::optional<PatternKind> kind) {
    const ReadDocument read = std::move(read_attention(bytes, "a.json", {}, {kind}).front());
    const auto row = read.document.patterns.back().weights.row(0);
    return std::vector<float>(row.begin(), row.end());
  };
  for (const char* bytes : {"[[2, null, -Infinity]]", "[[[[2,null , -Infinity ]]]]",
                            R"({"attention": [[[[2, null, -Infinity]]]]})",
                            R"({"kind": "weights", "attention": [[[[2, null, -Infinity]]]]})"}) {
    CAPTURE(bytes);
    CHECK(row_of(bytes, PatternKind::kScores) == std::vector<float>{2.0f, kMasked, kMasked});
    CHECK_THROWS_AS(read_attention(bytes, "a.json", {}), Error);
    CHECK_THROWS_AS(read_attention(bytes, "a.json", {}, {PatternKind::kWeights}), Error);
  }
  CHECK(row_of("[[null, -Infinity]]", PatternKind::kMasked) ==
        std::vector<float>{kMasked, kMasked});
  // Numbers too small for the fast reader leave the rest to another one.
  CHECK(row_of("[[1e-60, null, 3]]", PatternKind::kScaled) ==
        std::vector<float>{0.0f, kMasked, 3.0f});
  for (const char* kind : {"scores", "scaled", "masked"}) {
    const std::string said = fmt::format(R"({{"attention": [[[[null, 1]]]], "kind": "{}"}})", kind);
    CHECK(row_of(said, {}) == std::vector<float>{kMasked, 1.0f});
  }
  CHECK(std::string(failure("[[1, null]]").what()) ==
        "a.json: [0]: expected a number, found null (item 1)");
  CHECK(contains(failure("[[1, -Infinity]]"), "expected a value, found -Infinity"));
  // -Infinity anywhere else is refused, and so are all other words.
  for (const char* bytes : {"[[1, Infinity]]", "[[1, NaN]]", R"([[1, "-inf"]])", "[[1, nul]]",
                            "[[1, null,]]", "[[1], null]", R"({"attention": -Infinity})",
                            R"({"x": -Infinity, "attention": [[[[1]]]]})"}) {
    CAPTURE(bytes);
    CHECK_THROWS_AS(read_attention(bytes, "a.json", {}, {PatternKind::kScores}), Error);
  }
}

TEST_CASE("read_attention: malformed documents are refused with the position") {
  for (const char* bytes :
       {"",
        "7",
        "\"x\"",
        "{}",
        "[]",
        "[[]]",
        "[[1, 2], [3]]",
        "[[[1]], [[1], [2]]]",
        "[[[[1]]], 5]",
        "[[[[1]], [[1]]], [[[1]]]]",
        "[[1, null]]",
        "[[1, NaN]]",
        R"([["a"]])",
        R"({"attention": [[1]]})",
        R"({"schema": "attnviz.weights/1", "attention": [[[[1]]]]})",
        R"({"tokens": ["a", "b"], "attention": [[[[1]]]]})",
        R"({"tokens": 5, "attention": [[[[1]]]]})",
        R"({"layers": [0, 1], "attention": [[[[1]]]]})",
        R"({"heads": [1, 1], "attention": [[[[1]], [[1]]]]})",
        R"({"attention": []})",
        R"({"selected": []})",
        R"({"attention": [[]]})",
        R"({"average": "all", "averaged": [], "attention": [[[[1]]]]})",
        R"({"tokens": ["a"], "token_ids": [1, 2], "attention": [[[[1]]]]})",
        R"({"mask": "causla", "attention": [[[[1]]]]})",
        R"({"dropout": 1, "attention": [[[[1]]]]})",
        R"({"selected": [{"layer": 1, "attention": [[1]]}, {"layer": 1, "attention": [[1]]}]})",
        R"({"merged": "stanzas", "attention": [[[[1]]]]})",
        R"({"tokens": ["a"], "turns": [{"role": "u", "begin": 0, "end": 2}],
            "attention": [[[[1]]]]})",
        R"({"tokens": ["a"], "turns": [{"role": 7, "begin": 0, "end": 1}],
            "attention": [[[[1]]]]})",
        R"({"tokens": ["a", "b"], "turns": [{"role": null, "begin": 0, "end": 1}],
            "attention": [[[[1, 0], [0, 1]]]]})",
        R"({"tokens": ["a"], "turns": [{"role": null, "begin": 0, "end": 1}],
            "turn_attention": {"mean": [1, 2], "from_last": [1]}, "attention": [[[[1]]]]})",
        R"({"tokens": ["a"], "text": "a", "merged": "words", "merged_ranges": [[0, 2]],
            "merged_token_ids": [[1]], "attention": [[[[1]]]]})",
        R"({"tokens": ["a"], "merged": "words", "merged_ranges": [[1, 0]],
            "merged_token_ids": [[1]], "attention": [[[[1]]]]})",
        R"({"tokens": ["a"], "merged": "words", "merged_ranges": [[0, 1]],
            "merged_token_ids": [[1], [2, 3]], "attention": [[[[1]]]]})",
        R"({"tokens": ["a"], "merged": "words", "merged_ranges": [[0, 1]],
            "merged_token_ids": [["b"]], "attention": [[[[1]]]]})",
        R"({"drawing": {"colormap": "none"}, "attention": [[[[1]]]]})",
        R"({"drawing": {"range": [1, 0]}, "attention": [[[[1]]]]})",
        R"({"drawing": {"range": [1]}, "attention": [[[[1]]]]})",
        R"({"drawing": {"scale": "log", "range": [0, 1]}, "attention": [[[[1]]]]})"}) {
    CAPTURE(bytes);
    const Error error = failure(bytes);
    CHECK(error.kind() == ErrorKind::kMalformed);
    CHECK(std::string_view(error.what()).substr(0, 7) == "a.json:");
  }
}

TEST_CASE("attention JSON: a message about another schema is short, however long its name is") {
  const std::string name = "attnviz." + std::string(5000, 'x');
  const std::string message =
      failure("{\"schema\": \"" + name + "\", \"attention\": [[[[1]]]]}").what();
  CHECK(message.starts_with("a.json: schema: expected \"attnviz.attention/1\", found \"attnviz.x"));
  CHECK(message.size() < 200);
}

}  // namespace attnviz
