#include "attnviz/analysis/why/prediction_change.h"

#include <algorithm>
#include <functional>
#include <numbers>
#include <numeric>
#include <span>
#include <utility>

#include "attnviz/analysis/why/asked_tokens.h"
#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/logits.h"
#include "attnviz/core/parallel_for.h"
#include "attnviz/kernels/entropy.h"

namespace attnviz {

namespace {

// Logits that lie in memory at once, a row for each token.
constexpr std::size_t kLogitRows = kBlockRows;

// work(index of the row, its logits) for all rows, in no order. `memory` is kept for the next time:
// the system would clear it again and again.
void for_each_logits(const Model& model, ConstMatrix last, std::size_t n_threads,
                     MatrixBuffer& memory,
                     const std::function<void(std::size_t, std::span<const float>)>& work) {
  if (memory.rows() < std::min(kLogitRows, last.rows)) {
    memory = MatrixBuffer(std::min(kLogitRows, last.rows), model.head.unembedding.d_out());
  }
  for (std::size_t first = 0; first < last.rows; first += kLogitRows) {
    const ConstMatrix rows = last.row_block(first, std::min(kLogitRows, last.rows - first));
    const Matrix logits = memory.view().row_block(0, rows.rows);
    run_output_head(model, rows, n_threads, logits);
    parallel_for(rows.rows, n_threads, [&](std::size_t row, std::size_t /*thread*/) {
      work(first + row, logits.row(row));
    });
  }
}

}  // namespace

UnchangedPrediction::UnchangedPrediction(const Model& model, ConstMatrix last, std::uint32_t target,
                                         std::size_t n_threads)
    : model_(model),
      target_(target),
      n_threads_(n_threads),
      logits_(run_output_head(model, last, n_threads)),
      log_sums_(last.rows) {
  require_id(target, logits_.cols());
  for (std::size_t row = 0; row < last.rows; ++row) {
    log_sums_[row] = kernels::log_sum_exp(logits_.view().row(row));
  }
}

std::size_t UnchangedPrediction::runs_at_once() const noexcept {
  return std::max<std::size_t>(1, 2 * kLogitRows / log_sums_.size());
}

std::vector<PredictionChange> UnchangedPrediction::changes_to(ConstMatrix lasts) {
  const std::size_t n_tokens = log_sums_.size();
  std::vector<PredictionChange> changes(lasts.rows / n_tokens);
  std::vector<double> bits(lasts.rows);
  const auto look = [&](std::size_t row, std::span<const float> logits) {
    const std::size_t token = row % n_tokens;
    const std::span<const float> before = std::as_const(logits_).view().row(token);
    const double log_sum = kernels::log_sum_exp(logits);
    const double nats = kernels::divergence(before, log_sums_[token], logits, log_sum);
    bits[row] = std::max(0.0, nats) / std::numbers::ln2;
    if (token + 1 == n_tokens) {
      PredictionChange& change = changes[row / n_tokens];
      change.log_probability = static_cast<double>(logits[target_]) - log_sum -
                               (static_cast<double>(before[target_]) - log_sums_[token]);
      change.top = most_probable(logits, 1).front();
    }
  };
  for_each_logits(model_, lasts, n_threads_, memory_, look);
  for (std::size_t run = 0; run < changes.size(); ++run) {
    const std::span<const double> own = std::span(bits).subspan(run * n_tokens, n_tokens);
    changes[run].kl_bits = own.back();
    changes[run].kl_bits_mean =
        std::accumulate(own.begin(), own.end(), 0.0) / static_cast<double>(n_tokens);
  }
  return changes;
}

double UnchangedPrediction::bytes(const Model& model, std::size_t n_tokens) noexcept {
  const auto row_bytes = [](std::size_t width) {
    return static_cast<double>(width) * static_cast<double>(sizeof(float));
  };
  return static_cast<double>(n_tokens + kLogitRows) * row_bytes(model.head.unembedding.d_out()) +
         static_cast<double>(n_tokens + 2 * kLogitRows) * row_bytes(model.config.d_model);
}

std::vector<double> log_probabilities(const Model& model, ConstMatrix last, std::uint32_t target,
                                      std::size_t n_threads) {
  std::vector<double> all(last.rows);
  MatrixBuffer memory;
  for_each_logits(model, last, n_threads, memory,
                  [&](std::size_t row, std::span<const float> logits) {
                    require_id(target, logits.size());
                    all[row] = static_cast<double>(logits[target]) - kernels::log_sum_exp(logits);
                  });
  return all;
}

}  // namespace attnviz
