#include "attnviz/analysis/why/logit_lens.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/engine.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

void require_token(std::size_t at, std::size_t n_tokens) {
  if (at >= n_tokens) {
    throw Error(ErrorKind::kUsage,
                fmt::format("token {}: the text has {}", at, counted(n_tokens, "token")));
  }
}

void require_id(std::uint32_t id, std::size_t n_vocab) {
  if (id >= n_vocab) {
    throw Error(ErrorKind::kUsage,
                fmt::format("token {}: expected less than {}", id, counted(n_vocab, "token")));
  }
}

void require_one_stream(const Model& model, std::string_view consequence) {
  if (model.altup.present()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: its layers compute with one of {} residual streams, which each of "
                            "them mixes (AltUp), {}",
                            model.config.name, model.altup.n_streams(), consequence));
  }
}

namespace {

// One token's rows of the stream, in the order of the run.
class StreamRows : public RunObserver {
 public:
  StreamRows(const Model& model, std::size_t at)
      : model_(model), at_(at), rows_(2 * model.n_layers() + 1, model.config.d_model) {}

  bool wants(std::size_t layer, LayerStep step) const override {
    return step == LayerStep::kBefore || step == LayerStep::kMiddle ||
           (step == LayerStep::kAfter && layer + 1 == model_.n_layers());
  }
  void stream(const RunPlace& at, ConstMatrix x) override {
    std::ranges::copy(x.row(at_), rows_.view().row(points_.size()).begin());
    points_.push_back({at.layer, at.step, {}, 0.0, 0});
  }

  ConstMatrix rows() const { return rows_.view(); }
  std::vector<LensPoint> take() { return std::move(points_); }

 private:
  const Model& model_;
  std::size_t at_;
  MatrixBuffer rows_;
  std::vector<LensPoint> points_;
};

void look(std::span<const float> logits, std::uint32_t target, std::size_t n_top,
          LensPoint& point) {
  point.top = most_probable(logits, n_top);
  point.log_sum = kernels::log_sum_exp(logits);
  point.target_rank = rank_of(logits, target);
  point.target_log_probability = static_cast<double>(logits[target]) - point.log_sum;
}

}  // namespace

std::vector<LensPoint> logit_lens(const Model& model, const TokenizedText& text,
                                  const AttentionRequest& request, std::size_t at,
                                  std::uint32_t target, std::size_t n_top) {
  require_token(at, text.size());
  require_one_stream(model, "so the output head does not read a single stream");
  const InputColumns input(text);
  StreamRows rows(model, at);
  run(model, input.view(), request, rows);
  const MatrixBuffer logits = run_output_head(model, rows.rows(), request.n_threads);
  require_id(target, logits.cols());
  std::vector<LensPoint> points = rows.take();
  for (std::size_t i = 0; i < points.size(); ++i) {
    look(logits.view().row(i), target, n_top, points[i]);
  }
  return points;
}

namespace {

// Keeps the last row of each head, so that they are added in one order.
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
