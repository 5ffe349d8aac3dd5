#include "attnviz/kernels/row_kernels.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "kernels/simd_targets.h"
#include "support/naive.h"

namespace attnviz {

TEST_CASE("copy: all values are copied, and nothing around them is touched") {
  test::for_each_target([&] {
    for (const std::size_t cols : {1u, 3u, 15u, 16u, 17u, 50u, 131u}) {
      for (const bool stream : {false, true}) {
        CAPTURE(cols);
        const std::vector<float> from = test::random_values(5 * (cols + 2), 3);
        const ConstMatrix source{from.data(), 5, cols, cols + 2};
        test::PoisonedMatrix to(5, cols);
        kernels::copy(source, to.view(), stream);
        CHECK(test::same_bits(source, to.view()));
        CHECK(to.padding_is_untouched());
      }
    }
  });
}

}  // namespace attnviz
