#include "attnviz/kernels/key_panels.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "kernels/simd_targets.h"
#include "support/naive.h"

namespace attnviz {

TEST_CASE("KeyPanels: column c of panel p is key 16 p + c, on every SIMD target") {
  test::for_each_target([&] {
    for (const std::size_t n : {1u, 15u, 16u, 17u, 40u, 64u}) {
      for (const std::size_t d_head : {1u, 3u, 4u, 7u, 16u, 33u}) {
        CAPTURE(n);
        CAPTURE(d_head);
        const std::vector<float> k = test::random_values(n * (d_head + 1), 2);
        const ConstMatrix key{k.data(), n, d_head, d_head + 1};
        kernels::KeyPanels panels(n, d_head);
        CHECK(panels.n_keys() == n);
        CHECK(panels.d_head() == d_head);
        // In two parts, the last one first.
        if (n > 16) {
          panels.pack(key.row_block(16, n - 16), 16);
        }
        panels.pack(key.row_block(0, n < 16 ? n : 16), 0);
        for (std::size_t position = 0; position < (n + 15) / 16 * 16; ++position) {
          for (std::size_t i = 0; i < d_head; ++i) {
            const float packed = panels.panel(position / 16)[i * 16 + position % 16];
            REQUIRE(packed == (position < n ? key(position, i) : 0.0f));
          }
        }
      }
    }
  });
}

}  // namespace attnviz
