#include "fuzz/run_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "attnviz/attention/decoding.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "fuzz/fuzz_checks.h"

namespace attnviz::test {

namespace {

constexpr std::size_t kTokens = 3;

// For all heads.
class FiniteWeights : public PatternSink {
 public:
  bool wants(HeadId /*head*/) const override { return true; }
  void rows(HeadId /*head*/, std::size_t /*first_query*/, std::size_t /*first_key*/,
            ConstMatrix weights) override {
    for (std::size_t row = 0; row < weights.rows; ++row) {
      for (const float weight : weights.row(row)) {
        require(std::isfinite(weight));
      }
    }
  }
};

// Ids that any vocabulary has, as many as the model takes.
std::vector<std::uint32_t> some_ids(const Model& model) {
  const std::size_t most = model.config.n_ctx == 0 ? kTokens : model.config.n_ctx;
  return std::vector<std::uint32_t>(std::min({model.embeddings.rows, most, kTokens}), 0);
}

// Pieces of the vocabulary first, as others may be refused.
std::vector<std::string_view> some_pieces(const Model& model) {
  std::vector<std::string_view> pieces(model.inputs.empty() ? kTokens : model.inputs.rows, "cat");
  for (std::size_t i = 0; i < pieces.size() && !model.vocabulary.empty(); ++i) {
    pieces[i] = model.vocabulary[i % model.vocabulary.size()];
  }
  return pieces;
}

}  // namespace

void run_model(const Model& model) {
  const std::vector<std::uint32_t> ids = some_ids(model);
  const std::vector<std::string_view> pieces = some_pieces(model);
  ModelInput input;
  if (model.config.is_transformer()) {
    input.ids = ids;
  } else {
    input.pieces = pieces;
  }
  MatrixBuffer encoded;
  if (model.encoder) {
    const std::vector<std::uint32_t> source_ids = some_ids(*model.encoder);
    ModelInput source;
    source.ids = source_ids;
    encoded = encode(model, source, {});
    input.encoded = encoded.view();
  }
  FiniteWeights weights;
  OutputRows output(model, 0, input.size());
  RunObserver patterns(weights);
  ObserverGroup all({&patterns, &output});
  run(model, input, {}, all);
  if (!model.head.unembedding.weight.empty()) {
    use({reinterpret_cast<const char*>(run_output_head(model, output.rows(), 1).view().data),
         sizeof(float)});
  }
}

}  // namespace attnviz::test
