// A deep model's attention to draw in tests, with the data that it views.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/report/attention_document.h"
#include "attnviz/report/figures.h"
#include "support/sample_heatmap.h"

namespace attnviz::test {

/// Causal heads that look at the first token, except for L1H1, whose query q puts 0.75 on token
/// q / 2. Not copyable, because the document views `values`.
struct SampleOverview {
  std::vector<std::vector<float>> values;  // [pattern][query * n_tokens + key]
  AttentionDocument document;

  SampleOverview(std::size_t n_layers, std::size_t n_heads, std::size_t n_tokens,
                 Labels labels = Labels::kWords);
  SampleOverview(const SampleOverview&) = delete;
  SampleOverview& operator=(const SampleOverview&) = delete;

  Overview overview() const;
};

}  // namespace attnviz::test
