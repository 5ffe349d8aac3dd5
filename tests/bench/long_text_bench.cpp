// One head over 32,768 tokens: pooled into an image, and not looked at.
#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/attention/layer.h"
#include "attnviz/model/random_model.h"
#include "bench/suite.h"

namespace attnviz::bench {

namespace {

constexpr std::size_t kTokens = 32768;
constexpr std::size_t kHeadSize = 64;
constexpr std::size_t kBlock = 17;  // 1,928 cells per side

// Asks for the head and ignores it, so that both runs compute the same.
class LooksAway : public PatternSink {
 public:
  bool wants(HeadId /*head*/) const override { return true; }
  void rows(HeadId /*head*/, std::size_t /*first_query*/, std::size_t /*first_key*/,
            ConstMatrix weights) override {
    benchmark::DoNotOptimize(weights.data);
  }
};

void long_text(benchmark::State& state, const char* kind, bool with_output) {
  RandomShape shape;
  shape.n_heads = 1;
  shape.d_head = kHeadSize;
  const Model model = random_model(shape, /*seed=*/1);
  const MatrixBuffer stream = random_matrix(kTokens, kHeadSize, 1);
  const Pooling pooling{kind == std::string("mean") ? PoolKind::kMean : PoolKind::kMax};
  PooledPatterns pooled({{0, 0}}, Mask{}, pooling, {{kTokens, kBlock, 0}, {kTokens, kBlock, 0}});
  LooksAway nothing;
  RunObserver observer(kind == std::string("nothing") ? static_cast<PatternSink&>(nothing)
                                                      : pooled);
  const LayerReach reach = with_output ? LayerReach::kWhole : LayerReach::kPatterns;
  for ([[maybe_unused]] auto _ : state) {
    LayerMemory memory;
    benchmark::DoNotOptimize(
        run_layer(model, 0, reach, stream.view(), {}, observer, memory).view().data);
  }
}

void register_all() {
  for (const char* kind : {"nothing", "max", "mean"}) {
    add(std::string("long text/") + kind,
        [kind](benchmark::State& state) { long_text(state, kind, true); });
    add(std::string("long text, patterns only/") + kind,
        [kind](benchmark::State& state) { long_text(state, kind, false); });
  }
}

void report(const Times& times, Figures& figures) {
  constexpr double kAttention = 2.0 * kTokens * (kTokens + 1.0) * kHeadSize;
  constexpr double kProducts = 8.0 * kTokens * kHeadSize * kHeadSize;
  figures.at_least("32,768 tokens, one head, share of peak",
                   times.share_of_peak("long text/nothing", kAttention + kProducts), 76, "%");
  for (const char* kind : {"max", "mean"}) {
    const std::string pooled = std::string(" pooled (") + kind + ") over not looked at";
    figures.at_most("32,768 tokens," + pooled,
                    times.ratio(std::string("long text/") + kind, "long text/nothing"), 1.35, "x");
    figures.at_most("32,768 tokens, patterns only," + pooled,
                    times.ratio(std::string("long text, patterns only/") + kind,
                                "long text, patterns only/nothing"),
                    1.35, "x");
  }
}

}  // namespace

Part long_text_part() {
  return {register_all, report};
}

}  // namespace attnviz::bench
