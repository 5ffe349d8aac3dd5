#include "attnviz/analysis/lessons/scaling.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attnviz/analysis/lessons/normal_numbers.h"

namespace attnviz {

Sharpness sharpness(std::span<const float> scores, double factor) {
  const double largest = static_cast<double>(*std::ranges::max_element(scores));
  double sum = 0.0;
  double weighted = 0.0;  // the sum of exp(x) · x
  for (const float score : scores) {
    const double x = factor * (static_cast<double>(score) - largest);
    sum += std::exp(x);
    weighted += std::exp(x) * x;
  }
  return {1.0 / sum, std::max(0.0, (std::log(sum) - weighted / sum) / std::log(2.0))};
}

std::vector<ScalingPoint> measure_scaling(std::span<const std::size_t> sizes, std::uint64_t seed,
                                          const ScalingSamples& samples) {
  std::vector<ScalingPoint> points;
  for (const std::size_t d : sizes) {
    const double root = std::sqrt(static_cast<double>(d));
    std::vector<float> query(d), keys(samples.n_keys * d), scores(samples.n_keys);
    ScalingPoint point{d, 0.0, 0.0, {}, {}};
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t q = 0; q < samples.n_queries; ++q) {
      fill_normal(RandomBits({seed, d, q, 0}), query);
      fill_normal(RandomBits({seed, d, q, 1}), keys);
      for (std::size_t k = 0; k < samples.n_keys; ++k) {
        double product = 0.0;
        for (std::size_t i = 0; i < d; ++i) {
          product += static_cast<double>(query[i]) * static_cast<double>(keys[k * d + i]);
        }
        scores[k] = static_cast<float>(product);
        sum += product;
        squares += product * product;
      }
      for (const auto& [into, factor] :
           {std::pair(&point.plain, 1.0), std::pair(&point.scaled, 1.0 / root)}) {
        const Sharpness of_row = sharpness(scores, factor);
        into->largest += of_row.largest / static_cast<double>(samples.n_queries);
        into->entropy_bits += of_row.entropy_bits / static_cast<double>(samples.n_queries);
      }
    }
    const auto n = static_cast<double>(samples.n_queries * samples.n_keys);
    point.variance = squares / n - (sum / n) * (sum / n);
    point.variance_scaled = point.variance / static_cast<double>(d);
    points.push_back(point);
  }
  return points;
}

}  // namespace attnviz
