// Attention weights in fewer bytes than floats take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "attnviz/core/tensor.h"

namespace attnviz {

/// As floats; or as codes c of 16 or 8 bits, of which the largest M stands for NaN. With t = c / (M
/// - 1) a code of 16 bits is low + t (high - low), within half a step: (high - low) / (M - 1). Of 8
/// bits it is low + t² (high - low), within a step, so that small weights keep more digits; where
/// some are negative as of 16.
enum class WeightCode { kFloat, k16, k8 };

/// Rows one after the other: all keys, or, of a triangle, those up to the query.
struct PackedPattern {
  std::variant<std::vector<float>, std::vector<std::uint16_t>, std::vector<std::uint8_t>> values;
  float low = 0.0f;
  float high = 1.0f;
  bool squares = false;
};

/// Whether no key behind its query has any weight.
bool is_triangle(ConstMatrix weights);

/// Packs `weights` [n_queries, n_keys]. Codes span 0 and the range of its finite values. Infinities
/// are NaN in codes. Precondition: of a triangle as many keys as queries.
PackedPattern packed_pattern(ConstMatrix weights, bool triangle, WeightCode code);

/// How many numbers such a pattern has.
std::size_t packed_size(std::size_t n_queries, std::size_t n_keys, bool triangle) noexcept;

}  // namespace attnviz
