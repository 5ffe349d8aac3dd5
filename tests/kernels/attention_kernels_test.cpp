#include "attnviz/kernels/attention_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "attnviz/kernels/matmul.h"
#include "attnviz/kernels/simd.h"
#include "support/naive.h"

namespace attnviz {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Shorter than, equal to and just past every vector width.
constexpr std::size_t kTokenCounts[] = {1, 2, 7, 17, 40, 129};
constexpr std::size_t kHeadSizes[] = {1, 3, 8, 15, 33, 64};

void for_each_target(const auto& check) {
  for (const std::string& target : kernels::simd_targets()) {
    const kernels::ScopedSimdTarget forced(target);
    CAPTURE(target);
    check();
  }
}

}  // namespace

TEST_CASE("attention_scores and softmax: every SIMD target agrees with the reference") {
  for_each_target([] {
    for (const std::size_t n : kTokenCounts) {
      for (const std::size_t d_head : kHeadSizes) {
        CAPTURE(n);
        CAPTURE(d_head);
        const std::vector<float> q = test::random_values(n * (d_head + 2), 1);
        const std::vector<float> k = test::random_values(n * (d_head + 1), 2);
        const ConstMatrix query{q.data(), n, d_head, d_head + 2};
        const ConstMatrix key{k.data(), n, d_head, d_head + 1};
        test::PoisonedMatrix key_transposed(d_head, n);
        kernels::transpose(key, key_transposed.view());
        const float scale = 1.0f / std::sqrt(static_cast<float>(d_head));
        test::PoisonedMatrix weights(n, n);

        kernels::attention_scores(query, key_transposed.view(), scale, weights.view());
        for (std::size_t i = 0; i < n; ++i) {
          REQUIRE(kernels::softmax(weights.view().row_data(i), n));
        }

        const auto expected =
            test::naive_pattern(query, key, static_cast<double>(scale), {MaskKind::kNone, 0});
        CHECK(test::largest_difference(weights.view(), expected) < 2e-6);
        CHECK(weights.padding_is_untouched());
      }
    }
  });
}

TEST_CASE("attention_scores: a range of keys is written alone and has the bits it always has") {
  constexpr std::size_t kQueries = 11;
  constexpr std::size_t kKeys = 70;
  constexpr std::size_t kHead = 9;
  const std::vector<float> q = test::random_values(kQueries * kHead, 3);
  const std::vector<float> k = test::random_values(kHead * kKeys, 4);
  const ConstMatrix query = test::matrix_over(q, kQueries, kHead);
  const ConstMatrix key_transposed = test::matrix_over(k, kHead, kKeys);
  for_each_target([&] {
    test::PoisonedMatrix all(kQueries, kKeys);
    kernels::attention_scores(query, key_transposed, 0.5f, all.view());
    for (const std::size_t first : {0u, 1u, 13u, 69u, 70u}) {
      for (const std::size_t count : {0u, 1u, 20u, 57u}) {
        const std::size_t end = std::min<std::size_t>(kKeys, first + count);
        test::PoisonedMatrix some(kQueries, kKeys);
        kernels::attention_scores(query, key_transposed.col_block(first, end - first), 0.5f,
                                  some.view().col_block(first, end - first));
        for (std::size_t i = 0; i < kQueries; ++i) {
          for (std::size_t j = 0; j < kKeys; ++j) {
            const bool in_range = first <= j && j < end;
            REQUIRE(some.view()(i, j) ==
                    (in_range ? all.view()(i, j) : test::PoisonedMatrix::kPoison));
          }
        }
        REQUIRE(some.padding_is_untouched());
      }
    }
  });
}

TEST_CASE("softmax: the published example over the square root of 128 comes out") {
  for_each_target([] {
    const float scale = 1.0f / std::sqrt(128.0f);
    float x[] = {2.1f * scale, 8.7f * scale, 3.2f * scale};
    REQUIRE(kernels::softmax(x, 3));
    CHECK(std::abs(x[0] - 0.2567944021) < 1e-7);
    CHECK(std::abs(x[1] - 0.4601897330) < 1e-7);
    CHECK(std::abs(x[2] - 0.2830158648) < 1e-7);
  });
}

TEST_CASE("softmax: huge scores neither overflow nor vanish") {
  for_each_target([] {
    std::vector<float> x(37, -1e4f);
    x[5] = 1e4f;
    REQUIRE(kernels::softmax(x.data(), x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      REQUIRE(x[i] == (i == 5 ? 1.0f : 0.0f));
    }
    std::vector<float> equal(32, std::numeric_limits<float>::max());
    REQUIRE(kernels::softmax(equal.data(), equal.size()));
    CHECK(std::all_of(equal.begin(), equal.end(), [](float w) { return w == 1.0f / 32.0f; }));
    std::vector<float> tiny(32, std::numeric_limits<float>::lowest());
    REQUIRE(kernels::softmax(tiny.data(), tiny.size()));
    CHECK(std::all_of(tiny.begin(), tiny.end(), [](float w) { return w == 1.0f / 32.0f; }));
  });
}

TEST_CASE("softmax: one score is all the weight, and no score is nothing") {
  for_each_target([] {
    float one[] = {-3.5f, test::PoisonedMatrix::kPoison};
    REQUIRE(kernels::softmax(one, 1));
    CHECK(one[0] == 1.0f);
    CHECK(one[1] == test::PoisonedMatrix::kPoison);
    CHECK(kernels::softmax(one, 0));
    CHECK(one[0] == 1.0f);
  });
}

TEST_CASE("softmax: minus infinity becomes exactly 0, a row of it becomes zeros") {
  for_each_target([] {
    for (const std::size_t n : kTokenCounts) {
      CAPTURE(n);
      std::vector<float> hidden(n, -kInfinity);
      REQUIRE(kernels::softmax(hidden.data(), n));
      REQUIRE(std::all_of(hidden.begin(), hidden.end(), [](float w) { return w == 0.0f; }));

      std::vector<float> every_third = test::random_values(n, 5);
      for (std::size_t i = 0; i < n; ++i) {
        every_third[i] = i % 3 == 0 ? every_third[i] : -kInfinity;
      }
      REQUIRE(kernels::softmax(every_third.data(), n));
      for (std::size_t i = 0; i < n; ++i) {
        REQUIRE((every_third[i] > 0.0f) == (i % 3 == 0));
      }
    }
  });
}

TEST_CASE("softmax: NaN and plus infinity are refused wherever they stand") {
  for_each_target([] {
    for (const std::size_t n : kTokenCounts) {
      for (std::size_t bad = 0; bad < n; ++bad) {
        for (const float value : {kNan, -kNan, kInfinity}) {
          std::vector<float> x = test::random_values(n, 6);
          x[bad] = value;
          const std::vector<float> before = x;
          REQUIRE(!kernels::softmax(x.data(), n));
          REQUIRE(test::same_bits(test::matrix_over(x, 1, n), test::matrix_over(before, 1, n)));
        }
      }
    }
  });
}

TEST_CASE("softmax: a hundred thousand keys still sum to 1") {
  for_each_target([] {
    std::vector<float> x = test::random_values(100'003, 7);
    REQUIRE(kernels::softmax(x.data(), x.size()));
    const double sum = std::accumulate(x.begin(), x.end(), 0.0);
    CHECK(std::abs(sum - 1.0) < 1e-6);
  });
}

TEST_CASE("all_finite: finds NaN and either infinity wherever they stand") {
  for_each_target([] {
    for (const std::size_t n : kTokenCounts) {
      std::vector<float> x(n, std::numeric_limits<float>::lowest());
      REQUIRE(kernels::all_finite(x));
      for (std::size_t bad = 0; bad < n; ++bad) {
        for (const float value : {kNan, kInfinity, -kInfinity}) {
          const float before = x[bad];
          x[bad] = value;
          REQUIRE(!kernels::all_finite(x));
          x[bad] = before;
        }
      }
    }
    CHECK(kernels::all_finite({}));
  });
}

}  // namespace attnviz
