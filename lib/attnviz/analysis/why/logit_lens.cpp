#include "attnviz/analysis/why/logit_lens.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attnviz/analysis/why/asked_tokens.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/input_columns.h"
#include "attnviz/attention/logits.h"
#include "attnviz/kernels/entropy.h"

namespace attnviz {

namespace {

// One token\'s rows of the stream, in the order of the run.
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
  require_one_stream(model, "so that a layer's stream alone is not what the output head reads");
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

}  // namespace attnviz
