#include "attnviz/analysis/lessons/cache_savings.h"

#include <chrono>

#include "attnviz/attention/decoding.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/logits.h"

namespace attnviz {

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
    costs.token -= static_cast<double>(layer.n_layers * layer.mlp_biases);  // are added
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

}  // namespace attnviz
