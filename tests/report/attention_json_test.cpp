#include "attnviz/report/json/document_json.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/model/random_model.h"
#include "support/json.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using Json = nlohmann::ordered_json;

TokenizedText text_of(const std::vector<std::string>& pieces) {
  TokenizedText text;
  for (const std::string& piece : pieces) {
    const std::size_t begin = text.source.size();
    text.source += piece;
    text.tokens.push_back(
        {static_cast<TokenId>(text.tokens.size() + 5), piece, begin, text.source.size()});
  }
  return text;
}

Model small_model() {
  return random_model({.n_layers = 3, .n_heads = 4, .d_model = 8}, 42);
}

// A store whose heads hold seeded values in [0, 1).
PatternStore filled_store(const std::vector<HeadId>& heads, std::size_t n_tokens) {
  PatternStore store(heads, n_tokens);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    std::vector<float> weights = test::random_values(n_tokens * n_tokens, i + 1);
    std::transform(weights.begin(), weights.end(), weights.begin(),
                   [](float weight) { return (weight + 1.0f) / 2.0f; });
    store.rows(heads[i], 0, 0, test::matrix_over(weights, n_tokens, n_tokens));
  }
  return store;
}

std::string written(const Model& model, const TokenizedText& text, const AttentionRequest& request,
                    const PatternStore& store) {
  std::string out;
  write_attention_json(attention_document(model, text, request, store),
                       [&out](std::string_view bytes) { out += bytes; });
  return out;
}

void check_same_bits(const Json& rows, ConstMatrix pattern) {
  REQUIRE(rows.size() == pattern.rows);
  for (std::size_t query = 0; query < pattern.rows; ++query) {
    REQUIRE(rows[query].size() == pattern.cols);
    for (std::size_t key = 0; key < pattern.cols; ++key) {
      CHECK(std::bit_cast<std::uint32_t>(rows[query][key].get<float>()) ==
            std::bit_cast<std::uint32_t>(pattern(query, key)));
    }
  }
}

}  // namespace

TEST_CASE("write_attention_json: one line with the request and the model") {
  const std::string out =
      written(small_model(), text_of({"The", "cat"}), {}, filled_store({{0, 0}}, 2));
  CHECK(std::count(out.begin(), out.end(), '\n') == 1);
  CHECK(out.back() == '\n');
  const Json document = Json::parse(out);
  CHECK(document.at("schema") == "attnviz.attention/1");
  CHECK(document.at("text") == "Thecat");
  CHECK(document.at("tokens") == Json({"The", "cat"}));
  CHECK(document.at("token_ids") == Json({5, 6}));
  CHECK(document.at("mask") == "causal");
  CHECK(document.at("temperature") == 1.0);
  const Json& model = document.at("model");
  CHECK(model.at("name") == "random");
  CHECK(model.at("random") == true);
  CHECK(model.at("seed") == 42);
  CHECK(model.at("n_layers") == 3);
  CHECK(model.at("n_heads") == 4);
  CHECK(model.at("n_kv_heads") == 4);
  CHECK(model.at("d_model") == 8);
  CHECK(model.at("d_head") == 2);
  CHECK(model.at("d_value") == 2);
  CHECK(model.at("tokenizer") == "words");
  CHECK(model.at("note").get<std::string>().find("mean nothing") != std::string::npos);
}

TEST_CASE("write_attention_json: sizes that differ between heads or layers are left out") {
  const PatternStore store = filled_store({{0, 0}}, 1);
  const auto facts = [&store](const Model& model) {
    return Json::parse(written(model, text_of({"a"}), {}, store)).at("model");
  };
  Model grouped = random_model({.n_layers = 2, .n_heads = 4, .n_kv_heads = 2, .d_value = 5}, 1);
  CHECK(facts(grouped).at("n_kv_heads") == 2);
  CHECK(facts(grouped).at("d_head") == 16);
  CHECK(facts(grouped).at("d_value") == 5);
  const Model other = random_model({.n_heads = 4, .d_model = 64, .d_head = 8, .d_value = 5}, 1);
  grouped.layers.push_back(other.layers.front());
  CHECK_FALSE(facts(grouped).contains("n_kv_heads"));
  CHECK_FALSE(facts(grouped).contains("d_head"));
  CHECK(facts(grouped).at("d_value") == 5);
}

TEST_CASE(
    "write_attention_json: a rectangle is [layer][head][query][key], and reads back bit for bit") {
  const std::size_t n_tokens = 7;
  // Out of order: the document is in order.
  const PatternStore store = filled_store({{2, 3}, {0, 1}, {2, 1}, {0, 3}}, n_tokens);
  const Json document =
      Json::parse(written(small_model(), text_of({"a", "b", "c", "d", "e", "f", "g"}), {}, store));
  CHECK(document.at("layers") == Json({0, 2}));
  CHECK(document.at("heads") == Json({1, 3}));
  CHECK_FALSE(document.contains("selected"));
  const Json& attention = document.at("attention");
  REQUIRE(attention.size() == 2);
  REQUIRE(attention[0].size() == 2);
  check_same_bits(attention[0][0], store.pattern({0, 1}));
  check_same_bits(attention[0][1], store.pattern({0, 3}));
  check_same_bits(attention[1][0], store.pattern({2, 1}));
  check_same_bits(attention[1][1], store.pattern({2, 3}));
}

TEST_CASE("write_attention_json: heads that do not form a rectangle are written one by one") {
  const PatternStore store = filled_store({{1, 0}, {2, 3}}, 3);
  const Json document = Json::parse(written(small_model(), text_of({"a", "b", "c"}), {}, store));
  CHECK_FALSE(document.contains("attention"));
  CHECK_FALSE(document.contains("layers"));
  CHECK_FALSE(document.contains("heads"));
  const Json& selected = document.at("selected");
  REQUIRE(selected.size() == 2);
  CHECK(selected[0].at("layer") == 1);
  CHECK(selected[0].at("head") == 0);
  check_same_bits(selected[0].at("attention"), store.pattern({1, 0}));
  CHECK(selected[1].at("layer") == 2);
  CHECK(selected[1].at("head") == 3);
  check_same_bits(selected[1].at("attention"), store.pattern({2, 3}));
}

TEST_CASE(
    "write_attention_json: invalid UTF-8 and control characters still make a valid document") {
  const std::string out = written(small_model(), text_of({"\xFF", "a\x1b\"\n", "日本", "\xE6\x97"}),
                                  {}, filled_store({{0, 0}}, 4));
  const Json document = Json::parse(out);
  CHECK(document.at("tokens") == Json({"<FF>", "a\x1b\"\n", "日本", "<E6 97>"}));
  CHECK(out.find('\x1b') == std::string::npos);
}

TEST_CASE("write_attention_json: what-if options are written only if they are used") {
  const Model model = small_model();
  const PatternStore store = filled_store({{0, 0}}, 1);
  const Json plain = Json::parse(written(model, text_of({"a"}), {}, store));
  CHECK_FALSE(plain.contains("scale"));
  CHECK_FALSE(plain.contains("dropout"));
  CHECK_FALSE(plain.contains("dropout_seed"));

  AttentionRequest request;
  request.mask = Mask{MaskKind::kWindow, 4};
  request.temperature = 0.5f;
  request.scale = false;
  request.dropout = 0.25f;
  request.dropout_seed = 18446744073709551615U;
  const Json asked = Json::parse(written(model, text_of({"a"}), request, store));
  CHECK(asked.at("mask") == "window:4");
  CHECK(asked.at("temperature") == 0.5);
  CHECK(asked.at("scale") == false);
  CHECK(asked.at("dropout") == 0.25);
  CHECK(asked.at("dropout_seed") == 18446744073709551615U);
}

TEST_CASE(
    "write_attention_json: weights from a file are not called random; a used seed is written") {
  Model model = small_model();
  model.config.random_weights = false;
  const PatternStore store = filled_store({{0, 0}}, 1);
  const Json by_seed = Json::parse(written(model, text_of({"a"}), {}, store)).at("model");
  CHECK_FALSE(by_seed.contains("random"));
  CHECK_FALSE(by_seed.contains("note"));
  CHECK(by_seed.at("seed") == 42);  // seed of the embeddings
  CHECK(by_seed.at("random_embeddings") == Json{"a"});

  const std::vector<float> inputs(model.config.d_model, 0.5f);
  model.inputs = test::matrix_over(inputs, 1, model.config.d_model);
  const Json by_position = Json::parse(written(model, text_of({"a"}), {}, store)).at("model");
  CHECK_FALSE(by_position.contains("seed"));
  CHECK_FALSE(by_position.contains("random_embeddings"));
}

TEST_CASE("write_attention_json: records how the picture was drawn") {
  const PatternStore store = filled_store({{0, 0}}, 2);
  AttentionDocument document = attention_document(small_model(), text_of({"a", "b"}), {}, store);
  const auto drawing_of = [](const AttentionDocument& from) {
    std::string out;
    write_attention_json(from, [&out](std::string_view bytes) { out += bytes; });
    return Json::parse(out).at("drawing");
  };
  CHECK(
      drawing_of(document) ==
      Json(
          {{"colormap", "viridis"}, {"scale", "linear"}, {"range", {0.0, 1.0}}, {"pool", "auto"}}));
  document.drawing.scale.colormap = Colormap("blues_r");
  document.drawing.scale.kind = ScaleKind::kRowMax;
  document.drawing.scale.high = 0.5f;
  document.drawing.pool = PoolKind::kMean;
  document.drawing.drop_sink = true;
  document.drawing.title = "";
  CHECK(drawing_of(document) == Json({{"colormap", "blues_r"},
                                      {"scale", "row-max"},
                                      {"range", {0.0, 0.5}},
                                      {"pool", "mean"},
                                      {"drop_sink", true},
                                      {"title", ""}}));
}

TEST_CASE("attention_facts: the document without its weights, on one line") {
  for (const std::vector<HeadId>& heads :
       {std::vector<HeadId>{{0, 0}}, std::vector<HeadId>{{0, 1}, {1, 0}}}) {
    const PatternStore store = filled_store(heads, 2);
    const AttentionDocument document =
        attention_document(small_model(), text_of({"a", "\n"}), {}, store);
    std::string whole;
    write_attention_json(document, [&whole](std::string_view bytes) { whole += bytes; });
    Json expected = Json::parse(whole);
    expected.erase("attention");
    if (expected.contains("selected")) {
      for (Json& entry : expected.at("selected")) {
        entry.erase("attention");
      }
    }
    const std::string facts = attention_facts(document);
    CHECK(facts.find('\n') == std::string::npos);
    CHECK(Json::parse(facts) == expected);
  }
}

TEST_CASE("a document of 80,000 heads keeps half of them without delay") {
  AttentionDocument document;
  std::vector<HeadId> wanted;
  for (std::size_t layer = 0; layer < 80'000; ++layer) {
    document.patterns.push_back({{layer, 0}, {}});
    if (layer % 2 == 1) {
      wanted.push_back({layer, 0});
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  keep_patterns(document, wanted);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  CHECK(seconds.count() < 5.0);
  CHECK((heads_of(document) == wanted));
}

}  // namespace attnviz
