#include "support/model_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/model_builder.h"
#include "support/run_program.h"

namespace attnviz::test {

namespace {

class Everything : public PatternSink {
 public:
  explicit Everything(const Model& model, std::size_t n_tokens)
      : n_heads_(model.n_heads()), n_(n_tokens), weights_(model.n_layers() * n_heads_ * n_ * n_) {}

  bool wants(HeadId /*head*/) const override { return true; }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override {
    for (std::size_t row = 0; row < weights.rows; ++row) {
      const std::size_t offset =
          ((head.layer * n_heads_ + head.head) * n_ + first_query + row) * n_ + first_key;
      std::copy_n(weights.row_data(row), weights.cols,
                  weights_.begin() + static_cast<std::ptrdiff_t>(offset));
    }
  }
  const std::vector<float>& weights() const noexcept { return weights_; }

 private:
  std::size_t n_heads_;
  std::size_t n_;
  std::vector<float> weights_;
};

}  // namespace

ModelRun run_model(const Model& model, const TokenIds& text, std::size_t n_threads) {
  Everything everything(model, text.ids.size());
  AttentionRequest request;
  request.n_threads = n_threads;
  MatrixBuffer stream = output_of(model, text.view(), request, &everything);
  return {everything.weights(), std::move(stream)};
}

std::vector<float> of_attention(const Model& model, const std::vector<float>& patterns) {
  std::vector<float> kept;
  const std::size_t size = patterns.size() / model.n_layers();
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    if (!model.layers[layer].heads.empty()) {
      const auto first = patterns.begin() + static_cast<std::ptrdiff_t>(layer * size);
      kept.insert(kept.end(), first, first + static_cast<std::ptrdiff_t>(size));
    }
  }
  return kept;
}

std::span<const float> all_of(const MatrixBuffer& matrix) {
  return {matrix.view().data, matrix.rows() * matrix.cols()};
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  REQUIRE(a.size() == b.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    largest = std::isnan(difference) ? 1e9 : std::max(largest, difference);
  }
  return largest;
}

void check_numbers(const ReferenceCase& expected) {
  CAPTURE(expected.name);
  const ModelRun found = run_model(expected.model, expected.text);
  CHECK(largest_difference(of_attention(expected.model, found.attention), expected.attention) <
        1e-5);
  if (!expected.logits.empty() && !expected.model.head.unembedding.weight.empty()) {
    const MatrixBuffer head = run_output_head(expected.model, found.stream.view(), 1);
    CHECK(largest_difference(all_of(head), expected.logits) < 1e-4);
  } else {
    CHECK(largest_difference(all_of(found.stream), expected.hidden) < 1e-4);
  }
}

void check_gguf(const std::filesystem::path& folder, const std::string& bytes) {
  const std::string name = folder.filename().string();
  CAPTURE(name);
  const TemporaryFolder written;
  write_file(written.file("model.gguf"), bytes);
  try {
    check_numbers(load_reference_case(folder / "expected.safetensors",
                                      load_gguf(written.file("model.gguf"))));
  } catch (const Error& error) {
    const std::string what = error.what();
    FAIL_CHECK(what);
  }
}

}  // namespace attnviz::test
