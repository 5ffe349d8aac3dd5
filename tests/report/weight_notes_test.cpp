#include "attnviz/report/model_info.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/report/json/attention_reader.h"
#include "support/naive.h"

namespace attnviz {
namespace {

// One head of n tokens.
std::string note_of(const std::vector<float>& weights, std::size_t n,
                    const ColorScale& scale = {}) {
  Heatmap heatmap;
  heatmap.query_labels.assign(n, "q");
  heatmap.key_labels.assign(n, "k");
  heatmap.scale = scale;
  heatmap.panels = {{"L0H0", test::matrix_over(weights, n, n)}};
  return flat_note(heatmap);
}

AttentionDocument read_document(std::string_view bytes) {
  return read_attention(bytes, "a.json", {}).front().document;
}

}  // namespace

TEST_CASE("flat_note: 99 of 100 weights below a tenth of a linear range, in long texts only") {
  constexpr std::size_t kTokens = 40;
  const std::string note = "nearly all weights are below 0.1: the scales log and row-max show them";
  // 1600 cells: 800 masked; 8 of the other 800 are one in a hundred.
  std::vector<float> weights(kTokens * kTokens, 0.0f);
  for (std::size_t i = 0; i < weights.size(); i += 2) {
    weights[i] = 0.01f;
  }
  CHECK(note_of(weights, kTokens) == note);
  for (std::size_t i = 0; i < 8; ++i) {
    weights[i * 100] = 0.5f;
  }
  CHECK(note_of(weights, kTokens) == note);
  weights[900] = 0.5f;
  CHECK(note_of(weights, kTokens).empty());

  const std::vector<float> even(33 * 33, 0.02f);
  CHECK(note_of(even, 33) == note);
  CHECK(note_of(even, 32).empty());
  CHECK(note_of(even, 33, {Colormap(), ScaleKind::kLog, 0.001f, 1.0f}).empty());
  CHECK(note_of(even, 33, {Colormap(), ScaleKind::kLinear, 0.0f, 0.1f}).empty());
  CHECK(note_of(even, 33, {Colormap(), ScaleKind::kLinear, 0.0f, 0.5f}) ==
        "nearly all weights are below 0.05: the scales log and row-max show them");
  CHECK(note_of(std::vector<float>(33 * 33, 0.0f), 33).empty());
}

TEST_CASE("row_sum_note: reports the first row that does not sum to 1, and how many there are") {
  CHECK(row_sum_note(read_document("[[1, 0], [0.5, 0.5], [0, 0], [0.3334, 0.6665]]")).empty());
  CHECK(row_sum_note(read_document("[[[1, 0], [0.5, 0.25]], [[2, 0], [0, 1]]]")) ==
        "2 of 4 rows do not sum to 1: head 0.0, query 1 sums to 0.75");
  CHECK(row_sum_note(read_document(R"({"dropout": 0.5, "attention": [[[[2]]]]})")).empty());
}

TEST_CASE("row_sum_note: masked values do not count, NaN does") {
  AttentionDocument document = read_document("[[1, 9], [0.5, 0.5]]");
  document.run.mask = Mask{};
  CHECK(row_sum_note(document).empty());
  const std::vector<float> weights = {std::numeric_limits<float>::quiet_NaN(), 0.0f, 0.5f, 0.5f};
  document.patterns.front().weights = test::matrix_over(weights, 2, 2);
  CHECK(row_sum_note(document) ==
        "1 of 2 rows do not sum to 1: head 0.0, query 0 has a number that is not finite");
}

}  // namespace attnviz
