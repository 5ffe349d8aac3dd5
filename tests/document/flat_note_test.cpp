#include "attnviz/document/flat_note.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

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

}  // namespace

TEST_CASE("flat_note: 99 of 100 weights below a tenth of a linear range, in long texts only") {
  constexpr std::size_t kTokens = 40;
  const std::string note = "nearly all weights are below 0.1: the scale log or row-max shows them";
  // 1600 cells: 800 masked, 8 of the other 800 are one of a hundred.
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
        "nearly all weights are below 0.05: the scale log or row-max shows them");
  CHECK(note_of(std::vector<float>(33 * 33, 0.0f), 33).empty());
}

}  // namespace attnviz
