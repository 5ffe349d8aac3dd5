#include "attnviz/analysis/why/last_row.h"

#include <algorithm>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/input_columns.h"

namespace attnviz {

namespace {

// Keeps the last row of each head, so that their sum has one order.
class LastRows : public PatternSink {
 public:
  LastRows(const Model& model, std::size_t n_tokens) : n_tokens_(n_tokens) {
    std::size_t n_heads = 0;
    for (const LayerWeights& layer : model.layers) {
      first_.push_back(n_heads);
      n_heads += layer.heads.size();
    }
    rows_ = MatrixBuffer(n_heads, n_tokens);
  }

  bool wants(HeadId /*head*/) const override { return true; }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override {
    if (first_query + weights.rows == n_tokens_) {
      std::ranges::copy(
          weights.row(weights.rows - 1),
          rows_.view().row(first_[head.layer] + head.head).subspan(first_key).begin());
    }
  }

  std::vector<double> mean() const {
    std::vector<double> mean(n_tokens_, 0.0);
    for (std::size_t row = 0; row < rows_.rows(); ++row) {
      for (std::size_t key = 0; key < n_tokens_; ++key) {
        mean[key] += static_cast<double>(rows_.view()(row, key));
      }
    }
    for (double& one : mean) {
      one /= static_cast<double>(rows_.rows());
    }
    return mean;
  }

 private:
  std::size_t n_tokens_;
  std::vector<std::size_t> first_;  // row of each layer
  MatrixBuffer rows_;
};

}  // namespace

std::vector<double> mean_last_row(const Model& model, const TokenizedText& text,
                                  const AttentionRequest& request) {
  LastRows rows(model, text.size());
  run(model, InputColumns(text).view(), request, static_cast<PatternSink&>(rows));
  return rows.mean();
}

}  // namespace attnviz
