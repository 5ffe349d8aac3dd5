#include "attnviz/analysis/lessons/lesson_numbers.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <utility>

#include "attnviz/attention/decoding.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/head_math.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/products.h"

namespace attnviz {

namespace {

using CostClock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work) {
  const CostClock::time_point begin = CostClock::now();
  work();
  return std::chrono::duration<double>(CostClock::now() - begin).count();
}

// Repeats a short run; the fastest counts.
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
  const auto report_row = [&](double begin, double end, std::size_t q) {
    constexpr std::size_t kOften = 64;  // rows
    if (report && q % kOften == 0) {
      report(begin + (end - begin) * static_cast<double>(q) / static_cast<double>(query.rows));
    }
  };
  for (std::size_t q = 0; q < query.rows; ++q) {  // scores
    report_row(0.0, 0.65, q);
    for (std::size_t k = 0; k < key.rows; ++k) {
      float score = 0.0f;
      for (std::size_t i = 0; i < query.cols; ++i) {
        score += query(q, i) * key(k, i);
      }
      weights(q, k) = scale * score;
    }
  }
  for (std::size_t q = 0; q < query.rows; ++q) {  // softmax
    report_row(0.65, 0.75, q);
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
    report_row(0.75, 1.0, q);
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
  double reported = 0.0;
  // The work grows with n².
  const auto report = [&](std::size_t n, double share) {
    const double whole = static_cast<double>(n) / static_cast<double>(request.last);
    const double done = whole * whole * (0.25 + 0.75 * share);
    if (request.report && done > reported) {
      reported = std::min(1.0, done);
      request.report(reported);
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
                     [&](double share) { report(n, share); });
    });
    point.blocked_seconds = least_seconds([&] {
      point.blocked_bytes =
          attend_in_blocks(query.view(), key.view(), value.view(), context.view());
    });
    last_seconds = point.naive_seconds + point.blocked_seconds;
    points.push_back(point);
    report(n, 1.0);
  }
  return points;
}

namespace {

using CacheClock = std::chrono::steady_clock;

double since(CacheClock::time_point begin) {
  return std::chrono::duration<double>(CacheClock::now() - begin).count();
}

}  // namespace

PassCosts pass_costs(const ModelShape& shape) {
  const LayerCounts layers = count_parameters(shape).layers;
  PassCosts costs;
  costs.token =
      static_cast<double>(layers.attention.total() - layers.attention.biases + layers.mlp);
  for (const LayerShape& layer : shape.layers) {
    costs.token -= static_cast<double>(layer.n_layers * layer.mlp_biases);  // these are added,
                                                                            // not multiplied
    for (const HeadsShape& heads : layer.heads) {
      costs.edge += static_cast<double>(layer.n_layers * heads.n_heads) *
                    static_cast<double>(heads.d_head + heads.d_value);
    }
  }
  costs.head = static_cast<double>(shape.tied ? shape.n_vocab * shape.d_model : shape.unembedding);
  return costs;
}

GenerationCosts generation_costs(const PassCosts& costs, std::size_t n_tokens) noexcept {
  GenerationCosts total;
  for (std::size_t step = 1; step <= n_tokens; ++step) {
    const auto t = static_cast<double>(step);
    total.with_cache += costs.token + costs.edge * t + costs.head;
    total.without_cache += costs.token * t + costs.edge * t * (t + 1.0) / 2.0 + costs.head;
  }
  return total;
}

GenerationTimes measure_generation(const Model& model, std::span<const std::uint32_t> ids,
                                   const AttentionRequest& request) {
  AttentionRequest quiet = request;
  quiet.report = {};
  GenerationTimes times;
  Decoding decoding(model, quiet, ids.size());
  CacheClock::time_point begin = CacheClock::now();
  for (const std::uint32_t& id : ids) {
    decoding.feed(std::span(&id, 1));
    times.with_cache.push_back(since(begin));
  }
  begin = CacheClock::now();
  for (std::size_t n = 1; n <= ids.size(); ++n) {
    OutputRows output(model, n - 1, 1);
    ModelInput input;
    input.ids = ids.first(n);
    run(model, input, quiet, output);
    run_output_head(model, output.rows(), quiet.n_threads);
    times.without_cache.push_back(since(begin));
    if (request.report) {
      const double done = static_cast<double>(n) / static_cast<double>(ids.size());
      request.report(done * done);
    }
  }
  return times;
}

namespace {

// In (0, 1), from the upper 53 bits.
double uniform(std::uint64_t word) noexcept {
  return (static_cast<double>(word >> 11) + 0.5) * 0x1p-53;
}

}  // namespace

void fill_normal(const RandomBits& random, std::span<float> out) noexcept {
  for (std::size_t i = 0; i < out.size(); i += 2) {
    const double radius = std::sqrt(-2.0 * std::log(uniform(random[i])));
    const double angle = 2.0 * std::numbers::pi * uniform(random[i + 1]);
    out[i] = static_cast<float>(radius * std::cos(angle));
    if (i + 1 < out.size()) {
      out[i + 1] = static_cast<float>(radius * std::sin(angle));
    }
  }
}

Sharpness sharpness(std::span<const float> scores, double factor) {
  const double largest = static_cast<double>(*std::ranges::max_element(scores));
  double sum = 0.0;
  double weighted = 0.0;  // the sum of exp(x) · x
  for (const float score : scores) {
    const double x = factor * (static_cast<double>(score) - largest);
    sum += std::exp(x);
    weighted += std::exp(x) * x;
  }
  return {1.0 / sum, std::max(0.0, (std::log(sum) - weighted / sum) / std::log(2.0))};
}

std::vector<ScalingPoint> measure_scaling(std::span<const std::size_t> sizes, std::uint64_t seed,
                                          const ScalingSamples& samples) {
  std::vector<ScalingPoint> points;
  for (const std::size_t d : sizes) {
    const double root = std::sqrt(static_cast<double>(d));
    std::vector<float> query(d), keys(samples.n_keys * d), scores(samples.n_keys);
    ScalingPoint point{d, 0.0, 0.0, {}, {}};
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t q = 0; q < samples.n_queries; ++q) {
      fill_normal(RandomBits({seed, d, q, 0}), query);
      fill_normal(RandomBits({seed, d, q, 1}), keys);
      for (std::size_t k = 0; k < samples.n_keys; ++k) {
        double product = 0.0;
        for (std::size_t i = 0; i < d; ++i) {
          product += static_cast<double>(query[i]) * static_cast<double>(keys[k * d + i]);
        }
        scores[k] = static_cast<float>(product);
        sum += product;
        squares += product * product;
      }
      for (const auto& [into, factor] :
           {std::pair(&point.plain, 1.0), std::pair(&point.scaled, 1.0 / root)}) {
        const Sharpness of_row = sharpness(scores, factor);
        into->largest += of_row.largest / static_cast<double>(samples.n_queries);
        into->entropy_bits += of_row.entropy_bits / static_cast<double>(samples.n_queries);
      }
    }
    const auto n = static_cast<double>(samples.n_queries * samples.n_keys);
    point.variance = squares / n - (sum / n) * (sum / n);
    point.variance_scaled = point.variance / static_cast<double>(d);
    points.push_back(point);
  }
  return points;
}

}  // namespace attnviz
