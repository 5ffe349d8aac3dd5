#include "attnviz/kernels/row_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/kernels/products.h"
#include "kernels/simd_targets.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using kernels::KeyRange;
using test::for_each_target;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Shorter than, equal to and just past every vector width.
constexpr std::size_t kTokenCounts[] = {1, 2, 7, 17, 40, 129};

}  // namespace

TEST_CASE("scale: multiplies every number, and none past the end") {
  for_each_target([] {
    for (const std::size_t n : kTokenCounts) {
      std::vector<float> x = test::random_values(n + 1, 8);
      const std::vector<float> before = x;
      kernels::scale({x.data(), n}, 0.3f);
      for (std::size_t i = 0; i < n; ++i) {
        REQUIRE(x[i] == before[i] * 0.3f);
      }
      CHECK(x[n] == before[n]);
    }
  });
}

TEST_CASE("softmax_rows: the first row with a score that is not finite is reported") {
  for_each_target([] {
    for (const float bad : {kNan, kInfinity, -kInfinity}) {
      for (const std::size_t where : {0u, 1u, 17u, 29u}) {
        MatrixBuffer rows(4, 32);
        rows.view()(2, where) = bad;
        const std::vector<KeyRange> ranges(4, KeyRange{0, 30});
        CHECK(kernels::softmax_rows(rows.view(), ranges, 0, 1.0f) == 2);
      }
      MatrixBuffer beyond(1, 32);
      beyond.view()(0, 30) = bad;
      const KeyRange range{0, 30};
      CHECK(kernels::softmax_rows(beyond.view(), {&range, 1}, 0, 1.0f) == 1);
      CHECK(beyond.view()(0, 30) == 0.0f);
    }
    // In a group after others.
    for (std::size_t row = 0; row < 40; ++row) {
      MatrixBuffer rows(40, 32);
      rows.view()(row, 7) = kNan;
      const std::vector<KeyRange> ranges(40, KeyRange{0, 30});
      CHECK(kernels::softmax_rows(rows.view(), ranges, 0, 1.0f) == row);
    }
    // Regardless of errors in later rows, which a group processes at once.
    for (const float bad : {kInfinity, -kInfinity, kNan}) {
      for (std::size_t row = 1; row < 8; ++row) {
        for (const std::size_t where : {0u, 16u, 40u}) {
          MatrixBuffer rows(8, 48);
          rows.view()(0, 0) = bad;
          rows.view()(row, where) = kNan;
          const std::vector<KeyRange> ranges(8, KeyRange{0, 48});
          CHECK(kernels::softmax_rows(rows.view(), ranges, 0, 1.0f) == 0);
        }
      }
    }
    MatrixBuffer large(1, 16);
    const KeyRange range{0, 16};
    for (const float score : {1e30f, -1e30f}) {
      large.view()(0, 3) = score;
      CHECK(kernels::softmax_rows(large.view(), {&range, 1}, 0, 1e10f) == 0);
    }
  });
}

TEST_CASE(
    "softmax_rows: every row agrees with double precision, and is bit-identical to the row alone") {
  // Rows of every length up to a little more than is processed at once, beginning anywhere; one
  // sees nothing.
  constexpr std::size_t kColumns = 160;
  for_each_target([] {
    for (const std::size_t longest : {3u, 20u, 64u, 130u}) {
      CAPTURE(longest);
      std::vector<KeyRange> ranges;
      for (std::size_t size = 0; size <= longest; ++size) {
        const std::size_t first = size % 5 == 4 ? 3 : 0;
        ranges.push_back({16 + first, 16 + first + size});
      }
      const std::vector<float> scores = test::random_values(ranges.size() * kColumns, 9);
      test::PoisonedMatrix rows(ranges.size(), kColumns);
      for (std::size_t i = 0; i < scores.size(); ++i) {
        rows.view()(i / kColumns, i % kColumns) = 9.0f * scores[i];
      }
      test::PoisonedMatrix before = rows;
      REQUIRE(kernels::softmax_rows(rows.view(), ranges, 16, 0.7f) == ranges.size());
      CHECK(rows.padding_is_untouched());
      for (std::size_t row = 0; row < ranges.size(); ++row) {
        const std::size_t begin = ranges[row].first - 16;
        const std::size_t end = ranges[row].end - 16;
        std::vector<double> expected(kColumns, 0.0);
        double sum = 0.0;
        for (std::size_t i = begin; i < end; ++i) {
          const double score = static_cast<double>(before.view()(row, i));
          expected[i] = std::exp(static_cast<double>(0.7f) * score);
          sum += expected[i];
        }
        for (std::size_t i = 0; i < kColumns; ++i) {
          // The rounding error of an exponent of 18 is 1e-6.
          const double weight = sum > 0.0 ? expected[i] / sum : 0.0;
          REQUIRE(std::abs(static_cast<double>(rows.view()(row, i)) - weight) <
                  3e-6 * weight + 1e-30);
        }
        // Alone with padding, and without.
        const Matrix alone = before.view().row_block(row, 1);
        std::vector<float> exact(alone.data + begin, alone.data + end);
        REQUIRE(kernels::softmax_rows(alone, std::span(ranges).subspan(row, 1), 16, 0.7f) == 1);
        CHECK(test::same_bits(alone, rows.view().row_block(row, 1)));
        if (end > begin) {
          REQUIRE(kernels::softmax(exact.data(), exact.size(), 0.7f));
          CHECK(test::same_bits(test::matrix_over(exact, 1, exact.size()),
                                rows.view().row_block(row, 1).col_block(begin, end - begin)));
        }
      }
    }
  });
}

TEST_CASE(
    "softmax_rows: a copy to zeroed memory is bit-identical to the rows, and these to single "
    "rows") {
  // Rows that are processed in groups of eight, four, two and one.
  constexpr std::size_t kMost = 2112;
  for_each_target([] {
    for (const std::size_t longest : {1u, 16u, 50u, 130u, 400u, 1000u, 2100u}) {
      CAPTURE(longest);
      // Ever longer ranges, one of them empty, and leftover rows.
      constexpr std::size_t kRows = 31;
      std::vector<KeyRange> ranges;
      for (std::size_t row = 0; row < kRows; ++row) {
        ranges.push_back({32, row == 6 ? 32 : 32 + longest - longest * (kRows - 1 - row) / kRows});
      }
      const std::size_t cols = kernels::KeyPanels::rounded_up(longest);
      const std::vector<float> scores = test::random_values(kRows * kMost, 3);
      MatrixBuffer rows(kRows, kMost);
      MatrixBuffer copy(kRows, kMost);
      for (std::size_t i = 0; i < scores.size(); ++i) {
        rows.view().data[i] = scores[i];
        copy.view().data[i] = i % kMost < cols ? 0.0f : -1.0f;
      }
      const Matrix of_rows = rows.view().col_block(0, cols);
      const Matrix of_copy = copy.view().col_block(0, cols);
      REQUIRE(kernels::softmax_rows(of_rows, ranges, 32, 0.5f, of_copy) == kRows);
      CHECK(test::same_bits(of_copy, of_rows));
      for (std::size_t row = 0; row < kRows; ++row) {
        std::vector<float> alone(scores.begin() + static_cast<std::ptrdiff_t>(row * kMost),
                                 scores.begin() + static_cast<std::ptrdiff_t>(row * kMost + cols));
        std::fill(alone.begin() + static_cast<std::ptrdiff_t>(ranges[row].size()), alone.end(),
                  -std::numeric_limits<float>::infinity());
        REQUIRE(kernels::softmax(alone.data(), alone.size(), 0.5f));
        CHECK(test::same_bits(test::matrix_over(alone, 1, cols), of_rows.row_block(row, 1)));
        CHECK((cols == kMost || copy.view()(row, cols) == -1.0f));
      }
    }
  });
}

TEST_CASE("softmax_rows: rows that begin ever later, evenly or not, equal each row alone") {
  // Windows that slide by some keys per row, at first including the text's beginning, and rows that
  // begin earlier than the one before.
  for_each_target([] {
    constexpr std::size_t kRows = 40;
    constexpr std::size_t kColumns = 192;
    for (const std::size_t step : {0u, 1u, 3u}) {
      for (const bool is_back : {false, true}) {
        CAPTURE(step);
        CAPTURE(is_back);
        std::vector<KeyRange> ranges;
        for (std::size_t row = 0; row < kRows; ++row) {
          const std::size_t rank = is_back ? kRows - 1 - row : row;
          const std::size_t end = 30 + step * rank;
          ranges.push_back({16 + end - std::min<std::size_t>(end, 50), 16 + end});
        }
        ranges[25] = {21, 40};
        const std::vector<float> scores = test::random_values(kRows * kColumns, 21);
        MatrixBuffer rows(kRows, kColumns);
        MatrixBuffer before(kRows, kColumns);
        std::ranges::copy(scores, rows.view().data);
        std::ranges::copy(scores, before.view().data);
        REQUIRE(kernels::softmax_rows(rows.view(), ranges, 16, 3.0f) == kRows);
        for (std::size_t row = 0; row < kRows; ++row) {
          const Matrix alone = before.view().row_block(row, 1);
          REQUIRE(kernels::softmax_rows(alone, std::span(ranges).subspan(row, 1), 16, 3.0f) == 1);
          REQUIRE(test::same_bits(alone, rows.view().row_block(row, 1)));
          for (std::size_t col = 0; col < kColumns; ++col) {
            const bool is_seen = 16 + col >= ranges[row].first && 16 + col < ranges[row].end;
            REQUIRE((rows.view()(row, col) > 0.0f) == is_seen);
          }
        }
      }
    }
  });
}

TEST_CASE("softmax: the published example, divided by √128, is reproduced") {
  for_each_target([] {
    const float scale = 1.0f / std::sqrt(128.0f);
    float x[] = {2.1f * scale, 8.7f * scale, 3.2f * scale};
    REQUIRE(kernels::softmax(x, 3, 1.0f));
    CHECK(std::abs(x[0] - 0.2567944021) < 1e-7);
    CHECK(std::abs(x[1] - 0.4601897330) < 1e-7);
    CHECK(std::abs(x[2] - 0.2830158648) < 1e-7);
  });
}

TEST_CASE("softmax: huge scores neither overflow nor vanish") {
  for_each_target([] {
    std::vector<float> x(37, -1e4f);
    x[5] = 1e4f;
    REQUIRE(kernels::softmax(x.data(), x.size(), 1.0f));
    for (std::size_t i = 0; i < x.size(); ++i) {
      REQUIRE(x[i] == (i == 5 ? 1.0f : 0.0f));
    }
    std::vector<float> equal(32, std::numeric_limits<float>::max());
    REQUIRE(kernels::softmax(equal.data(), equal.size(), 1.0f));
    CHECK(std::all_of(equal.begin(), equal.end(), [](float w) { return w == 1.0f / 32.0f; }));
    std::vector<float> tiny(32, std::numeric_limits<float>::lowest());
    REQUIRE(kernels::softmax(tiny.data(), tiny.size(), 1.0f));
    CHECK(std::all_of(tiny.begin(), tiny.end(), [](float w) { return w == 1.0f / 32.0f; }));
  });
}

TEST_CASE("softmax: weights down to the least normal float are kept, smaller ones are 0") {
  // Scores spread evenly over 100; the double-precision loop gives the expected weights.
  for_each_target([] {
    for (const std::size_t n : {200u, 1001u}) {
      std::vector<float> scores(n);
      for (std::size_t i = 0; i < n; ++i) {
        scores[i] = 100.0f * static_cast<float>(i * 7 % n) / static_cast<float>(n) - 30.0f;
      }
      const float largest = *std::max_element(scores.begin(), scores.end());
      double sum = 0.0;
      for (const float score : scores) {
        sum += std::exp(static_cast<double>(score - largest));
      }
      std::vector<float> weights = scores;
      REQUIRE(kernels::softmax(weights.data(), n, 1.0f));
      const auto least = static_cast<double>(std::numeric_limits<float>::min());
      std::size_t n_small = 0;
      for (std::size_t i = 0; i < n; ++i) {
        CAPTURE(scores[i]);
        const double expected = std::exp(static_cast<double>(scores[i] - largest)) / sum;
        const auto weight = static_cast<double>(weights[i]);
        if (expected > 1.0001 * least) {
          // The rounding error of an exponent of 87 is 1e-5.
          REQUIRE(std::abs(weight - expected) < 2e-5 * expected);
        } else if (expected < 0.9999 * least) {
          REQUIRE(weight == 0.0);
        }
        n_small += weight > 0.0 && weight < 1e-30 ? 1 : 0;
      }
      CHECK(n_small > n / 10);
    }
  });
}

TEST_CASE("softmax: a single score gets all the weight, and no scores give nothing") {
  for_each_target([] {
    float one[] = {-3.5f, test::PoisonedMatrix::kPoison};
    REQUIRE(kernels::softmax(one, 1, 1.0f));
    CHECK(one[0] == 1.0f);
    CHECK(one[1] == test::PoisonedMatrix::kPoison);
    for (const float score : {0.0f, 1.7f, -88.3f, 12345.678f, -3e7f, 1e30f}) {
      one[0] = score;
      REQUIRE(kernels::softmax(one, 1, 0.177f));
      CHECK(one[0] == 1.0f);
    }
    one[0] = 1.0f;
    CHECK(kernels::softmax(one, 0, 1.0f));
    CHECK(kernels::softmax(nullptr, 0, 1.0f));
    CHECK(one[0] == 1.0f);
  });
}

TEST_CASE("softmax: minus infinity becomes exactly 0, a row of them becomes zeros") {
  for_each_target([] {
    for (const std::size_t n : kTokenCounts) {
      CAPTURE(n);
      std::vector<float> hidden(n, -kInfinity);
      REQUIRE(kernels::softmax(hidden.data(), n, 1.0f));
      REQUIRE(std::all_of(hidden.begin(), hidden.end(), [](float w) { return w == 0.0f; }));

      std::vector<float> every_third = test::random_values(n, 5);
      for (std::size_t i = 0; i < n; ++i) {
        every_third[i] = i % 3 == 0 ? every_third[i] : -kInfinity;
      }
      REQUIRE(kernels::softmax(every_third.data(), n, 1.0f));
      for (std::size_t i = 0; i < n; ++i) {
        REQUIRE((every_third[i] > 0.0f) == (i % 3 == 0));
      }
    }
  });
}

TEST_CASE("softmax: NaN and plus infinity are refused at every position") {
  for_each_target([] {
    for (const std::size_t n : kTokenCounts) {
      for (std::size_t bad = 0; bad < n; ++bad) {
        for (const float value : {kNan, -kNan, kInfinity}) {
          std::vector<float> x = test::random_values(n, 6);
          x[bad] = value;
          REQUIRE(!kernels::softmax(x.data(), n, 1.0f));
          // Next to hidden scores, too.
          x.assign(n, -kInfinity);
          x[bad] = value;
          REQUIRE(!kernels::softmax(x.data(), n, 1.0f));
        }
      }
    }
  });
}

TEST_CASE("softmax: a hundred thousand keys still sum to 1") {
  for_each_target([] {
    std::vector<float> x = test::random_values(100'003, 7);
    REQUIRE(kernels::softmax(x.data(), x.size(), 1.0f));
    const double sum = std::accumulate(x.begin(), x.end(), 0.0);
    CHECK(std::abs(sum - 1.0) < 1e-6);
  });
}

TEST_CASE("all_finite: finds NaN and either infinity at every position") {
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
    CHECK(kernels::all_finite(std::span<const float>{}));

    // What lies between the rows of a matrix does not count.
    std::vector<float> rows(std::size_t{3} * 40);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i] = i % 40 < 37 ? 1.0f : kNan;
    }
    CHECK(kernels::all_finite(ConstMatrix{rows.data(), 3, 37, 40}));
    rows[2 * 40 + 36] = kInfinity;
    CHECK(!kernels::all_finite(ConstMatrix{rows.data(), 3, 37, 40}));
  });
}

}  // namespace attnviz
