// Scoring all heads of GPT-2 small's shape on a probe, relative to a pass over the same tokens; and
// runs without each head.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/heads/probe.h"
#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/analysis/why/prediction_change.h"
#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/model/random_model.h"
#include "bench/suite.h"

namespace attnviz::bench {

namespace {

constexpr std::size_t kThreads = 2;

// Asks for the last layer's output, as if to predict the next token.
class LastStream : public RunObserver {
 public:
  explicit LastStream(std::size_t n_layers) : last_(n_layers - 1) {}
  bool wants(std::size_t layer, LayerStep step) const override {
    return layer == last_ && step == LayerStep::kAfter;
  }

 private:
  std::size_t last_;
};

struct Gpt2Small {
  Gpt2Small() {
    RandomShape sizes;
    sizes.n_layers = 12;
    sizes.n_heads = 12;
    sizes.d_head = 64;
    model = random_model(sizes, /*seed=*/1);
    const std::size_t d_model = model.config.d_model;
    ones.assign(d_model, 1.0f);
    model.config.order = LayerOrder::kPreNorm;
    unsigned seed = 1;
    for (LayerWeights& layer : model.layers) {
      weights.push_back(random_matrix(d_model, 4 * d_model, seed++));
      layer.mlp.up.weight = std::as_const(weights.back()).view();
      weights.push_back(random_matrix(4 * d_model, d_model, seed++));
      layer.mlp.down.weight = std::as_const(weights.back()).view();
      layer.attention_norm.weight = layer.mlp_norm.weight = ones;
    }
    ProbeShape shape;
    shape.count = 1;
    probe = make_probes(model, nullptr, shape).front();
    tokens.emplace(probe_tokens(probe, shape, /*band=*/4));
  }

  Model model;
  std::vector<float> ones;
  std::vector<MatrixBuffer> weights;
  TokenizedText probe;
  std::optional<ScoredTokens> tokens;
};

void pass(benchmark::State& state) {
  const Gpt2Small gpt;
  AttentionRequest request;
  request.n_threads = kThreads;
  LastStream observer(gpt.model.n_layers());
  repeat(state, [&] { run(gpt.model, InputColumns(gpt.probe).view(), request, observer); });
}

void score(benchmark::State& state, bool weighted) {
  const Gpt2Small gpt;
  const std::vector<HeadId> heads = select_heads(gpt.model, "", "");
  ScoreRequest request;
  request.attention.n_threads = kThreads;
  request.weighted = weighted;
  repeat(state, [&] {
    benchmark::DoNotOptimize(
        score_heads(gpt.model, gpt.probe, *gpt.tokens, heads, request).raw.data());
  });
}

struct Gpt2SmallWithOutput : Gpt2Small {
  Gpt2SmallWithOutput() {
    constexpr std::size_t kVocabulary = 50257;
    const std::size_t d_model = model.config.d_model;
    embeddings = random_matrix(kVocabulary, d_model, 1);
    model.embeddings = std::as_const(embeddings).view();
    model.head.unembedding.weight = {embeddings.view().data, d_model, kVocabulary, d_model,
                                     StoredType::kF32,
                                     /*is_transposed=*/true};
    model.head.norm.weight = ones;
  }

  MatrixBuffer embeddings;
};

void copying(benchmark::State& state) {
  const Gpt2SmallWithOutput gpt;
  const std::vector<HeadId> heads = select_heads(gpt.model, "", "");
  repeat(state,
         [&] { benchmark::DoNotOptimize(copying_scores(gpt.model, heads, kThreads).data()); });
}

void ablate(benchmark::State& state) {
  const Gpt2SmallWithOutput gpt;
  TokenizedText text = gpt.probe;
  text.tokens.resize(64);
  AttentionRequest request;
  request.n_threads = kThreads;
  constexpr AblatedPart kParts[] = {AblatedPart::kHeads, AblatedPart::kMlps};
  repeat(state, [&] {
    benchmark::DoNotOptimize(ablate_each(gpt.model, text, request, 0, kParts, false).data());
  });
}

void register_all() {
  add("why/ablate_each", ablate);
  add("heads/pass", pass);
  add("heads/scores", [](benchmark::State& state) { score(state, false); });
  add("heads/copying", copying);
  add("heads/scores, weighted too", [](benchmark::State& state) { score(state, true); });
}

void report(const Times& times, Figures& figures) {
  for (const char* what : {"heads/scores", "heads/scores, weighted too"}) {
    figures.at_most(std::string(what) + ", GPT-2 small's shape, 100 tokens, over the pass alone",
                    times.ratio(what, "heads/pass"), 1.25, "x");
  }
  figures.at_most("copying scores of GPT-2 small's 144 heads", times("heads/copying"), 3.0, "s");
  figures.at_most("taking out each of its heads and MLPs, 64 tokens", times("why/ablate_each"),
                  12.0, "s");
}

}  // namespace

Part heads_part() {
  return {register_all, report};
}

}  // namespace attnviz::bench
