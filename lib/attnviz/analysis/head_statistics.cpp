#include "attnviz/analysis/head_statistics.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "attnviz/kernels/pooling_kernels.h"

namespace attnviz {

namespace {

HeadSummary of_row(std::span<const float> weights, std::size_t first_key, std::size_t query) {
  HeadSummary row;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto weight = static_cast<double>(weights[i]);
    if (weight == 0.0) {
      continue;
    }
    const std::size_t key = first_key + i;
    const std::size_t distance = key < query ? query - key : key - query;
    row.entropy -= weight * std::log2(weight);
    row.distance += weight * static_cast<double>(distance);
    if (key == 0) {
      row.first = weight;
    }
    if (key == query) {
      row.self = weight;
    }
    if (key + 1 == query) {
      row.previous = weight;
    }
  }
  return row;
}

}  // namespace

HeadStatistics::HeadStatistics(const std::vector<HeadId>& heads, std::size_t n_tokens) {
  for (const HeadId head : heads) {
    rows_.try_emplace(head, n_tokens);
  }
}

void HeadStatistics::rows(HeadId head, std::size_t first_query, std::size_t first_key,
                          ConstMatrix weights) {
  std::vector<HeadSummary>& rows = rows_.at(head);
  for (std::size_t i = 0; i < weights.rows; ++i) {
    rows[first_query + i] = of_row(weights.row(i), first_key, first_query + i);
  }
}

HeadSummary HeadStatistics::summary(HeadId head) const {
  const std::vector<HeadSummary>& rows = rows_.at(head);
  HeadSummary sum;
  for (const HeadSummary& row : rows) {
    sum.entropy += row.entropy;
    sum.first += row.first;
    sum.previous += row.previous;
    sum.self += row.self;
    sum.distance += row.distance;
  }
  const double n = rows.empty() ? 1.0 : static_cast<double>(rows.size());
  return {sum.entropy / n, sum.first / n, sum.previous / n, sum.self / n, sum.distance / n};
}

void LargestWeight::rows(HeadId /*head*/, std::size_t /*first_query*/, std::size_t /*first_key*/,
                         ConstMatrix weights) {
  float largest = 0.0f;
  kernels::pool_largest(weights, 0, weights.cols, std::span(&largest, 1));
  const std::scoped_lock lock(mutex_);
  largest_ = std::max(largest_, largest);
}

}  // namespace attnviz
