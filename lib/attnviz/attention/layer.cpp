#include "attnviz/attention/layer.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>
#include <vector>

#include "attnviz/attention/head_math.h"
#include "attnviz/attention/row_weights.h"
#include "attnviz/core/error.h"
#include "attnviz/core/parallel_for.h"
#include "attnviz/kernels/attention_kernels.h"
#include "attnviz/kernels/matmul.h"

namespace attnviz {

namespace {

// Queries a work item takes: whole register tiles, and few enough that their weights stay in the
// second-level cache for some thousand tokens.
constexpr std::size_t kBlockRows = 48;

// Starting and joining a thread costs as much as about this many multiply-adds; with less to do, or
// on a busy machine, waiting for a second thread takes longer than the work itself.
constexpr double kWorthAThread = 4e6;

std::size_t n_blocks(std::size_t n_rows) noexcept {
  return (n_rows + kBlockRows - 1) / kBlockRows;
}

// The first thing that went wrong, in the order of heads, whatever order threads work in.
class FirstFailure {
 public:
  void note(std::size_t where) noexcept {
    std::size_t first = first_.load();
    while (where < first && !first_.compare_exchange_weak(first, where)) {
    }
  }
  bool none() const noexcept { return first_ == kNone; }
  std::size_t where() const noexcept { return first_; }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::atomic<std::size_t> first_{kNone};
};

// One head's projected tokens.
struct HeadTensors {
  MatrixBuffer query;           // [n_tokens, d_head]
  MatrixBuffer key_transposed;  // [d_head, n_tokens]
  MatrixBuffer value;           // [n_tokens, d_value]
};

bool all_finite(ConstMatrix x) noexcept {
  for (std::size_t row = 0; row < x.rows; ++row) {
    if (!kernels::all_finite(x.row(row))) {
      return false;
    }
  }
  return true;
}

class LayerRun {
 public:
  LayerRun(const Model& model, std::size_t layer, ConstMatrix stream,
           const AttentionRequest& request, PatternSink& sink)
      : model_(model),
        layer_(layer),
        weights_(model.layers[layer]),
        stream_(stream),
        request_(request),
        mask_(request.mask.value_or(model.config.mask)),
        sink_(sink) {}

  MatrixBuffer output() {
    project();
    MatrixBuffer contexts = attend();
    return weights_.has_output() ? combine(std::as_const(contexts).view()) : std::move(contexts);
  }

 private:
  std::size_t n_heads() const noexcept { return weights_.heads.size(); }

  // The columns of all heads' queries, keys and values together.
  double projected_width() const noexcept {
    std::size_t width = 0;
    for (const HeadWeights& head : weights_.heads) {
      width += 2 * head.d_head() + head.d_value();
    }
    return static_cast<double>(width);
  }

  // Threads for work that takes each token `multiply_adds`.
  std::size_t n_threads(double multiply_adds) const noexcept {
    const double whole = multiply_adds * static_cast<double>(stream_.rows);
    return whole < kWorthAThread ? 1 : request_.n_threads;
  }

  // work(head, first row, number of rows) for every head and every block of tokens.
  template <class Work>
  void for_each_block(std::size_t n_threads, const Work& work) {
    const std::size_t blocks = n_blocks(stream_.rows);
    parallel_for(n_heads() * blocks, n_threads, [&](std::size_t item) {
      const std::size_t first = item % blocks * kBlockRows;
      work(item / blocks, first, std::min(kBlockRows, stream_.rows - first));
    });
  }

  void project() {
    tensors_.reserve(n_heads());
    for (const HeadWeights& head : weights_.heads) {
      tensors_.push_back({MatrixBuffer(stream_.rows, head.d_head()),
                          MatrixBuffer(head.d_head(), stream_.rows),
                          MatrixBuffer(stream_.rows, head.d_value())});
    }
    const double multiply_adds = projected_width() * static_cast<double>(stream_.cols);
    for_each_block(n_threads(multiply_adds),
                   [this](std::size_t head, std::size_t first, std::size_t count) {
                     project_block(weights_.heads[head], first, count, tensors_[head]);
                   });
  }

  void project_block(const HeadWeights& head, std::size_t first, std::size_t count,
                     HeadTensors& to) const {
    const ConstMatrix x = stream_.row_block(first, count);
    MatrixBuffer key(count, head.d_head());
    const Matrix query = to.query.view().row_block(first, count);
    project_tokens(model_, head, x, first, query, key.view(),
                   to.value.view().row_block(first, count));
    kernels::transpose(key.view(), to.key_transposed.view().col_block(first, count));
  }

  // Every head's context, side by side: [n_tokens, sum of d_value].
  MatrixBuffer attend() {
    std::vector<std::size_t> first_col;
    std::size_t cols = 0;
    for (const HeadWeights& head : weights_.heads) {
      first_col.push_back(cols);
      cols += head.d_value();
    }
    MatrixBuffer contexts(stream_.rows, cols);
    const Matrix all = contexts.view();
    const double multiply_adds = projected_width() * static_cast<double>(stream_.rows);
    for_each_block(n_threads(multiply_adds), [&](std::size_t head, std::size_t first,
                                                 std::size_t count) {
      attend_block(
          head, first,
          all.row_block(first, count).col_block(first_col[head], weights_.heads[head].d_value()));
    });
    if (!bad_scores_.none()) {
      fail(fmt::format("head {}: a score is not a finite number (weights too large?)",
                       bad_scores_.where()));
    }
    if (!bad_contexts_.none()) {
      fail(fmt::format("head {}: a context is not a finite number (weights too large?)",
                       bad_contexts_.where()));
    }
    return contexts;
  }

  void attend_block(std::size_t head, std::size_t first, Matrix context) {
    const std::size_t n_tokens = stream_.rows;
    const std::size_t count = context.rows;
    const HeadTensors& tensors = tensors_[head];
    const RowRule rule = row_rule(model_, {layer_, head}, request_);
    const KeyRange range = visible_range(mask_, first, first + count, n_tokens);
    const bool wanted = sink_.wants(rule.head);

    // Whole rows only for those who want them: a window's cost must not grow with the text.
    MatrixBuffer rows(count, wanted ? n_tokens : range.size());
    const Matrix block = rows.view().col_block(wanted ? range.first : 0, range.size());
    kernels::attention_scores(tensors.query.view().row_block(first, count),
                              tensors.key_transposed.view().col_block(range.first, range.size()),
                              score_factor(weights_.heads[head], request_), block);
    for (std::size_t row = 0; row < count; ++row) {
      if (!scores_to_weights(rule, first + row, n_tokens, range, block.row(row))) {
        return bad_scores_.note(head);
      }
    }
    kernels::matmul(block, tensors.value.view().row_block(range.first, range.size()), {}, context);
    if (!all_finite(context)) {
      return bad_contexts_.note(head);
    }
    if (wanted) {
      sink_.rows(rule.head, first, rows.view());
    }
  }

  MatrixBuffer combine(ConstMatrix contexts) {
    MatrixBuffer output(stream_.rows, stream_.cols);
    const Matrix all = output.view();
    FirstFailure bad_block;
    const auto multiply_adds = static_cast<double>(contexts.cols * stream_.cols);
    parallel_for(n_blocks(stream_.rows), n_threads(multiply_adds), [&](std::size_t block) {
      const std::size_t first = block * kBlockRows;
      const std::size_t count = std::min(kBlockRows, stream_.rows - first);
      const Matrix out = all.row_block(first, count);
      combine_block(contexts.row_block(first, count), out);
      if (model_.config.residual) {
        kernels::add(stream_.row_block(first, count), out);
      }
      if (!all_finite(out)) {
        bad_block.note(block);
      }
    });
    if (!bad_block.none()) {
      fail("the output is not a finite number (weights too large?)");
    }
    return output;
  }

  // Either form adds up the same products in the same order, so both give the same bits.
  void combine_block(ConstMatrix contexts, Matrix out) const {
    if (!weights_.output.weight.empty()) {
      return kernels::matmul(contexts, weights_.output.weight, weights_.output.bias, out);
    }
    std::size_t col = 0;
    for (const HeadWeights& head : weights_.heads) {
      const ConstMatrix context = contexts.col_block(col, head.d_value());
      if (col == 0) {
        kernels::matmul(context, head.output, weights_.output.bias, out);
      } else {
        kernels::matmul_add(context, head.output, out);
      }
      col += head.d_value();
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: layer {}, {}", model_.config.name, layer_, what));
  }

  const Model& model_;
  std::size_t layer_;
  const LayerWeights& weights_;
  ConstMatrix stream_;
  const AttentionRequest& request_;
  Mask mask_;
  PatternSink& sink_;
  std::vector<HeadTensors> tensors_;  // by head
  FirstFailure bad_scores_;           // by head
  FirstFailure bad_contexts_;         // by head
};

}  // namespace

MatrixBuffer run_layer(const Model& model, std::size_t layer, ConstMatrix stream,
                       const AttentionRequest& request, PatternSink& sink) {
  return LayerRun(model, layer, stream, request, sink).output();
}

double layer_bytes(const Model& model, std::size_t n_tokens) noexcept {
  constexpr double kStreams = 3.0;  // its input and its output, and the contexts between
  double widest = 0.0;
  for (const LayerWeights& layer : model.layers) {
    double width = kStreams * static_cast<double>(model.config.d_model);
    for (const HeadWeights& head : layer.heads) {
      width += static_cast<double>(2 * head.d_head() + head.d_value());
    }
    widest = std::max(widest, width);
  }
  return static_cast<double>(n_tokens) * widest * static_cast<double>(sizeof(float));
}

}  // namespace attnviz
