// Attention from given queries, keys and values on one thread, beside what a program could call in
// its place, and whole layers on one and on two threads.
//
//     attnviz_bench                             everything, then a table of ratios
//     attnviz_bench --benchmark_filter=1024     some of it
//
// Repetitions are interleaved: when the machine gets slower it does so for everyone.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/attention/layer.h"
#include "attnviz/attention/pattern_store.h"
#include "attnviz/core/tensor.h"
#include "attnviz/kernels/attention_kernels.h"
#include "attnviz/kernels/copy.h"
#include "attnviz/kernels/simd.h"
#include "attnviz/kernels/softmax.h"
#include "attnviz/model/random_model.h"
#include "bench/peak.h"

#ifdef ATTNVIZ_BENCH_OPENBLAS
#include <cblas.h>
#endif
#ifdef ATTNVIZ_BENCH_ONEDNN
#include <dnnl.h>
#endif
#ifdef ATTNVIZ_BENCH_EIGEN
#include <Eigen/Core>
#endif

namespace attnviz::bench {

namespace {

using kernels::KeyPanels;
using kernels::KeyRange;

struct Shape {
  std::size_t heads;
  std::size_t n;
  std::size_t d_head;

  std::string name() const { return fmt::format("{}x{}x{}", heads, n, d_head); }
  // q·k and weight·v over the visible half.
  double operations() const { return 2.0 * static_cast<double>(heads * n * (n + 1) * d_head); }
};

constexpr Shape kShapes[] = {{12, 64, 64},   {12, 256, 64},  {12, 1000, 64}, {12, 1023, 64},
                             {12, 1024, 64}, {12, 4096, 64}, {32, 1024, 128}};

// One head after another: [heads * n, d_head], patterns [heads * n, n].
struct Problem {
  explicit Problem(const Shape& of)
      : shape(of),
        query(of.heads * of.n, of.d_head),
        key(of.heads * of.n, of.d_head),
        value(of.heads * of.n, of.d_head),
        pattern(of.heads * of.n, of.n),
        context(of.heads * of.n, of.d_head) {
    std::uint32_t state = 1;
    for (MatrixBuffer* matrix : {&query, &key, &value}) {
      const Matrix view = matrix->view();
      for (std::size_t i = 0; i < view.rows * view.cols; ++i) {
        state = state * 1664525u + 1013904223u;
        view.data[i] = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
      }
    }
  }

  Shape shape;
  MatrixBuffer query, key, value, pattern, context;
};

std::size_t block_rows(const Shape& shape) {
  const std::size_t most = shape.d_head > 64 ? 48 : 96;
  return std::clamp<std::size_t>((std::size_t{160} << 10) / shape.n / 12 * 12, 24, most);
}

// What all of them have in common: blocks of queries, their scores, our softmax, a copy of the
// pattern, the mixture. scores(head, first query, rows) fills whole columns up to its last query.
void for_each_block(Problem& problem, const std::function<void(std::size_t head)>& begin_head,
                    const std::function<void(std::size_t, std::size_t, Matrix)>& scores,
                    const std::function<void(std::size_t, std::size_t, Matrix)>& mix,
                    std::size_t rows_at_once, Matrix scratch) {
  const auto [heads, n, d_head] = problem.shape;
  const float factor = 1.0f / std::sqrt(static_cast<float>(d_head));
  std::vector<KeyRange> ranges(n);
  for (std::size_t query = 0; query < n; ++query) {
    ranges[query] = {0, query + 1};
  }
  for (std::size_t head = 0; head < heads; ++head) {
    begin_head(head);
    for (std::size_t first = 0; first < n; first += rows_at_once) {
      const std::size_t count = std::min(rows_at_once, n - first);
      const Matrix rows{scratch.data, count, KeyPanels::rounded_up(first + count), scratch.stride};
      scores(head, first, rows);
      kernels::softmax_rows(rows, std::span(ranges).subspan(first, count), 0, factor);
      kernels::copy(
          rows.col_block(0, first + count),
          problem.pattern.view().row_block(head * n + first, count).col_block(0, first + count),
          n * n * heads * sizeof(float) > (std::size_t{8} << 20));
      mix(head, first, rows);
    }
  }
}

MatrixBuffer scratch_for(std::size_t rows, std::size_t n) {
  return MatrixBuffer(rows, KeyPanels::rounded_up(n) + KeyPanels::kKeys);
}

void attnviz_attention(benchmark::State& state, const Shape& shape) {
  Problem problem(shape);
  const std::size_t n = shape.n;
  const std::size_t rows_at_once = block_rows(shape);
  MatrixBuffer scratch = scratch_for(rows_at_once, n);
  KeyPanels panels(n, shape.d_head);
  std::vector<KeyRange> ranges(n);
  for (std::size_t query = 0; query < n; ++query) {
    ranges[query] = {0, query + 1};
  }
  for ([[maybe_unused]] auto _ : state) {
    for_each_block(
        problem,
        [&](std::size_t head) {
          panels.pack(std::as_const(problem.key).view().row_block(head * n, n), 0);
        },
        [&](std::size_t head, std::size_t first, Matrix rows) {
          kernels::attention_scores(
              std::as_const(problem.query).view().row_block(head * n + first, rows.rows), panels,
              std::span(ranges).subspan(first, rows.rows), 0, rows);
        },
        [&](std::size_t head, std::size_t first, Matrix rows) {
          kernels::mix_values(rows, std::as_const(problem.value).view().row_block(head * n, n),
                              std::span(ranges).subspan(first, rows.rows), 0,
                              problem.context.view().row_block(head * n + first, rows.rows));
        },
        rows_at_once, scratch.view());
    benchmark::ClobberMemory();
  }
}

// c [m, n] = a [m, k] · b, or · b^T with b [n, k]; all row-major.
using Product = void (*)(bool transposed, ConstMatrix a, ConstMatrix b, Matrix c);

void attention_of_products(benchmark::State& state, const Shape& shape, Product product,
                           bool all_at_once) {
  Problem problem(shape);
  const std::size_t n = shape.n;
  const std::size_t rows_at_once = all_at_once ? n : block_rows(shape);
  MatrixBuffer scratch = scratch_for(rows_at_once, n);
  for ([[maybe_unused]] auto _ : state) {
    for_each_block(
        problem, [](std::size_t) {},
        [&](std::size_t head, std::size_t first, Matrix rows) {
          const std::size_t keys = first + rows.rows;
          product(true, std::as_const(problem.query).view().row_block(head * n + first, rows.rows),
                  std::as_const(problem.key).view().row_block(head * n, keys),
                  rows.col_block(0, keys));
        },
        [&](std::size_t head, std::size_t first, Matrix rows) {
          const std::size_t keys = first + rows.rows;
          product(false, rows.col_block(0, keys),
                  std::as_const(problem.value).view().row_block(head * n, keys),
                  problem.context.view().row_block(head * n + first, rows.rows));
        },
        rows_at_once, scratch.view());
    benchmark::ClobberMemory();
  }
}

#ifdef ATTNVIZ_BENCH_OPENBLAS
void openblas(bool transposed, ConstMatrix a, ConstMatrix b, Matrix c) {
  const auto size = [](std::size_t value) { return static_cast<int>(value); };
  cblas_sgemm(CblasRowMajor, CblasNoTrans, transposed ? CblasTrans : CblasNoTrans, size(c.rows),
              size(c.cols), size(a.cols), 1.0f, a.data, size(a.stride), b.data, size(b.stride),
              0.0f, c.data, size(c.stride));
}
#endif

#ifdef ATTNVIZ_BENCH_ONEDNN
void onednn(bool transposed, ConstMatrix a, ConstMatrix b, Matrix c) {
  const auto size = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
  dnnl_sgemm('N', transposed ? 'T' : 'N', size(c.rows), size(c.cols), size(a.cols), 1.0f, a.data,
             size(a.stride), b.data, size(b.stride), 0.0f, c.data, size(c.stride));
}
#endif

#ifdef ATTNVIZ_BENCH_EIGEN
void eigen(bool transposed, ConstMatrix a, ConstMatrix b, Matrix c) {
  using Values = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Rows = Eigen::OuterStride<>;
  const auto map = [](ConstMatrix x) {
    return Eigen::Map<const Values, 0, Rows>(x.data, static_cast<Eigen::Index>(x.rows),
                                             static_cast<Eigen::Index>(x.cols),
                                             Rows(static_cast<Eigen::Index>(x.stride)));
  };
  Eigen::Map<Values, 0, Rows> out(c.data, static_cast<Eigen::Index>(c.rows),
                                  static_cast<Eigen::Index>(c.cols),
                                  Rows(static_cast<Eigen::Index>(c.stride)));
  if (transposed) {
    out.noalias() = map(a) * map(b).transpose();
  } else {
    out.noalias() = map(a) * map(b);
  }
}
#endif

constexpr int kPeakRounds = 20000;

void peak(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(multiply_add_round(kPeakRounds));
  }
  state.counters["operations"] = operations_of_a_round() * kPeakRounds;
}

// A layer of twelve heads of d_head 64: projections, attention, output.
void layer(benchmark::State& state, std::size_t n, std::size_t n_threads) {
  RandomShape shape;
  shape.n_heads = 12;
  shape.d_head = 64;
  const Model model = random_model(shape, /*seed=*/1);
  MatrixBuffer stream(n, model.config.d_model);
  for (std::size_t i = 0; i < n * model.config.d_model; ++i) {
    stream.view().data[i] = static_cast<float>(i * 2654435761u % 1000u) / 500.0f - 1.0f;
  }
  AttentionRequest request;
  request.n_threads = n_threads;
  std::vector<HeadId> heads;
  for (std::size_t head = 0; head < shape.n_heads; ++head) {
    heads.push_back({0, head});
  }
  PatternStore store(heads, n);
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(
        run_layer(model, 0, std::as_const(stream).view(), request, store).view().data);
  }
}

double operations_of_a_layer(std::size_t n) {
  constexpr double kWidth = 768.0;
  const auto tokens = static_cast<double>(n);
  return 8.0 * tokens * kWidth * kWidth + Shape{12, n, 64}.operations();
}

// Keeps the medians beside printing them.
class MedianReporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.aggregate_name == "median") {
        seconds_[run.run_name.function_name] =
            run.GetAdjustedRealTime() / benchmark::GetTimeUnitMultiplier(run.time_unit);
      }
    }
    ConsoleReporter::ReportRuns(runs);
  }

  // 0 when it did not run.
  double seconds(const std::string& name) const {
    const auto found = seconds_.find(name);
    return found == seconds_.end() ? 0.0 : found->second;
  }

 private:
  std::map<std::string, double> seconds_;
};

std::string ratio(double peer, double ours) {
  return peer == 0.0 ? "-" : fmt::format("{:.2f}", peer / ours);
}

void print_table(const MedianReporter& times, const std::vector<std::string>& peers) {
  const double peak_rate = times.seconds("peak") == 0.0
                               ? 0.0
                               : operations_of_a_round() * kPeakRounds / times.seconds("peak");
  fmt::print("\n{:<14}{:>10}{:>12}", "core, causal", "ms", "% of peak");
  for (const std::string& peer : peers) {
    fmt::print("{:>17}", peer);
  }
  fmt::print("\n");
  for (const Shape& shape : kShapes) {
    const double ours = times.seconds("attnviz/" + shape.name());
    if (ours == 0.0) {
      continue;
    }
    fmt::print("{:<14}{:>10.3f}{:>12.1f}", shape.name(), ours * 1e3,
               peak_rate == 0.0 ? 0.0 : 100.0 * shape.operations() / ours / peak_rate);
    for (const std::string& peer : peers) {
      fmt::print("{:>17}", ratio(times.seconds(peer + "/" + shape.name()), ours));
    }
    fmt::print("\n");
  }
  fmt::print("\n{:<14}{:>10}{:>12}{:>17}\n", "layer, d 768", "ms", "% of peak", "two threads");
  for (const std::size_t n : {std::size_t{64}, std::size_t{256}, std::size_t{1024}}) {
    const double one = times.seconds(fmt::format("layer/{}/1", n));
    if (one != 0.0) {
      fmt::print("{:<14}{:>10.3f}{:>12.1f}{:>17}\n", n, one * 1e3,
                 peak_rate == 0.0 ? 0.0 : 100.0 * operations_of_a_layer(n) / one / peak_rate,
                 ratio(one, times.seconds(fmt::format("layer/{}/2", n))));
    }
  }
}

std::vector<std::string> register_all() {
  std::vector<std::string> peers;
  const auto add = [](const std::string& name, auto... arguments) {
    benchmark::RegisterBenchmark(name.c_str(), arguments...)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  };
  const auto add_peer = [&](const std::string& name, Product product, bool all_at_once) {
    peers.push_back(name);
    for (const Shape& shape : kShapes) {
      add(name + "/" + shape.name(), attention_of_products, shape, product, all_at_once);
    }
  };
  add("peak", peak);
  for (const Shape& shape : kShapes) {
    add("attnviz/" + shape.name(), attnviz_attention, shape);
  }
#ifdef ATTNVIZ_BENCH_ONEDNN
  add_peer("oneDNN", onednn, false);
#endif
#ifdef ATTNVIZ_BENCH_OPENBLAS
  add_peer("OpenBLAS", openblas, false);
  add_peer("OpenBLAS n x n", openblas, true);
#endif
#ifdef ATTNVIZ_BENCH_EIGEN
  add_peer("Eigen", eigen, false);
#endif
  for (const std::size_t n : {std::size_t{64}, std::size_t{256}, std::size_t{1024}}) {
    for (const std::size_t n_threads : {std::size_t{1}, std::size_t{2}}) {
      add(fmt::format("layer/{}/{}", n, n_threads), layer, n, n_threads);
    }
  }
  return peers;
}

// The libraries read these when they are loaded. What slows them down on some machines is taken
// away, so that the comparison is fair.
void start_again_with_fair_peers(char** arguments) {
  constexpr const char* kDone = "ATTNVIZ_BENCH_ENVIRONMENT";
  if (std::getenv(kDone) != nullptr) {
    return;
  }
  for (const char* name : {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"}) {
    unsetenv(name);
  }
  for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", kDone}) {
    setenv(name, "1", 1);
  }
  execv("/proc/self/exe", arguments);
}

}  // namespace

int run(int argc, char** argv) {
  start_again_with_fair_peers(argv);
  std::vector<std::string> words(argv, argv + argc);
  // Before the user's own, which count more.
  words.insert(words.begin() + 1,
               {"--benchmark_repetitions=9", "--benchmark_enable_random_interleaving=true",
                "--benchmark_report_aggregates_only=true", "--benchmark_min_time=0.05"});
  std::vector<char*> pointers;
  pointers.reserve(words.size());
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  auto count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) {
    return 2;
  }
  const std::vector<std::string> peers = register_all();
  MedianReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  fmt::print("\nSIMD target {}", kernels::active_simd_target());
  print_table(reporter, peers);
  return 0;
}

}  // namespace attnviz::bench

int main(int argc, char** argv) {
  return attnviz::bench::run(argc, argv);
}
