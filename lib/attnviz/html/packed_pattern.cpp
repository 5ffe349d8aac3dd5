#include "attnviz/html/packed_pattern.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnviz {

namespace {

// work(row) of what is kept of each row.
void for_each_row(ConstMatrix weights, bool triangle, const auto& work) {
  for (std::size_t query = 0; query < weights.rows; ++query) {
    work(triangle ? weights.row(query).first(query + 1) : weights.row(query));
  }
}

template <class Code>
std::vector<Code> codes(ConstMatrix weights, bool triangle, const PackedPattern& pattern) {
  constexpr double kNan = std::numeric_limits<Code>::max();
  constexpr double kMost = kNan - 1.0;
  const double low = static_cast<double>(pattern.low);
  const double span = static_cast<double>(pattern.high) - low;
  std::vector<Code> all;
  all.reserve(packed_size(weights.rows, weights.cols, triangle));
  for_each_row(weights, triangle, [&](std::span<const float> row) {
    for (const float weight : row) {
      double share = std::clamp((static_cast<double>(weight) - low) / span, 0.0, 1.0);
      share = pattern.squares ? std::sqrt(share) : share;
      all.push_back(static_cast<Code>(std::isfinite(weight) ? std::round(share * kMost) : kNan));
    }
  });
  return all;
}

}  // namespace

std::size_t packed_size(std::size_t n_queries, std::size_t n_keys, bool triangle) noexcept {
  return triangle ? n_queries * (n_queries + 1) / 2 : n_queries * n_keys;
}

bool is_triangle(ConstMatrix weights) {
  for (std::size_t query = 0; query < weights.rows; ++query) {
    const auto later = weights.row(query).subspan(std::min(query + 1, weights.cols));
    if (std::ranges::any_of(later, [](float weight) { return weight != 0.0f; })) {
      return false;
    }
  }
  return true;
}

PackedPattern packed_pattern(ConstMatrix weights, bool triangle, WeightCode code) {
  PackedPattern pattern;
  if (code == WeightCode::kFloat) {
    std::vector<float> all;
    all.reserve(packed_size(weights.rows, weights.cols, triangle));
    for_each_row(weights, triangle, [&](std::span<const float> row) {
      all.insert(all.end(), row.begin(), row.end());
    });
    pattern.values = std::move(all);
    return pattern;
  }
  float low = std::numeric_limits<float>::infinity();
  float high = -low;
  for_each_row(weights, triangle, [&](std::span<const float> row) {
    for (const float weight : row) {
      if (std::isfinite(weight)) {
        low = std::min(low, weight);
        high = std::max(high, weight);
      }
    }
  });
  if (low <= high) {
    pattern.low = std::min(low, 0.0f);  // what is not seen is 0
    pattern.high = pattern.low < high ? high : pattern.low < 0.0f ? 0.0f : 1.0f;
  }
  pattern.squares = code == WeightCode::k8 && pattern.low >= 0.0f;
  if (code == WeightCode::k16) {
    pattern.values = codes<std::uint16_t>(weights, triangle, pattern);
  } else {
    pattern.values = codes<std::uint8_t>(weights, triangle, pattern);
  }
  return pattern;
}

}  // namespace attnviz
