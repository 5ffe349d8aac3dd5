#include "attnviz/analysis/drop_sink.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "support/naive.h"

namespace attnviz {

TEST_CASE("without_first_key: what is left of each row sums to 1 again") {
  const std::vector<float> weights = {1.0f, 0.0f, 0.0f, 0.5f, 0.5f, 0.0f, 0.5f, 0.125f, 0.375f};
  const MatrixBuffer rest = without_first_key(test::matrix_over(weights, 3, 3));
  REQUIRE(rest.rows() == 3);
  REQUIRE(rest.cols() == 2);
  const float expected[] = {0.0f, 0.0f, 1.0f, 0.0f, 0.25f, 0.75f};
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(rest.view()(i / 2, i % 2) == expected[i]);
  }
}

TEST_CASE("without_first_key: rows and columns need not be as many, nor rows adjacent") {
  const std::vector<float> weights = {0.9f, 0.1f, 7.0f, 0.2f, 0.4f, 7.0f};
  const MatrixBuffer rest = without_first_key(ConstMatrix{weights.data(), 2, 2, 3});
  REQUIRE(rest.cols() == 1);
  CHECK(rest.view()(0, 0) == 1.0f);
  CHECK(rest.view()(1, 0) == 1.0f);
}

}  // namespace attnviz
