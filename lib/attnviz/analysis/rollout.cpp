#include "attnviz/analysis/rollout.h"

#include <algorithm>
#include <new>
#include <numeric>
#include <string>
#include <utility>

#include "attnviz/analysis/run_stores.h"
#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/layer.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/products.h"

namespace attnviz {

namespace {

std::size_t largest_size(const std::vector<std::vector<HeadId>>& groups) {
  std::size_t largest = 1;
  for (const std::vector<HeadId>& group : groups) {
    largest = std::max(largest, group.size());
  }
  return largest;
}

}  // namespace

std::string_view average_name(AverageOver over) noexcept {
  return word_for(kAverages, over);
}

AverageOver parse_average(std::string_view name) {
  return parse_choice("average", name, kAverages);
}

std::vector<std::vector<HeadId>> average_groups(std::span<const HeadId> heads, AverageOver over) {
  if (over == AverageOver::kAll) {
    return {{heads.begin(), heads.end()}};
  }
  if (!is_rectangle(heads)) {
    throw Error(ErrorKind::kUsage,
                std::string("average ").append(average_name(over)) +
                    ": needs the same heads of every layer; choose a rectangle of layers and "
                    "heads, or all",
                "average");
  }
  std::map<std::size_t, std::vector<HeadId>> groups;
  for (const HeadId head : heads) {
    groups[over == AverageOver::kHeads ? head.layer : head.head].push_back(head);
  }
  std::vector<std::vector<HeadId>> in_order;
  in_order.reserve(groups.size());
  for (auto& [index, group] : groups) {
    in_order.push_back(std::move(group));
  }
  return in_order;
}

AverageSink::AverageSink(std::vector<std::vector<HeadId>> groups, std::size_t n_tokens,
                         float largest_weight)
    : groups_(std::move(groups)),
      n_tokens_(n_tokens),
      sum_(static_cast<double>(largest_size(groups_)) * static_cast<double>(largest_weight)) {
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    for (const HeadId head : groups_[group]) {
      group_of_.emplace(head, group);
    }
  }
  const std::size_t n_weights = checked_product({n_tokens, n_tokens}, "an average of patterns");
  checked_product({n_weights, groups_.size(), sizeof(std::int64_t)}, "averages of patterns");
  try {
    sums_.assign(groups_.size(), Sums(n_weights, 0));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::kIo, "not enough memory for the averages of these patterns");
  }
}

bool AverageSink::wants(HeadId head) const {
  return group_of_.contains(head);
}

void AverageSink::rows(HeadId head, std::size_t first_query, std::size_t first_key,
                       ConstMatrix weights) {
  const auto group = group_of_.find(head);
  if (group == group_of_.end()) {
    return;
  }
  for (std::size_t row = 0; row < weights.rows; ++row) {
    const std::size_t query = first_query + row;
    const std::lock_guard lock(row_locks_[query % row_locks_.size()]);
    std::int64_t* const sums = sums_[group->second].data() + query * n_tokens_ + first_key;
    const float* const from = weights.row_data(row);
    for (std::size_t key = 0; key < weights.cols; ++key) {
      sums[key] += sum_.of(from[key]);
    }
  }
}

MatrixBuffer AverageSink::take_mean(std::size_t group) {
  MatrixBuffer mean(n_tokens_, n_tokens_);
  const Sums sums = std::move(sums_[group]);
  const std::size_t n_heads = groups_[group].size();
  std::transform(sums.begin(), sums.end(), mean.view().data, [this, n_heads](std::int64_t sum) {
    return static_cast<float>(sum_.mean(sum, n_heads));
  });
  return mean;
}

MatrixBuffer mean_pattern(std::span<const ConstMatrix> patterns) {
  MatrixBuffer mean(patterns.front().rows, patterns.front().cols);
  const Matrix to = mean.view();
  for (std::size_t query = 0; query < to.rows; ++query) {
    for (std::size_t key = 0; key < to.cols; ++key) {
      double sum = 0.0;
      for (const ConstMatrix& pattern : patterns) {
        sum += static_cast<double>(pattern(query, key));
      }
      to(query, key) = static_cast<float>(sum / static_cast<double>(patterns.size()));
    }
  }
  return mean;
}

namespace {

// Each weight times what its key would pass on, with rows scaled to sum to 1.
MatrixBuffer weighted_rows(ConstMatrix weights, std::span<const double> norms) {
  MatrixBuffer weighted(weights.rows, weights.cols);
  std::vector<double> row(weights.cols);
  for (std::size_t query = 0; query < weights.rows; ++query) {
    std::ranges::transform(weights.row(query), norms, row.begin(), [](float weight, double norm) {
      return static_cast<double>(weight) * norm;
    });
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    if (sum > 0.0) {
      std::ranges::transform(row, weighted.view().row_data(query),
                             [sum](double value) { return static_cast<float>(value / sum); });
    }
  }
  return weighted;
}

// In place: (1 - r) · A + r · I, with rows scaled to sum to 1.
void add_residual(double share, Matrix attention) {
  for (std::size_t query = 0; query < attention.rows; ++query) {
    const std::span<float> row = attention.row(query);
    const double sum = share + (1.0 - share) * sum_of(row);
    if (!(sum > 0.0)) {
      continue;
    }
    for (std::size_t key = 0; key < row.size(); ++key) {
      const double weight = (1.0 - share) * static_cast<double>(row[key]);
      row[key] = static_cast<float>((key == query ? weight + share : weight) / sum);
    }
  }
}

}  // namespace

bool has_residual(const Model& model, std::size_t layer) noexcept {
  return model.config.order != LayerOrder::kAttentionOnly || adds_stream_first(model, layer);
}

Rollout::Rollout(const Model& model, const std::vector<HeadId>& heads, std::size_t n_tokens,
                 const AttentionRequest& request, const RolloutRequest& rollout)
    : model_(model),
      n_tokens_(n_tokens),
      n_threads_(request.n_threads),
      largest_sum_(request.largest_sum()),
      rollout_(rollout) {
  for (const HeadId head : heads) {
    heads_[head.layer].push_back(head);
  }
  for (auto& layer : heads_) {
    std::ranges::sort(layer.second);
  }
  if (rollout_.weighted) {
    norms_.emplace(model, heads, n_threads_, *this);
  }
}

bool Rollout::wants(HeadId head) const {
  const auto layer = heads_.find(head.layer);
  return layer != heads_.end() && std::ranges::binary_search(layer->second, head);
}

bool Rollout::wants(std::size_t layer, LayerStep step) const {
  return step == LayerStep::kBefore && heads_.contains(layer);
}

// The stream itself is not needed: it marks the beginning of a layer.
void Rollout::stream(const RunPlace& at, ConstMatrix /*x*/) {
  finish_layer();
  layer_ = at.layer;
  if (rollout_.over == RolloutOver::kMean) {
    mean_.emplace(average_groups(heads_.at(at.layer), AverageOver::kAll), n_tokens_, largest_sum_);
  } else {
    largest_ = MatrixBuffer(n_tokens_, n_tokens_);
  }
}

void Rollout::values(std::size_t layer, std::span<const HeadValues> heads) {
  norms_->values(layer, heads);
}

void Rollout::rows(HeadId head, std::size_t first_query, std::size_t first_key,
                   ConstMatrix weights) {
  if (!wants(head)) {
    return;
  }
  if (first_key + weights.cols > first_query + weights.rows) {
    looks_ahead_ = true;
  }
  if (!norms_) {
    return add(head, first_query, first_key, weights);
  }
  const MatrixBuffer weighted =
      weighted_rows(weights, norms_->of(head).subspan(first_key, weights.cols));
  add(head, first_query, first_key, weighted.view());
}

void Rollout::add(HeadId head, std::size_t first_query, std::size_t first_key,
                  ConstMatrix weights) {
  if (mean_) {
    mean_->rows(head, first_query, first_key, weights);
  } else {
    keep_largest(first_query, first_key, weights);
  }
}

void Rollout::keep_largest(std::size_t first_query, std::size_t first_key, ConstMatrix weights) {
  for (std::size_t row = 0; row < weights.rows; ++row) {
    const std::size_t query = first_query + row;
    const std::lock_guard lock(row_locks_[query % row_locks_.size()]);
    float* const largest = largest_.view().row_data(query) + first_key;
    std::ranges::transform(weights.row(row), std::span(largest, weights.cols), largest,
                           [](float a, float b) { return std::max(a, b); });
  }
}

void Rollout::finish_layer() {
  if (!layer_) {
    return;
  }
  MatrixBuffer attention = mean_ ? mean_->take_mean(0) : std::move(largest_);
  mean_.reset();
  const double share = has_residual(model_, *layer_) ? static_cast<double>(rollout_.residual) : 0.0;
  add_residual(share, attention.view());
  if (reached_.rows() == 0) {
    reached_ = std::move(attention);
    return;
  }
  MatrixBuffer reached(n_tokens_, n_tokens_);
  const auto a = std::as_const(attention).view();
  const auto before = std::as_const(reached_).view();
  for_each_block(n_tokens_, n_tokens_, n_tokens_, n_threads_, [&](const OutputBlock& block) {
    // If queries see no later keys, most of both matrices is 0.
    const std::size_t first = looks_ahead_ ? 0 : block.first_col;
    const std::size_t end = looks_ahead_ ? n_tokens_ : block.first_row + block.n_rows;
    if (first < end) {
      kernels::matmul(a.row_block(block.first_row, block.n_rows).col_block(first, end - first),
                      before.row_block(first, end - first).col_block(block.first_col, block.n_cols),
                      {}, block.of(reached.view()));
    }
  });
  reached_ = std::move(reached);
}

MatrixBuffer Rollout::take() {
  finish_layer();
  layer_.reset();
  return std::move(reached_);
}

double rollout_bytes(std::size_t n_tokens) noexcept {
  // At most, at the end of a layer: its sums (8 bytes each), its mean, the product of the layers
  // before and the new product.
  constexpr double kFloats = 5.0;
  const auto n = static_cast<double>(n_tokens);
  return kFloats * n * n * static_cast<double>(sizeof(float));
}

}  // namespace attnviz
