// Why scores are divided by √d_head: how far q · k spreads, and how sharp softmax then gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attnviz {

/// How sharp a row of weights is.
struct Sharpness {
  double largest = 0.0;  // weight
  double entropy_bits = 0.0;
};

/// Of softmax(factor · scores), at least one.
Sharpness sharpness(std::span<const float> scores, double factor);

/// What is measured of random queries and keys of `d` numbers, each normal with variance 1.
struct ScalingPoint {
  std::size_t d = 0;
  double variance = 0.0;         // of q · k
  double variance_scaled = 0.0;  // of q · k / √d
  Sharpness plain;               // means over the queries, of softmax over their keys
  Sharpness scaled;
};

struct ScalingSamples {
  std::size_t n_queries = 512;
  std::size_t n_keys = 32;  // that each query has for itself
};

/// A point for each of `sizes`, each at least 1, with n_queries · n_keys products.
///
/// Source  Vaswani et al. 2017, section 3.2.1, footnote 4: the products have mean 0 and variance d.
std::vector<ScalingPoint> measure_scaling(std::span<const std::size_t> sizes, std::uint64_t seed,
                                          const ScalingSamples& samples = {});

}  // namespace attnviz
