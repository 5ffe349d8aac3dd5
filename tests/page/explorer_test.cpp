#include "attnviz/page/explorer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/core/demo_files.h"
#include "attnviz/core/error.h"
#include "page/page_data.h"
#include "support/naive.h"
#include "support/sanitized.h"
#include "support/stopwatch.h"

namespace attnviz {
namespace {

using nlohmann::json;
using test::data_of;
using test::page_of;
using test::PageData;
using Strings = std::vector<std::string>;

const std::vector<float> kCausal = {1.0f, 0.0f, 0.0f, 0.5f, 0.5f, 0.0f, 0.5f, 0.125f, 0.375f};

AttentionDocument document_of(ConstMatrix weights, const std::vector<HeadId>& heads = {{0, 1}}) {
  AttentionDocument document;
  for (std::size_t i = 0; i < weights.rows; ++i) {
    document.query_tokens.push_back("q" + std::to_string(i));
  }
  document.key_tokens = document.query_tokens;
  if (weights.rows != weights.cols) {
    document.key_tokens.clear();
    for (std::size_t i = 0; i < weights.cols; ++i) {
      document.key_tokens.push_back("k" + std::to_string(i));
    }
  }
  for (const HeadId head : heads) {
    document.patterns.push_back({head, weights});
  }
  return document;
}

AttentionDocument causal_document(const std::vector<HeadId>& heads = {{0, 1}}) {
  AttentionDocument document = document_of(test::matrix_over(kCausal, 3, 3), heads);
  document.query_tokens = document.key_tokens = {"The", " cat", " sat"};
  document.run.mask = Mask{};
  return document;
}

// Every weight is above 0, so that no pattern is a triangle.
std::vector<float> full_weights(std::size_t n) {
  std::vector<float> weights = test::random_values(n, /*seed=*/5);
  for (float& weight : weights) {
    weight = weight * weight + 1e-3f;
  }
  return weights;
}

}  // namespace

TEST_CASE("write_explorer: the weight on a learned sink has no column, but a note") {
  AttentionDocument document = causal_document();
  document.patterns.front().sink = {0.5f, 0.25f, 0.125f};
  const PageData page = data_of(document);
  CHECK(page["shape"] == json({3, 3}));
  CHECK(page["notes"].dump().find("learned sinks: ") != std::string::npos);
  CHECK(page["drawing"]["drop_sink"] == false);
}

TEST_CASE("write_explorer: tokens, text and model of a small document") {
  AttentionDocument document = causal_document();
  document.text = "The cat sat";
  document.token_ids = {5, 6, 7};
  document.marks.special = {0};
  document.marks.generated = {2};
  document.model = ModelFacts{};
  document.model->name = "tiny";
  document.model->n_layers = 1;
  document.model->n_heads = 4;
  document.model->n_kv_heads = 2;
  document.drawing.title = "a title\x1B\u202E";
  const PageData data = data_of(document, {.command = {.words = "attnviz -m tiny", .text = "The"}});
  CHECK(data["schema"] == "attnviz.page/1");
  CHECK(data["title"] == "a title\\x1B\\u{202E}");
  CHECK(data["command"] == "attnviz -m tiny");
  CHECK(data["text"] == "The cat sat");
  CHECK(data["queries"]["text"] == json({"The", " cat", " sat"}));
  CHECK(data["queries"]["label"] == json({"The", "␣cat", "␣sat"}));
  CHECK(data["queries"]["id"] == json({5, 6, 7}));
  CHECK(data["queries"]["special"] == json::array({0}));
  CHECK(data["queries"]["added"] == json::array());
  CHECK(data["queries"]["generated"] == json::array({2}));
  CHECK(data["queries"]["word"].is_null());
  CHECK(data["keys"].is_null());
  CHECK(data["shape"] == json({3, 3}));
  CHECK(data["model"]["name"] == "tiny");
  CHECK(data["model"]["n_heads"] == 4);
  CHECK(data["documents"].at(0)["heads"].at(0)["layer"] == 0);
  CHECK(data["documents"].at(0)["heads"].at(0)["head"] == 1);
  CHECK(data["documents"].at(0)["heads"].at(0)["group"] == 0);  // 0.0 and 0.1 share keys, values
  CHECK(data["chosen"] == 0);
  CHECK(data["steps"].is_null());
  CHECK(data["live"].is_null());
}

TEST_CASE("write_explorer: words and sentences of tokens, if their positions are known") {
  const std::string source = "The cat sat. It ran.";
  TokenizedText text{source, {}};
  AttentionDocument document;
  const std::size_t begins[] = {0, 3, 5, 7, 11, 12, 15, 19, 20};
  for (std::size_t i = 0; i + 1 < std::size(begins); ++i) {
    text.tokens.push_back({.id = 1,
                           .text = source.substr(begins[i], begins[i + 1] - begins[i]),
                           .begin = begins[i],
                           .end = begins[i + 1]});
    document.query_tokens.push_back(text.tokens.back().text);
  }
  document.key_tokens = document.query_tokens;
  const std::vector<float> weights = full_weights(64);
  document.patterns.push_back({{0, 0}, test::matrix_over(weights, 8, 8)});
  const PageData data = data_of(document, {.text = &text});
  CHECK(data["queries"]["word"] == json({0, 1, 1, 2, 3, 4, 5, 6}));
  CHECK(data["queries"]["sentence"] == json({0, 0, 0, 0, 0, 1, 1, 1}));
}

TEST_CASE("write_explorer: tokens of every kind are stored as data, and labels are harmless") {
  const Strings hostile = {"</script><img src=x onerror=alert(1)>",
                           "<!--<script>",
                           "\u2028",
                           std::string("\x01\x1b[0m"),
                           "👩‍👩‍👧",
                           "\u202Eمرحبا",
                           "\"\\\n",
                           ""};
  const std::vector<float> weights = full_weights(64);
  AttentionDocument document = document_of(test::matrix_over(weights, 8, 8));
  document.query_tokens = document.key_tokens = hostile;
  const std::string page = page_of(std::span(&document, 1));
  const std::string_view text = test::data_text(page);
  CHECK(text.find('<') == std::string_view::npos);
  const PageData data(page);
  CHECK(data["queries"]["text"] == json(hostile));
  for (const json& label : data["queries"]["label"]) {
    const auto shown = label.get<std::string>();
    CHECK(std::ranges::none_of(shown, [](char sign) { return sign >= 0 && sign < ' '; }));
    CHECK(shown.find("\u202E") == std::string::npos);
    CHECK(shown.find("\u2028") == std::string::npos);
  }
  const AttentionDocument plain = document_of(test::matrix_over(weights, 8, 8));
  const std::string other = page_of(std::span(&plain, 1));
  CHECK(std::ranges::count(page, '<') == std::ranges::count(other, '<'));
}

TEST_CASE("write_explorer: weights of a triangle are stored row by row up to the query") {
  const PageData data = data_of(causal_document());
  CHECK(data["triangle"] == true);
  const json& weights = data["documents"].at(0)["heads"].at(0)["weights"];
  CHECK(weights["code"] == "f32");
  CHECK(data.floats(weights["blob"]) == std::vector<float>{1, 0.5f, 0.5f, 0.5f, 0.125f, 0.375f});
  CHECK(data.weights(0, 0) == kCausal);
}

TEST_CASE("write_explorer: a weight after its query, in any head, rules out a triangle") {
  AttentionDocument document = causal_document({{0, 0}, {0, 1}});
  std::vector<float> other = kCausal;
  other[1] = 0.5f;
  document.patterns[1].weights = test::matrix_over(other, 3, 3);
  const PageData data = data_of(document);
  CHECK(data["triangle"] == false);
  CHECK(data.weights(0, 0) == kCausal);
  CHECK(data.weights(0, 1) == other);
  other[1] = std::nanf("");
  CHECK(data_of(document)["triangle"] == false);
}

TEST_CASE("write_explorer: a bit of the mask for each cell, the lowest first") {
  AttentionDocument document = causal_document({{0, 0}, {1, 0}});
  document.run.layers = {{.layer = 1, .window = 2}};
  const PageData data = data_of(document);
  REQUIRE(data["masks"].size() == 2);
  const json& heads = data["documents"].at(0)["heads"];
  const auto first = heads.at(0)["mask"].get<std::size_t>();
  const auto second = heads.at(1)["mask"].get<std::size_t>();
  CHECK(data["masks"].at(first)["name"] == "causal");
  CHECK(data["masks"].at(second)["name"] == "window:2");
  // 1 / 11 / 111 in rows of three: bits 0, 3, 4, 6, 7 of the first byte, 8 of the next.
  CHECK(data.blob(data["masks"].at(first)["blob"]) == std::vector<std::uint8_t>{0b11011001, 1});
  CHECK(data.mask(second) ==
        std::vector<bool>{true, false, false, true, true, false, false, true, true});
}

TEST_CASE("write_explorer: without a known mask none is stored") {
  AttentionDocument document = causal_document();
  document.run.mask.reset();
  const PageData data = data_of(document);
  CHECK(data["documents"].at(0)["heads"].at(0)["mask"].is_null());
  CHECK(data["masks"].empty());
}

TEST_CASE("write_explorer: queries and keys of other texts") {
  const std::vector<float> weights = full_weights(6);
  const PageData data = data_of(document_of(test::matrix_over(weights, 2, 3)));
  CHECK(data["shape"] == json({2, 3}));
  CHECK(data["triangle"] == false);
  CHECK(data["keys"]["text"] == json({"k0", "k1", "k2"}));
  CHECK(data["queries"]["text"] == json({"q0", "q1"}));
  CHECK(data.weights(0, 0) == weights);
  const PageData tall = data_of(document_of(test::matrix_over(weights, 3, 2)));
  CHECK(tall["triangle"] == false);
  CHECK(tall.weights(0, 0) == weights);
}

TEST_CASE("write_explorer: several documents have their own names and weights") {
  AttentionDocument documents[] = {causal_document(), causal_document()};
  std::vector<float> other = kCausal;
  other[0] = 0.75f;
  other[2] = 0.25f;
  documents[1].patterns[0].weights = test::matrix_over(other, 3, 3);
  documents[1].run.mask = Mask{MaskKind::kNone};
  documents[0].drawing.side_by_side = {"causal", "none"};
  const PageData data(page_of(documents));
  REQUIRE(data["documents"].size() == 2);
  CHECK(data["documents"].at(0)["name"] == "causal");
  CHECK(data["documents"].at(1)["name"] == "none");
  CHECK(data["triangle"] == false);
  CHECK(data.weights(0, 0) == kCausal);
  CHECK(data.weights(1, 0) == other);
  const auto distance = [&data](std::size_t document) {
    return data["documents"].at(document)["heads"].at(0)["scores"]["distance_mean"];
  };
  CHECK(distance(0) == doctest::Approx((0.5 + 2 * 0.5 + 0.125) / 2));
  CHECK(distance(1) == doctest::Approx((2 * 0.25 + 0.5 + 2 * 0.5 + 0.125) / 3));
  const json& mask = data["documents"].at(1)["heads"].at(0)["mask"];
  if (!mask.is_null()) {
    CHECK(std::ranges::count(data.mask(mask.get<std::size_t>()), true) == 9);
  }
}

TEST_CASE("write_explorer: the chosen head comes first, with its reason") {
  const AttentionDocument document = causal_document({{0, 0}, {0, 1}, {2, 3}});
  const PageData data = data_of(document, {.first = FirstShown{{2, 3}, 1, "because"}});
  CHECK(data["chosen"] == 2);
  CHECK(data["reason"] == "because");
  CHECK(data["focus"] == 1);
  const PageData absent = data_of(document, {.first = FirstShown{{7, 7}, 0, "because"}});
  CHECK(absent["chosen"] == 0);
  CHECK(absent["reason"] == "");
  CHECK(!absent.has("focus"));
}

json scores_of(const AttentionDocument& document) {
  return data_of(document)["documents"][0]["heads"][0]["scores"];
}

TEST_CASE("write_explorer: scores of heads, computed by hand") {
  AttentionDocument document = causal_document();
  const json unnamed = scores_of(document);
  CHECK(unnamed["previous"] == doctest::Approx((0.5 + 0.125) / 2));
  CHECK(unnamed["self"] == doctest::Approx((0.5 + 0.375) / 2));
  CHECK(unnamed["first"] == doctest::Approx(0.5));
  CHECK(unnamed["confidence"] == doctest::Approx(0.5));
  CHECK(unnamed["distance_mean"] == doctest::Approx((0.5 + 2 * 0.5 + 0.125) / 2));
  CHECK(unnamed["entropy_fraction"] ==
        doctest::Approx((1.0 + (0.5 + 3 * 0.125 + 0.375 * std::log2(8.0 / 3.0)) / std::log2(3.0)) /
                        2));
  CHECK(unnamed["duplicate"].is_null());  // unknown which tokens are the same
  document.token_ids = {5, 6, 5};
  const json named = scores_of(document);
  CHECK(named["duplicate"] == doctest::Approx(0.5));
  CHECK(named["induction"] == doctest::Approx(0.125));
}

TEST_CASE(
    "write_explorer: no scores for changes, for other keys, and for values that are not weights") {
  AttentionDocument change = causal_document();
  change.difference = DocumentDifference{"a", "b"};
  CHECK(scores_of(change).is_null());
  const std::vector<float> wide = {0.5f, 0.5f, 0.0f, 0.25f, 0.25f, 0.5f};
  CHECK(scores_of(document_of(test::matrix_over(wide, 2, 3))).is_null());
  const std::vector<float> negative = {1.0f, 0.0f, -0.5f, 1.5f};
  CHECK(scores_of(document_of(test::matrix_over(negative, 2, 2))).is_null());
}

TEST_CASE("write_explorer: colormaps are those of pictures, 256 colours each") {
  const PageData data = data_of(causal_document());
  CHECK(data["colormaps"].size() == colormap_names().size());
  for (const std::string_view name : colormap_names()) {
    CAPTURE(name);
    const Colormap map(name);
    const auto bytes = data.blob(data["colormaps"].at(std::string(name)));
    REQUIRE(bytes.size() == 3 * Colormap::kColors);
    for (const float position : {0.0f, 0.2501f, 0.5001f, 1.0f}) {
      const std::size_t index =
          std::min<std::size_t>(static_cast<std::size_t>(position * 256), 255);
      const Rgb color = map(position);
      CHECK(bytes[3 * index] == color.r);
      CHECK(bytes[3 * index + 1] == color.g);
      CHECK(bytes[3 * index + 2] == color.b);
    }
  }
  CHECK(data["drawing"]["colormap"] == "viridis");
  CHECK(data["drawing"]["scale"] == "linear");
}

TEST_CASE("write_explorer: changes are distinguished from weights, with any colormap") {
  for (const char* const colormap : {"viridis", "blue-red"}) {
    CAPTURE(colormap);
    AttentionDocument document = causal_document();
    document.drawing.scale.colormap = Colormap(colormap);
    CHECK(data_of(document)["drawing"]["zero_centred"] == false);
    document.difference = DocumentDifference{"a", "b"};
    CHECK(data_of(document)["drawing"]["zero_centred"] == true);
  }
}

TEST_CASE("write_explorer: a focus and a first key left out of pictures are kept in the page") {
  AttentionDocument document = causal_document();
  document.drawing.focus = Focus{1, false};
  document.drawing.drop_sink = true;
  const PageData data = data_of(document);
  CHECK(data.weights(0, 0) == kCausal);
  CHECK(data["queries"]["text"].size() == 3);
  CHECK(data["drawing"]["drop_sink"] == true);
}

TEST_CASE("write_explorer: exact floats while they fit, then 16 bits, then 8") {
  struct Case {
    std::size_t n;
    std::size_t n_heads;
    const char* code;
    double most;  // error, for weights up to 1
  };
  // Up to 262,144 weights are floats, up to 4,194,304 have 16 bits.
  for (const Case& one : {Case{512, 1, "f32", 0.0}, Case{513, 1, "u16", 1.0 / 65534},
                          Case{1000, 5, "u8", 1.0 / 254}}) {
    CAPTURE(one.n);
    const std::vector<float> weights = full_weights(one.n * one.n);
    std::vector<HeadId> heads;
    for (std::size_t head = 0; head < one.n_heads; ++head) {
      heads.push_back({0, head});
    }
    const std::size_t last = one.n_heads - 1;
    const PageData data = data_of(document_of(test::matrix_over(weights, one.n, one.n), heads),
                                  {.first = FirstShown{heads.back(), 0, "last"}});
    const json& written = data["documents"].at(0)["heads"];
    CHECK(written.at(0)["weights"]["code"] == one.code);
    const std::vector<float> read = data.weights(0, 0);
    REQUIRE(read.size() == weights.size());
    double off = 0.0;
    for (std::size_t i = 0; i < read.size(); ++i) {
      off = std::max(off, std::abs(static_cast<double>(read[i]) - static_cast<double>(weights[i])));
    }
    CHECK(off <= one.most * 1.01);
    // The chosen head's numbers are also stored exactly; those of the others are not.
    const bool is_float = std::string_view(one.code) == "f32";
    REQUIRE(written.at(last).contains("exact") != is_float);
    if (!is_float) {
      CHECK(data.floats(written.at(last)["exact"]["blob"]) == weights);
    }
    CHECK((one.n_heads == 1 || !written.at(0).contains("exact")));
  }
}

TEST_CASE("write_explorer: more weights than a page holds are refused") {
  const std::vector<float> weights = full_weights(1'000'000);
  std::vector<HeadId> heads;
  for (std::size_t head = 0; head < 49; ++head) {
    heads.push_back({0, head});
  }
  const AttentionDocument document = document_of(test::matrix_over(weights, 1000, 1000), heads);
  try {
    page_of(std::span(&document, 1));
    FAIL("49 million weights in a page");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kUsage);
    CHECK(std::string(error.what()).find("48 million") != std::string::npos);
  }
}

TEST_CASE("write_explorer: the live model's files are embedded unchanged") {
  const PageData data = data_of(causal_document(), {.live = true});
  const auto same = [&data](const char* name, std::span<const unsigned char> bytes) {
    CAPTURE(name);
    CHECK(std::ranges::equal(data.blob(data["live"][name]), bytes));
  };
  same("model", kDemoWeights);
  same("config", kDemoConfig);
  same("tokenizer", kDemoTokenizer);
}

TEST_CASE("write_explorer: the names of very many heads") {
  // Searching a million names for each one would take a minute. With a sanitizer each takes fresh
  // memory.
  constexpr std::size_t kHeads = test::kSanitized ? 3'000 : 30'000;
  std::vector<HeadId> heads;
  for (std::size_t head = 0; head < kHeads; ++head) {
    heads.push_back({0, head});
  }
  AttentionDocument document = causal_document(heads);
  document.model.emplace().named_heads.emplace(1'000'000, NamedHead{1, 0, "sink"});
  const test::Stopwatch watch;
  std::size_t n_bytes = 0;
  write_explorer(std::span(&document, 1), {},
                 [&n_bytes](std::string_view bytes) { n_bytes += bytes.size(); });
  CHECK(watch.is_in_time());
  CHECK(n_bytes > heads.size());
}

}  // namespace attnviz
