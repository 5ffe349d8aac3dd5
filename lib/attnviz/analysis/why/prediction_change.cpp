#include "attnviz/analysis/why/prediction_change.h"

#include <algorithm>
#include <functional>
#include <numbers>
#include <numeric>
#include <span>

#include "attnviz/analysis/why/asked_tokens.h"
#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/logits.h"
#include "attnviz/core/parallel_for.h"
#include "attnviz/kernels/entropy.h"

namespace attnviz {

namespace {

// Logits that lie in memory at once, a row for each token.
constexpr std::size_t kLogitRows = kBlockRows;

// work(index of the row, its logits) for all rows, in no order.
void for_each_logits(const Model& model, ConstMatrix last, std::size_t n_threads,
                     const std::function<void(std::size_t, std::span<const float>)>& work) {
  for (std::size_t first = 0; first < last.rows; first += kLogitRows) {
    const ConstMatrix rows = last.row_block(first, std::min(kLogitRows, last.rows - first));
    const MatrixBuffer logits = run_output_head(model, rows, n_threads);
    parallel_for(rows.rows, n_threads, [&](std::size_t row, std::size_t /*thread*/) {
      work(first + row, logits.view().row(row));
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

PredictionChange UnchangedPrediction::change_to(ConstMatrix last) const {
  PredictionChange change;
  std::vector<double> bits(last.rows);
  for_each_logits(model_, last, n_threads_, [&](std::size_t row, std::span<const float> logits) {
    const std::span<const float> before = logits_.view().row(row);
    const double log_sum = kernels::log_sum_exp(logits);
    const double nats = kernels::divergence(before, log_sums_[row], logits, log_sum);
    bits[row] = std::max(0.0, nats) / std::numbers::ln2;
    if (row + 1 == last.rows) {
      change.log_probability = static_cast<double>(logits[target_]) - log_sum -
                               (static_cast<double>(before[target_]) - log_sums_[row]);
      change.top = most_probable(logits, 1).front();
    }
  });
  change.kl_bits = bits.back();
  change.kl_bits_mean =
      std::accumulate(bits.begin(), bits.end(), 0.0) / static_cast<double>(bits.size());
  return change;
}

double UnchangedPrediction::bytes(const Model& model, std::size_t n_tokens) noexcept {
  const std::size_t rows = n_tokens + std::min(kLogitRows, n_tokens);
  return static_cast<double>(rows) * static_cast<double>(sizeof(float)) *
         static_cast<double>(model.head.unembedding.d_out());
}

std::vector<double> log_probabilities(const Model& model, ConstMatrix last, std::uint32_t target,
                                      std::size_t n_threads) {
  std::vector<double> all(last.rows);
  for_each_logits(model, last, n_threads, [&](std::size_t row, std::span<const float> logits) {
    require_id(target, logits.size());
    all[row] = static_cast<double>(logits[target]) - kernels::log_sum_exp(logits);
  });
  return all;
}

}  // namespace attnviz
