// Whole layers: projections, attention and output of twelve heads, on one thread and on more.
#include <fmt/core.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/attention/layer.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/threads.h"
#include "attnviz/model/random_model.h"
#include "bench/suite.h"

namespace attnviz::bench {

namespace {

constexpr std::size_t kHeads = 12;
constexpr std::size_t kHeadSize = 64;
constexpr std::size_t kWidth = kHeads * kHeadSize;
constexpr std::size_t kLengths[] = {64, 256, 1024};

struct Layer {
  explicit Layer(std::size_t n) : stream(random_matrix(n, kWidth, 1)) {
    RandomShape shape;
    shape.n_heads = kHeads;
    shape.d_head = kHeadSize;
    model = random_model(shape, /*seed=*/1);
    for (std::size_t head = 0; head < kHeads; ++head) {
      heads.push_back({0, head});
    }
  }

  void run(std::size_t n_threads, RunObserver& observer, LayerMemory& memory) const {
    AttentionRequest request;
    request.n_threads = n_threads;
    memory.output =
        run_layer(model, 0, LayerReach::kWhole, stream.view(), request, observer, memory);
    benchmark::DoNotOptimize(memory.output.view().data);
  }

  MatrixBuffer stream;
  Model model;
  std::vector<HeadId> heads;
};

void layer(benchmark::State& state, std::size_t n, std::size_t n_threads) {
  const Layer layer(n);
  PatternStore store(layer.heads, n);
  RunObserver observer(store);
  LayerMemory memory;
  repeat(state, [&] { layer.run(n_threads, observer, memory); });
}

// Is offered every step, and asks for none.
class Indifferent : public RunObserver {
 public:
  using RunObserver::RunObserver;
  bool wants(std::size_t layer, LayerStep /*step*/) const override { return layer == kNever; }
  bool hides(HeadId head) const override { return head.layer == kNever; }

 private:
  static constexpr std::size_t kNever = 1u << 20;
};

void watched_layer(benchmark::State& state, std::size_t n) {
  const Layer layer(n);
  PatternStore store(layer.heads, n);
  Indifferent patterns(store);
  Indifferent other;
  ObserverGroup both({&patterns, &other});
  LayerMemory memory;
  repeat(state, [&] { layer.run(1, both, memory); });
}

// As in a program that runs once: all memory is fresh.
void one_shot(benchmark::State& state, bool kept) {
  constexpr std::size_t kTokens = 1024;
  const Layer layer(kTokens);
  for ([[maybe_unused]] auto _ : state) {
    LayerMemory memory;
    if (kept) {
      PatternStore store(layer.heads, kTokens);
      RunObserver observer(store);
      layer.run(1, observer, memory);
    } else {
      RunObserver idle_observer;
      layer.run(1, idle_observer, memory);
    }
  }
}

double operations(std::size_t n) {
  const auto tokens = static_cast<double>(n);
  return 8.0 * tokens * kWidth * kWidth + 2.0 * kWidth * tokens * (tokens + 1.0);
}

std::string name_of(std::size_t n, std::size_t n_threads) {
  return fmt::format("layer/{}/{}", n, n_threads);
}

std::vector<std::size_t> thread_counts() {
  std::vector<std::size_t> counts;
  for (std::size_t count = 1; count <= std::max<std::size_t>(2, allowed_cpus().size());
       count *= 2) {
    counts.push_back(count);
  }
  return counts;
}

void register_all() {
  for (const std::size_t n : kLengths) {
    for (const std::size_t n_threads : thread_counts()) {
      add(name_of(n, n_threads),
          [n, n_threads](benchmark::State& state) { layer(state, n, n_threads); });
    }
  }
  for (const std::size_t n : kLengths) {
    add(fmt::format("layer, watched/{}", n),
        [n](benchmark::State& state) { watched_layer(state, n); });
  }
  add("one shot/kept", [](benchmark::State& state) { one_shot(state, true); });
  add("one shot/not kept", [](benchmark::State& state) { one_shot(state, false); });
}

void report(const Times& times, Figures& figures) {
  figures.at_most("one shot, 12 x 1024 x 1024, patterns kept over not kept",
                  times.ratio("one shot/kept", "one shot/not kept"), 1.45, "x");
  for (const std::size_t n : kLengths) {
    figures.at_most(fmt::format("observers that want nothing over none, layer, n = {}", n),
                    times.ratio(fmt::format("layer, watched/{}", n), name_of(n, 1)), 1.02, "x");
  }
  if (times(name_of(kLengths[0], 1)) == 0.0) {
    return;
  }
  fmt::print("\n{:<16}{:>10}{:>12}", "layer, d 768", "ms", "% of peak");
  for (const std::size_t n_threads : thread_counts()) {
    fmt::print("{:>12}", fmt::format("{} threads", n_threads));
  }
  fmt::print("\n");
  for (const std::size_t n : kLengths) {
    const std::string one = name_of(n, 1);
    const double share = times.share_of_peak(one, operations(n));
    figures.at_least(fmt::format("layer of d_model 768, n = {}, share of peak", n), share,
                     n < 256 ? 75 : 86, "%");
    if (n >= 256) {
      figures.at_least(fmt::format("two threads over one, layer, n = {}", n),
                       times.ratio(one, name_of(n, 2)), n < 1024 ? 1.9 : 1.95, "x");
      if (const double peak = times.peak_of_two_threads(); peak > 0.0) {
        figures.at_least("the same over what multiply-adds in registers gain",
                         100.0 * times.ratio(one, name_of(n, 2)) / peak, 95, "%");
      }
    }
    if (times(one) > 0.0) {
      fmt::print("{:<16}{:>10.3f}{:>12.1f}", n, times(one) * 1e3, share);
      for (const std::size_t n_threads : thread_counts()) {
        fmt::print("{:>12.2f}", times.ratio(one, name_of(n, n_threads)));
      }
      fmt::print("\n");
    }
  }
}

}  // namespace

Part layer_part() {
  return {register_all, report};
}

}  // namespace attnviz::bench
