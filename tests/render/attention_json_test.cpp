#include "attnviz/render/attention_json.h"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attnviz/model/random_model.h"

namespace attnviz {
namespace {

using nlohmann::json;

std::string document(const std::vector<HeadId>& heads, const AttentionRequest& request = {},
                     const std::string& source = "a b") {
  const Model model = random_model({.n_layers = 3, .n_heads = 3}, 7);
  const TokenizedText text{source, {{5, "a", 0, 1}, {6, "b", 2, 3}}};
  PatternStore patterns(heads, 2);
  for (const HeadId head : heads) {
    // The head's number in tenths, so that a pattern in the wrong place is seen.
    const float mark = static_cast<float>(10 * head.layer + head.head) / 10.0f;
    const float values[] = {1.0f, 0.0f, mark, 0.1f};
    patterns.rows(head, 0, {values, 2, 2, 2});
  }
  std::string out;
  write_attention_json(model, text, request, patterns,
                       [&out](std::string_view bytes) { out += bytes; });
  return out;
}

}  // namespace

TEST_CASE("attention JSON: a rectangle is [layer][head][query][key] on one line") {
  const std::string bytes = document({{0, 1}, {0, 2}, {2, 1}, {2, 2}});
  CHECK(bytes.find('\n') == bytes.size() - 1);
  const json parsed = json::parse(bytes);
  CHECK(parsed["schema"] == "attnviz.attention/1");
  CHECK(parsed["text"] == "a b");
  CHECK(parsed["tokens"] == json({"a", "b"}));
  CHECK(parsed["token_ids"] == json({5, 6}));
  CHECK(parsed["layers"] == json({0, 2}));
  CHECK(parsed["heads"] == json({1, 2}));
  REQUIRE(parsed["attention"].size() == 2);
  REQUIRE(parsed["attention"][1].size() == 2);
  CHECK(parsed["attention"][1][0][1][0].get<float>() == 2.1f);
  CHECK(parsed["attention"][0][1][1][0].get<float>() == 0.2f);
  CHECK(bytes.find("[[1,0],[2.1,0.1]]") != std::string::npos);  // shortest decimals
}

TEST_CASE("attention JSON: heads that are no rectangle stand one by one") {
  const json parsed = json::parse(document({{0, 1}, {2, 2}}));
  CHECK(!parsed.contains("attention"));
  CHECK(!parsed.contains("layers"));
  REQUIRE(parsed["selected"].size() == 2);
  CHECK(parsed["selected"][1]["layer"] == 2);
  CHECK(parsed["selected"][1]["head"] == 2);
  CHECK(parsed["selected"][1]["attention"][1][0].get<float>() == 2.2f);
}

TEST_CASE("attention JSON: tells the model and every switch that is in use") {
  const json plain = json::parse(document({{0, 0}}));
  CHECK(plain["model"]["random"] == true);
  CHECK(plain["model"]["seed"] == 7);
  CHECK(plain["model"]["n_layers"] == 3);
  CHECK(plain["model"]["n_heads"] == 3);
  CHECK(plain["mask"] == "causal");
  CHECK(plain["temperature"] == 1.0);
  CHECK(!plain.contains("scaled"));
  CHECK(!plain.contains("dropout"));
  AttentionRequest request;
  request.mask = parse_mask("window:3");
  request.scale = false;
  request.dropout = 0.5f;
  request.dropout_seed = std::numeric_limits<std::uint64_t>::max();
  const json parsed = json::parse(document({{0, 0}}, request));
  CHECK(parsed["mask"] == "window:3");
  CHECK(parsed["scaled"] == false);
  CHECK(parsed["dropout"] == 0.5);
  CHECK(parsed["dropout_seed"] == 18446744073709551615u);
}

TEST_CASE("attention JSON: invalid UTF-8 and control characters make a valid document") {
  const json parsed = json::parse(document({{0, 0}}, {}, "\xFF\x1b\n\""));
  CHECK(parsed["text"] == "\\xFF\x1b\n\"");
}

}  // namespace attnviz
