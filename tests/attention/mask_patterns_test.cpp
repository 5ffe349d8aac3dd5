// The engine with each mask, against loops that call Mask::visible for every pair.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "attnviz/attention/row_weights.h"
#include "attnviz/kernels/simd.h"
#include "support/model_builder.h"
#include "support/naive.h"
#include "support/naive_model.h"

namespace attnviz {
namespace {

constexpr const char* kMasks[] = {
    "causal",   "none",       "window:1",  "window:5",  "window:1000", "block:1",     "block:7",
    "block:48", "block:1000", "strided:1", "strided:4", "strided:50",  "strided:1000"};

bool hidden_weights_are_zero(ConstMatrix pattern, const Mask& mask) {
  for (std::size_t query = 0; query < pattern.rows; ++query) {
    for (std::size_t key = 0; key < pattern.cols; ++key) {
      if (!mask.visible(query, key) && pattern(query, key) != 0.0f) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

TEST_CASE("masks: every SIMD target agrees with the reference, and hidden weights are exactly 0") {
  for (const std::size_t n : {1u, 2u, 7u, 40u, 112u, 129u}) {
    test::ModelBuilder builder(n, 6);
    builder.add_layer({{5, 3}, {8, 8}});
    for (const char* name : kMasks) {
      AttentionRequest request;
      request.mask = parse_mask(name);
      const test::NaiveResult expected = test::naive_run(builder.model, request);
      for (const std::string& target : kernels::simd_targets()) {
        const kernels::ScopedSimdTarget forced(target);
        CAPTURE(n);
        CAPTURE(request.mask->name());
        CAPTURE(target);
        const test::Result actual = test::run(builder.model, request);
        for (std::size_t head = 0; head < 2; ++head) {
          const ConstMatrix pattern = actual.pattern(0, head);
          CHECK(test::largest_difference(pattern, expected.patterns[0][head]) < 2e-6);
          CHECK(hidden_weights_are_zero(pattern, *request.mask));
        }
        CHECK(test::largest_difference(actual.out(), expected.output) < 2e-6);
      }
    }
  }
}

TEST_CASE(
    "visible_range: exactly the keys that a block of queries sees, more only to bridge gaps") {
  for (const char* name : kMasks) {
    const Mask mask = parse_mask(name);
    for (std::size_t first = 0; first < 20; ++first) {
      for (std::size_t end = first + 1; end <= 20; ++end) {
        std::size_t first_seen = 20;
        std::size_t end_seen = 0;
        for (std::size_t query = first; query < end; ++query) {
          for (std::size_t key = 0; key < 20; ++key) {
            if (mask.visible(query, key)) {
              first_seen = std::min(first_seen, key);
              end_seen = std::max(end_seen, key + 1);
            }
          }
        }
        const KeyRange range = visible_range(mask, first, end, 20);
        CAPTURE(mask.name());
        REQUIRE(range.end == end_seen);
        REQUIRE(range.first <= first_seen);
        REQUIRE((range.first == first_seen || mask.has_gaps()));
      }
    }
  }
}

}  // namespace attnviz
