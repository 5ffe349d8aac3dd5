#include "attnviz/document/row_sums.h"

#include <fmt/core.h>

#include <cmath>
#include <cstddef>

#include "attnviz/attention/head_selection.h"

namespace attnviz {

std::string row_sum_note(const AttentionDocument& document) {
  constexpr double kTolerance = 1e-3;
  if (document.run.dropout > 0.0f) {
    return {};
  }
  std::size_t n_rows = 0;
  std::size_t n_off = 0;
  std::string first;
  for (const DocumentPattern& pattern : document.patterns) {
    for (std::size_t query = 0; query < pattern.weights.rows; ++query) {
      double sum = 0.0;
      bool blank = true;
      for (std::size_t key = 0; key < pattern.weights.cols; ++key) {
        const float weight = document.sees(query, key) ? pattern.weights(query, key) : 0.0f;
        sum += static_cast<double>(weight);
        blank = blank && weight == 0.0f;
      }
      ++n_rows;
      if (blank || std::abs(sum - 1.0) <= kTolerance) {
        continue;
      }
      if (n_off++ == 0) {
        first = fmt::format("head {}, query {} {}", head_name(pattern.head), query,
                            std::isfinite(sum) ? fmt::format("sums to {:.3g}", sum)
                                               : std::string("has what is no finite number"));
      }
    }
  }
  return n_off == 0 ? std::string()
                    : fmt::format("{} of {} rows do not sum to 1: {}", n_off, n_rows, first);
}

}  // namespace attnviz
