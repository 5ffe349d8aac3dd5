#include "attnviz/attention/parts/cross_attention.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/parts/layer_parts.h"
#include "attnviz/core/error.h"
#include "attnviz/core/threads.h"
#include "attnviz/kernels/products.h"
#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

namespace {

class CrossRun {
 public:
  CrossRun(const Model& model, const CrossPlace& place, const AttentionRequest& request,
           RunObserver& observer, CrossMemory& memory)
      : model_(model),
        place_(place),
        cross_(model.layers[place.layer].cross),
        request_(request),
        sink_(observer.cross_patterns()),
        memory_(memory) {}

  void attend(Matrix out) {
    std::size_t width = 0;
    for (const HeadWeights& head : cross_.heads) {
      first_col_.push_back(width);
      width += head.d_value();
    }
    make_keys();
    contexts_ = shaped(memory_.contexts, place_.x.rows, width);
    const std::size_t n_keys = memory_.encoded.rows;
    const double work = static_cast<double>(place_.x.rows) * static_cast<double>(width) *
                        static_cast<double>(place_.x.cols + n_keys);
    const std::size_t n_threads = worthwhile_threads(work, request_.n_threads);
    memory_.queries.resize(std::max(memory_.queries.size(), n_threads));
    memory_.blocks.resize(std::max(memory_.blocks.size(), n_threads));
    faults_.assign(cross_.heads.size(), BlockFault::kNone);
    parallel_for(cross_.heads.size(), n_threads,
                 [&](std::size_t head, std::size_t thread) { attend_head(head, thread); });
    check_heads();
    blocked_product(contexts_, cross_.output, request_.n_threads, out);
    if (!kernels::all_finite(out)) {
      fail(fmt::format("the output of cross-attention is not a finite number ({})",
                       why_not_finite(model_, place_.layer)));
    }
  }

 private:
  // For a text that grows, they have been computed before.
  void make_keys() {
    memory_.layers.resize(model_.n_layers());
    CrossKeys& kept = memory_.layers[place_.layer];
    if (!kept.keys.empty()) {
      return;
    }
    const ConstMatrix source = memory_.encoded;
    if (source.cols != cross_.heads.front().key.d_in()) {
      fail(fmt::format("cross-attention: expected a source of {} dimensions, found {}",
                       cross_.heads.front().key.d_in(), source.cols));
    }
    CrossKeys made;
    for (const HeadWeights& head : cross_.heads) {
      MatrixBuffer keys(source.rows, head.d_head());
      blocked_product(source, head.key, request_.n_threads, keys.view());
      made.keys.emplace_back(source.rows, head.d_head()).pack(keys.view(), 0);
      made.values.emplace_back(source.rows, head.d_value());
      blocked_product(source, head.value, request_.n_threads, made.values.back().view());
    }
    kept = std::move(made);
  }

  RowRule rule_of(std::size_t head) const {
    const auto d_head = static_cast<double>(cross_.heads[head].d_head());
    const double own = cross_.score_scale == 0.0 ? 1.0 / std::sqrt(d_head) : cross_.score_scale;
    RowRule rule;
    rule.head = {place_.layer, head};
    rule.mask.kind = MaskKind::kNone;
    rule.factor = static_cast<float>((request_.scale ? own : 1.0) /
                                     static_cast<double>(request_.temperature));
    rule.dropout = {request_.dropout, request_.dropout_seed};
    return rule;
  }

  void attend_head(std::size_t head, std::size_t thread) {
    const HeadWeights& weights = cross_.heads[head];
    const Matrix queries = shaped(memory_.queries[thread], place_.x.rows, weights.d_head());
    kernels::matmul(place_.x, weights.query.weight, weights.query.bias, queries);
    const CrossKeys& kept = memory_.layers[place_.layer];
    const HeadTensors tensors{queries, &kept.keys[head], kept.values[head].view(),
                              place_.first_query};
    const RowRule rule = rule_of(head);
    const bool is_wanted = sink_ != nullptr && sink_->wants(rule.head);
    const std::size_t rows = attending_rows(memory_.encoded.rows);
    for (std::size_t first = 0; first < queries.rows; first += rows) {
      const std::size_t count = std::min(rows, queries.rows - first);
      const std::size_t query = place_.first_query + first;
      const Matrix context =
          contexts_.row_block(first, count).col_block(first_col_[head], weights.d_value());
      const BlockWeights block =
          attend_block(tensors, rule, query, count, memory_.blocks[thread], context);
      if (block.fault != BlockFault::kNone) {
        faults_[head] = block.fault;
        return;
      }
      if (is_wanted) {
        sink_->rows(rule.head, query, block.first_key, block.weights);
      }
    }
  }

  void check_heads() const {
    for (std::size_t head = 0; head < faults_.size(); ++head) {
      if (faults_[head] != BlockFault::kNone) {
        fail(fmt::format("head {} of cross-attention: a {} is not a finite number ({})", head,
                         faults_[head] == BlockFault::kScore ? "score" : "context",
                         why_not_finite(model_, place_.layer, request_.temperature)));
      }
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: layer {}, {}", model_.config.name, place_.layer, what));
  }

  const Model& model_;
  const CrossPlace& place_;
  const CrossAttention& cross_;
  const AttentionRequest& request_;
  PatternSink* sink_;  // null: weights are not wanted
  CrossMemory& memory_;
  Matrix contexts_;
  std::vector<std::size_t> first_col_;  // of each head in the contexts
  std::vector<BlockFault> faults_;      // of each head
};

}  // namespace

void attend_across(const Model& model, const CrossPlace& place, const AttentionRequest& request,
                   RunObserver& observer, CrossMemory& memory, Matrix out) {
  CrossRun(model, place, request, observer, memory).attend(out);
}

double cross_bytes(const Model& model, std::size_t n_tokens, std::size_t n_source) noexcept {
  const auto tokens = static_cast<double>(n_tokens);
  const auto source = static_cast<double>(n_source);
  double kept = 0.0;
  double most = 0.0;   // contexts, and queries: a thread may run any head
  double width = 0.0;  // of the source
  for (const LayerWeights& layer : model.layers) {
    double of_tokens = 0.0;
    for (const HeadWeights& head : layer.cross.heads) {
      const auto d_head = static_cast<double>(head.d_head());
      const auto d_value = static_cast<double>(head.d_value());
      kept +=
          static_cast<double>(kernels::KeyPanels::rounded_up(n_source)) * d_head + source * d_value;
      of_tokens += d_head + d_value;
      width = static_cast<double>(head.key.d_in());
    }
    most = std::max(most, of_tokens);
  }
  return (kept + tokens * most + source * width) * static_cast<double>(sizeof(float));
}

}  // namespace attnviz
