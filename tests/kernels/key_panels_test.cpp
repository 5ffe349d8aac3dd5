#include "attnviz/kernels/products.h"

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

TEST_CASE("KeyPanels: later keys are appended to those already there") {
  constexpr std::size_t kKeys = 40;
  constexpr std::size_t kWidth = 5;
  const std::vector<float> k = test::random_values(kKeys * kWidth, 3);
  const ConstMatrix key{k.data(), kKeys, kWidth, kWidth};
  kernels::KeyPanels whole(kKeys, kWidth);
  whole.pack(key, 0);
  for (const std::size_t first : {1u, 15u, 16u, 17u, 31u, 39u}) {
    CAPTURE(first);
    kernels::KeyPanels grown(kKeys, kWidth);
    grown.pack(key.row_block(0, first), 0);
    grown.pack(key.row_block(first, 1), first);
    grown.pack(key.row_block(first + 1, kKeys - first - 1), first + 1);
    for (std::size_t i = 0; i < (kKeys + 15) / 16 * 16 * kWidth; ++i) {
      REQUIRE(grown.panel(0)[i] == whole.panel(0)[i]);
    }
  }
}

}  // namespace attnviz
