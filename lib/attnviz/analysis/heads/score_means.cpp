#include "attnviz/analysis/heads/score_means.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "attnviz/core/error.h"

namespace attnviz {

void ScoreMeans::add(std::span<const ScoreValues> heads) {
  for (std::size_t head = 0; head < heads.size(); ++head) {
    for (const auto& [key, score] : kScoreNames) {
      if (const std::optional<double>& value = heads[head][score]) {
        // A square has to have room in the sum, too.
        constexpr double kLargest = 268435456.0;
        if (!(std::abs(*value) < kLargest)) {
          throw Error(
              ErrorKind::kMalformed,
              fmt::format("score {}: expected a number below 2^28, found {:.4g}", key, *value));
        }
        Sums& sums = sums_[head * kScoreNames.size() + static_cast<std::size_t>(score)];
        sums.value.add(*value);
        sums.square.add(*value * *value);
        ++sums.n;
      }
    }
  }
  ++n_texts_;
}

void ScoreMeans::add(const ScoreMeans& other) {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    sums_[i].value.add(other.sums_[i].value);
    sums_[i].square.add(other.sums_[i].square);
    sums_[i].n += other.sums_[i].n;
  }
  n_texts_ += other.n_texts_;
}

std::optional<Estimate> ScoreMeans::estimate(std::size_t head, Score score) const {
  const Sums& of = sums(head, score);
  if (of.n == 0) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(of.n);
  Estimate estimate{of.value.value() / n, std::nullopt, of.n};
  if (of.n > 1) {
    const double deviations = of.square.value() - n * estimate.mean * estimate.mean;
    estimate.sem = std::sqrt(std::max(deviations, 0.0) / (n - 1.0) / n);
  }
  return estimate;
}

ScoreValues ScoreMeans::means(std::size_t head) const {
  ScoreValues values;
  for (const auto& [key, score] : kScoreNames) {
    if (const auto found = estimate(head, score)) {
      values[score] = found->mean;
    }
  }
  return values;
}

}  // namespace attnviz
