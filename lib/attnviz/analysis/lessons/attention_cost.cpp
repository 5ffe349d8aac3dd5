#include "attnviz/analysis/lessons/attention_cost.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "attnviz/analysis/lessons/normal_numbers.h"
#include "attnviz/attention/attention_block.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/key_panels.h"

namespace attnviz {

namespace {

using CostClock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work) {
  const CostClock::time_point begin = CostClock::now();
  work();
  return std::chrono::duration<double>(CostClock::now() - begin).count();
}

// The least of several runs where one is short.
double least_seconds(const std::function<void()>& work) {
  constexpr double kEnough = 0.02;
  constexpr std::size_t kMost = 20;
  double least = seconds_of(work);
  double total = least;
  for (std::size_t run = 1; run < kMost && total < kEnough; ++run) {
    const double again = seconds_of(work);
    least = std::min(least, again);
    total += again;
  }
  return least;
}

MatrixBuffer normal_rows(std::size_t n, std::size_t d, std::uint64_t seed, std::uint64_t name) {
  MatrixBuffer rows(n, d);
  fill_normal(RandomBits({seed, n, name}), {rows.view().data, n * d});
  return rows;
}

}  // namespace

void attend_naively(ConstMatrix query, ConstMatrix key, ConstMatrix value, Matrix weights,
                    Matrix context, const ProgressReport& report) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(query.cols));
  // Scores take about two thirds of the time.
  const auto tell = [&](double begin, double end, std::size_t q) {
    constexpr std::size_t kOften = 64;  // rows
    if (report && q % kOften == 0) {
      report(begin + (end - begin) * static_cast<double>(q) / static_cast<double>(query.rows));
    }
  };
  for (std::size_t q = 0; q < query.rows; ++q) {  // scores
    tell(0.0, 0.65, q);
    for (std::size_t k = 0; k < key.rows; ++k) {
      float score = 0.0f;
      for (std::size_t i = 0; i < query.cols; ++i) {
        score += query(q, i) * key(k, i);
      }
      weights(q, k) = scale * score;
    }
  }
  for (std::size_t q = 0; q < query.rows; ++q) {  // softmax
    tell(0.65, 0.75, q);
    const float largest = *std::ranges::max_element(weights.row(q));
    float sum = 0.0f;
    for (float& weight : weights.row(q)) {
      weight = std::exp(weight - largest);
      sum += weight;
    }
    for (float& weight : weights.row(q)) {
      weight /= sum;
    }
  }
  for (std::size_t q = 0; q < query.rows; ++q) {  // contexts
    tell(0.75, 1.0, q);
    std::ranges::fill(context.row(q), 0.0f);
    for (std::size_t k = 0; k < key.rows; ++k) {
      for (std::size_t j = 0; j < value.cols; ++j) {
        context(q, j) += weights(q, k) * value(k, j);
      }
    }
  }
}

std::size_t attend_in_blocks(ConstMatrix query, ConstMatrix key, ConstMatrix value,
                             Matrix context) {
  kernels::KeyPanels panels(key.rows, key.cols);
  panels.pack(key, 0);
  const HeadTensors tensors{query, &panels, value};
  RowRule rule;
  rule.mask = Mask{MaskKind::kNone};
  rule.factor = 1.0f / std::sqrt(static_cast<float>(query.cols));
  BlockScratch scratch;
  const std::size_t rows = attending_rows(key.rows);
  for (std::size_t first = 0; first < query.rows; first += rows) {
    const std::size_t count = std::min(rows, query.rows - first);
    if (attend_block(tensors, rule, first, count, scratch, context.row_block(first, count)).fault !=
        BlockFault::kNone) {
      throw Error(ErrorKind::kMalformed, "a score is not finite");
    }
  }
  return sizeof(float) * (kernels::KeyPanels::n_floats(key.rows, key.cols) +
                          scratch.scores.rows() * scratch.scores.cols());
}

std::vector<CostPoint> measure_cost(const CostRequest& request) {
  constexpr double kGrowth = 4.5;  // of the time from one point to the next
  std::vector<CostPoint> points;
  const CostClock::time_point begin = CostClock::now();
  double last_seconds = 0.0;
  double told = 0.0;
  // The work grows with n².
  const auto tell = [&](std::size_t n, double share) {
    const double whole = static_cast<double>(n) / static_cast<double>(request.last);
    const double done = whole * whole * (0.25 + 0.75 * share);
    if (request.report && done > told) {
      told = std::min(1.0, done);
      request.report(told);
    }
  };
  for (std::size_t n = request.first; n <= request.last; n *= 2) {
    const double spent = std::chrono::duration<double>(CostClock::now() - begin).count();
    if (!points.empty() && spent + kGrowth * last_seconds > request.seconds) {
      break;
    }
    const MatrixBuffer query = normal_rows(n, request.d_head, request.seed, 0);
    const MatrixBuffer key = normal_rows(n, request.d_head, request.seed, 1);
    const MatrixBuffer value = normal_rows(n, request.d_head, request.seed, 2);
    MatrixBuffer context(n, request.d_head);
    CostPoint point{n, 0.0, 0.0, n * n * sizeof(float), 0};
    point.naive_seconds = least_seconds([&] {
      MatrixBuffer weights(n, n);
      attend_naively(query.view(), key.view(), value.view(), weights.view(), context.view(),
                     [&](double share) { tell(n, share); });
    });
    point.blocked_seconds = least_seconds([&] {
      point.blocked_bytes =
          attend_in_blocks(query.view(), key.view(), value.view(), context.view());
    });
    last_seconds = point.naive_seconds + point.blocked_seconds;
    points.push_back(point);
    tell(n, 1.0);
  }
  return points;
}

}  // namespace attnviz
