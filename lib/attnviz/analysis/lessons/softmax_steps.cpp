#include "attnviz/analysis/lessons/softmax_steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "attnviz/core/error.h"

namespace attnviz {

namespace {

void require_positive(const char* what, double number) {
  if (!(number > 0.0) || !std::isfinite(number)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: expected a number above 0, found {}", what, number));
  }
}

void require_scores(std::span<const double> scores) {
  if (scores.empty()) {
    throw Error(ErrorKind::kUsage, "softmax: expected at least one score");
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i]) || scores[i] == std::numeric_limits<double>::infinity()) {
      throw Error(
          ErrorKind::kUsage,
          fmt::format("softmax: score {} is {}: expected a number, or -inf, which is masked", i + 1,
                      scores[i]));
    }
  }
}

NaiveSoftmax naive_softmax(std::span<const double> divided) {
  NaiveSoftmax naive;
  for (const double s : divided) {
    constexpr double kMost = std::numeric_limits<float>::max();
    naive.exponentials.push_back(
        std::isinf(s) ? 0.0f : std::exp(static_cast<float>(std::clamp(s, -kMost, kMost))));
    naive.sum += naive.exponentials.back();
  }
  for (const float exponential : naive.exponentials) {
    naive.weights.push_back(exponential / naive.sum);
  }
  return naive;
}

}  // namespace

std::size_t SoftmaxSteps::n_visible() const noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    count += is_masked(i) ? 0U : 1U;
  }
  return count;
}

SoftmaxSteps softmax_steps(std::span<const double> scores, double divide_by, double temperature) {
  require_scores(scores);
  require_positive("divide by", divide_by);
  require_positive("temperature", temperature);
  SoftmaxSteps steps;
  steps.divide_by = divide_by;
  steps.temperature = temperature;
  steps.scores.assign(scores.begin(), scores.end());
  for (const double score : scores) {
    const double quotient = score / divide_by / temperature;
    if (std::isfinite(score) && !std::isfinite(quotient)) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("softmax: {} divided by {} and {} is too large for a number", score,
                              divide_by, temperature));
    }
    steps.divided.push_back(quotient);
  }
  const double largest = *std::ranges::max_element(steps.divided);
  const bool all_masked = std::isinf(largest);
  steps.largest = all_masked ? 0.0 : largest;
  for (const double s : steps.divided) {
    steps.exponentials.push_back(std::exp(s - steps.largest));
  }
  steps.sum = std::accumulate(steps.exponentials.begin(), steps.exponentials.end(), 0.0);
  for (const double exponential : steps.exponentials) {
    const double weight = all_masked ? 0.0 : exponential / steps.sum;
    steps.weights.push_back(weight);
    steps.entropy_bits -= weight > 0.0 ? weight * std::log2(weight) : 0.0;
  }
  steps.entropy_bits = std::max(steps.entropy_bits, 0.0);  // of one score: -0
  NaiveSoftmax naive = naive_softmax(steps.divided);
  if (!all_masked && (!std::isfinite(naive.sum) || naive.sum == 0.0f)) {
    steps.naive = std::move(naive);
  }
  return steps;
}

}  // namespace attnviz
