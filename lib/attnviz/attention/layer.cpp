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
#include "attnviz/kernels/key_panels.h"
#include "attnviz/kernels/matmul.h"
#include "attnviz/kernels/softmax.h"

namespace attnviz {

namespace {

// Tokens that a work item projects: whole register tiles, and whole panels of keys.
constexpr std::size_t kBlockRows = 48;

// Queries that a work item attends with: whole register tiles, and as many as their scores leave in
// the second-level cache.
std::size_t attending_rows(std::size_t n_keys) noexcept {
  constexpr std::size_t kMostRows = 96;
  constexpr std::size_t kFewestRows = 24;
  constexpr std::size_t kScores = std::size_t{160} << 10;
  const std::size_t rows = kScores / std::max<std::size_t>(n_keys, 1) / 12 * 12;
  return std::clamp(rows, kFewestRows, kMostRows);
}

// Waking a thread, and starting one for the first time even more so, costs about as much as this
// many multiply-adds; on a busy machine waiting for it takes longer than less work itself.
constexpr double kWorthAThread = 4e6;

std::size_t n_blocks(std::size_t n_rows, std::size_t block_rows) noexcept {
  return (n_rows + block_rows - 1) / block_rows;
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
  MatrixBuffer query;  // [n_tokens, d_head]
  kernels::KeyPanels keys;
  MatrixBuffer value;  // [n_tokens, d_value]
};

// What a thread needs for one block of queries, kept for the next one.
struct Scratch {
  MatrixBuffer scores;
  std::vector<KeyRange> ranges;
  MatrixBuffer keys;
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

  // work(head, first row, number of rows, scratch) for every head and every block of tokens. The
  // last blocks come first: with a causal mask they take longest.
  template <class Work>
  void for_each_block(std::size_t n_threads, std::size_t block_rows, const Work& work) {
    const std::size_t blocks = n_blocks(stream_.rows, block_rows);
    std::vector<Scratch> scratch(std::max<std::size_t>(n_threads, 1));
    parallel_for(n_heads() * blocks, n_threads, [&](std::size_t item, std::size_t thread) {
      const std::size_t first = (blocks - 1 - item % blocks) * block_rows;
      work(item / blocks, first, std::min(block_rows, stream_.rows - first), scratch[thread]);
    });
  }

  void project() {
    tensors_.reserve(n_heads());
    for (const HeadWeights& head : weights_.heads) {
      tensors_.push_back({MatrixBuffer(stream_.rows, head.d_head()),
                          kernels::KeyPanels(stream_.rows, head.d_head()),
                          MatrixBuffer(stream_.rows, head.d_value())});
    }
    const double multiply_adds = projected_width() * static_cast<double>(stream_.cols);
    for_each_block(
        n_threads(multiply_adds), kBlockRows,
        [this](std::size_t head, std::size_t first, std::size_t count, Scratch& scratch) {
          project_block(weights_.heads[head], first, count, scratch, tensors_[head]);
        });
  }

  void project_block(const HeadWeights& head, std::size_t first, std::size_t count,
                     Scratch& scratch, HeadTensors& to) const {
    const ConstMatrix x = stream_.row_block(first, count);
    if (scratch.keys.cols() != head.d_head()) {
      scratch.keys = MatrixBuffer(kBlockRows, head.d_head());
    }
    const Matrix keys = scratch.keys.view().row_block(0, count);
    project_tokens(model_, head, x, first, to.query.view().row_block(first, count), keys,
                   to.value.view().row_block(first, count));
    to.keys.pack(keys, first);
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
    for_each_block(n_threads(multiply_adds), attending_rows(stream_.rows),
                   [&](std::size_t head, std::size_t first, std::size_t count, Scratch& scratch) {
                     attend_block(head, first, scratch,
                                  all.row_block(first, count)
                                      .col_block(first_col[head], weights_.heads[head].d_value()));
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

  void attend_block(std::size_t head, std::size_t first, Scratch& scratch, Matrix context) {
    constexpr std::size_t kPanel = kernels::KeyPanels::kKeys;
    const std::size_t n_tokens = stream_.rows;
    const std::size_t count = context.rows;
    const HeadTensors& tensors = tensors_[head];
    const RowRule rule = row_rule(model_, {layer_, head}, request_);
    scratch.ranges.clear();
    for (std::size_t query = first; query < first + count; ++query) {
      scratch.ranges.push_back(visible_range(mask_, query, query + 1, n_tokens));
    }
    // Whole panels of the keys that one of the queries sees.
    const KeyRange seen = visible_range(mask_, first, first + count, n_tokens);
    const std::size_t first_key = seen.first / kPanel * kPanel;
    const std::size_t cols = kernels::KeyPanels::rounded_up(seen.end - first_key);
    const Matrix rows = scratch_rows(scratch, count, cols);
    kernels::attention_scores(tensors.query.view().row_block(first, count), tensors.keys,
                              scratch.ranges, first_key, rows);
    if (scores_to_weights(rule, first, scratch.ranges, first_key, rows) != count) {
      return bad_scores_.note(head);
    }
    kernels::mix_values(rows, tensors.value.view(), scratch.ranges, first_key, context);
    if (!all_finite(context)) {
      return bad_contexts_.note(head);
    }
    if (sink_.wants(rule.head)) {
      sink_.rows(rule.head, first, first_key, rows.col_block(0, seen.end - first_key));
    }
  }

  static Matrix scratch_rows(Scratch& scratch, std::size_t rows, std::size_t cols) {
    // A panel more than the columns need: rows whose distance is a large power of two would share
    // the same few places in the cache.
    const std::size_t stride = cols + kernels::KeyPanels::kKeys;
    const std::size_t floats = rows * stride;
    if (scratch.scores.cols() < floats) {
      scratch.scores = MatrixBuffer(1, floats);
    }
    return {scratch.scores.view().data, rows, cols, stride};
  }

  MatrixBuffer combine(ConstMatrix contexts) {
    MatrixBuffer output(stream_.rows, stream_.cols);
    const Matrix all = output.view();
    FirstFailure bad_block;
    const auto multiply_adds = static_cast<double>(contexts.cols * stream_.cols);
    const std::size_t blocks = n_blocks(stream_.rows, kBlockRows);
    parallel_for(blocks, n_threads(multiply_adds), [&](std::size_t block, std::size_t /*thread*/) {
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
