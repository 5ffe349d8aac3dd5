#include "attnviz/kernels/row_kernels.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/simd_targets.h"

namespace attnviz {

TEST_CASE("fill_uniform: every number has the bits of its word, regardless of its neighbours") {
  const RandomBits random{7, 1, 2, 3};
  test::for_each_target([&] {
    for (std::size_t size = 0; size <= 130; ++size) {
      CAPTURE(size);
      std::vector<float> values(size + 1, 5.0f);
      kernels::fill_uniform(random, 0.3f, {values.data(), size});
      for (std::size_t i = 0; i < size; ++i) {
        // Division by a power of two is exact, so there is only one rounding.
        const double odd = 2.0 * static_cast<double>(random[i] >> 40) + 1.0 - 16777216.0;
        const auto share = static_cast<float>(odd / 16777216.0);
        CHECK(values[i] == share * 0.3f);
      }
      CHECK(values[size] == 5.0f);
    }
  });
}

}  // namespace attnviz
