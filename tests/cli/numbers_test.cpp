// Numbers that come from elsewhere, through the whole program.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {
namespace {

using nlohmann::json;

}  // namespace

TEST_CASE("a PyTorch multi-head module written as weights JSON gives PyTorch's attention") {
  const json expected = read_json(kReference + "torch_mha_expected.json");
  for (const char* mask : {"none", "causal"}) {
    CAPTURE(std::string(mask));
    const json actual = attnviz_json(
        {"-m", kReference + "torch_mha.json", "--mask", mask, "one two three four five"});
    const json& heads = expected[mask]["attention"];
    REQUIRE(actual["attention"][0].size() == heads.size());
    for (std::size_t head = 0; head < heads.size(); ++head) {
      for (std::size_t query = 0; query < 5; ++query) {
        for (std::size_t key = 0; key < 5; ++key) {
          const double weight = actual["attention"][0][head][query][key].get<double>();
          CHECK(std::abs(weight - heads[head][query][key].get<double>()) < 1e-6);
        }
      }
    }
  }
}

TEST_CASE("softmax of (2.1, 8.7, 3.2) / sqrt(128) is 0.2568 0.4602 0.2830") {
  // q·k of the last token are the three numbers; its d_head of 128 scales them.
  const TemporaryFolder folder;
  const auto row = [](double first) {
    json values = json::array({first});
    for (int i = 1; i < 128; ++i) {
      values.push_back(0);
    }
    return values;
  };
  const json zero = row(0);
  const json weights = {
      {"schema", "attnviz.weights/1"},
      {"d_model", 4},
      {"mask", "none"},
      {"embeddings", {{"a", {1, 0, 0, 1}}, {"b", {0, 1, 0, 1}}, {"c", {0, 0, 1, 1}}}},
      {"layers",
       {{{"heads",
          {{{"W_Q", {zero, zero, zero, row(1)}},
            {"W_K", {row(2.1), row(8.7), row(3.2), zero}},
            {"W_V", {{1}, {1}, {1}, {1}}}}}}}}}};
  write_file(folder.file("w.json"), weights.dump());
  const json pattern = attnviz_json({"-m", folder.file("w.json"), "a b c"})["attention"][0][0];
  const double expected[] = {0.2568, 0.4602, 0.2830};
  for (std::size_t query = 0; query < 3; ++query) {
    for (std::size_t key = 0; key < 3; ++key) {
      CHECK(std::abs(pattern[query][key].get<double>() - expected[key]) < 5e-5);
    }
  }
}

}  // namespace attnviz::test
