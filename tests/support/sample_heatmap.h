// Heatmaps to draw in tests, with the data that they view.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/report/heatmap.h"

namespace attnviz::test {

/// kHard: emoji, CJK, control characters, marks, bidi controls, very long and empty labels,
/// and roles.
enum class Labels { kWords, kHard };

/// Causal panels of seeded values in [0, 1), titled L0H0, L0H1, …; not copyable, because the
/// heatmap views `values`.
struct SampleHeatmap {
  std::vector<std::vector<float>> values;  // [panel][query * n_keys + key]
  Heatmap heatmap;

  SampleHeatmap(std::size_t n_tokens, std::size_t n_panels, Labels labels = Labels::kWords)
      : SampleHeatmap(n_tokens, n_tokens, n_panels, labels) {}
  SampleHeatmap(std::size_t n_queries, std::size_t n_keys, std::size_t n_panels, Labels labels);
  SampleHeatmap(const SampleHeatmap&) = delete;
  SampleHeatmap& operator=(const SampleHeatmap&) = delete;
};

}  // namespace attnviz::test
