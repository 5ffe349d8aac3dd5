#include "attnviz/attention/layer.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/parts/layer_parts.h"
#include "attnviz/attention/projected_heads.h"
#include "attnviz/core/error.h"
#include "attnviz/core/threads.h"
#include "attnviz/kernels/products.h"
#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

namespace {

// Bytes of projected tokens in memory at once. A larger limit would only cost memory: the blocks of
// one long text already keep all threads busy.
constexpr double kTensorsAtOnce = 64e6;

std::size_t n_blocks(std::size_t n_rows, std::size_t block_rows) noexcept {
  return (n_rows + block_rows - 1) / block_rows;
}

// Columns of a head's query, key and value together.
double tensor_width(const HeadWeights& head) noexcept {
  return static_cast<double>(2 * head.d_head() + head.d_value());
}

// The first head in which something went wrong, regardless of the order in which threads work;
// within a head, a bad score comes before a bad context.
class FirstFailure {
 public:
  void note(std::size_t head, BlockFault fault) noexcept {
    const std::size_t where = 2 * head + (fault == BlockFault::kContext ? 1 : 0);
    std::size_t first = first_.load();
    while (where < first && !first_.compare_exchange_weak(first, where)) {
    }
  }
  bool none() const noexcept { return first_ == kNone; }
  std::size_t head() const noexcept { return first_ / 2; }
  BlockFault fault() const noexcept {
    return first_ % 2 == 0 ? BlockFault::kScore : BlockFault::kContext;
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::atomic<std::size_t> first_{kNone};
};

class AttentionRun {
 public:
  AttentionRun(const Model& model, std::size_t layer, ConstMatrix x,
               const AttentionRequest& request, RunObserver& observer, LayerMemory& memory,
               Progress* progress)
      : model_(model),
        layer_(layer),
        weights_(model.layers[layer]),
        x_(x),
        request_(request),
        observer_(observer),
        sink_(observer.patterns()),
        memory_(memory),
        n_before_(memory.n_before()),
        n_tokens_(n_before_ + x.rows),
        rotation_(memory.rotation(model, weights_, n_tokens_)),
        joint_(joint_factors(weights_, x, request.n_threads)),
        inputs_(head_inputs(weights_, x, request.n_threads, memory.latents)),
        progress_(progress) {}

  MatrixBuffer output(ConstMatrix residual) {
    std::vector<std::size_t> heads(weights_.heads.size());
    std::iota(heads.begin(), heads.end(), std::size_t{0});
    first_col_ = context_columns(weights_);
    contexts_ = shaped(memory_.contexts, x_.rows, first_col_.back());
    const ConstMatrix gates = open_gates();
    attend_in_groups(heads);
    for (std::size_t row = 0; row < gates.rows; ++row) {
      std::ranges::transform(contexts_.row(row), gates.row(row), contexts_.row_data(row),
                             std::multiplies<>());
    }
    if (observer_.wants(layer_, LayerStep::kContexts)) {
      observer_.contexts({layer_, LayerStep::kContexts, n_before_}, contexts_);
      if (!weights_.has_output()) {
        check_contexts();
      }
    }
    return weights_.has_output() ? combine(contexts_, residual)
                                 : std::exchange(memory_.contexts, {});
  }

  // σ of the output gates, of all heads side by side; empty without gates.
  ConstMatrix open_gates() {
    if (weights_.heads.front().output_gate.weight.empty()) {
      return {};
    }
    const Matrix gates = shaped(memory_.gates, x_.rows, contexts_.cols);
    for (std::size_t head = 0; head < weights_.heads.size(); ++head) {
      const Projection& gate = weights_.heads[head].output_gate;
      const Matrix own = gates.col_block(first_col_[head], gate.d_out());
      blocked_product(x_, gate, request_.n_threads, own, [&own](const OutputBlock& block) {
        kernels::activate(kernels::Activation::kSigmoid, block.of(own));
      });
    }
    if (observer_.wants(layer_, LayerStep::kGates)) {
      observer_.gates({layer_, LayerStep::kGates, n_before_}, gates);
    }
    return gates;
  }

  void patterns() {
    memory_.contexts = {};
    memory_.output = {};
    std::vector<std::size_t> heads;
    for (std::size_t head = 0; head < weights_.heads.size(); ++head) {
      if (is_wanted({layer_, head})) {
        heads.push_back(head);
      }
    }
    attend_in_groups(heads);
  }

 private:
  bool is_wanted(HeadId head) const { return sink_ != nullptr && sink_->wants(head); }
  bool is_ordered() const { return sink_ != nullptr && sink_->ordered(); }
  bool with_contexts() const noexcept { return !first_col_.empty(); }

  // Threads for work that takes `multiply_adds` per token.
  std::size_t n_threads(double multiply_adds) const noexcept {
    return worthwhile_threads(multiply_adds * static_cast<double>(x_.rows), request_.n_threads);
  }

  void attend_in_groups(std::span<const std::size_t> heads) {
    const double token_bytes = static_cast<double>(x_.rows * sizeof(float));
    while (!heads.empty()) {
      std::size_t count = 1;
      double bytes = token_bytes * tensor_width(weights_.heads[heads.front()]);
      while (count < heads.size()) {
        bytes += token_bytes * tensor_width(weights_.heads[heads[count]]);
        if (bytes > kTensorsAtOnce) {
          break;
        }
        ++count;
      }
      const ProjectedHeads projected = project(heads.first(count));
      report_values(heads.first(count), projected);
      attend(heads.first(count), projected);
      heads = heads.subspan(count);
    }
  }

  bool wants_values(std::span<const std::size_t> heads) const {
    return std::ranges::any_of(heads, [this](std::size_t head) {
      return observer_.wants_values({layer_, head});
    });
  }

  void report_values(std::span<const std::size_t> heads, const ProjectedHeads& projected) {
    std::vector<HeadValues> wanted;
    for (std::size_t index = 0; index < heads.size(); ++index) {
      if (observer_.wants_values({layer_, heads[index]})) {
        wanted.push_back({heads[index], projected.tensors(index).value});
      }
    }
    if (!wanted.empty()) {
      observer_.values(layer_, wanted);
    }
  }

  ProjectedHeads project(std::span<const std::size_t> heads) {
    const std::size_t of_keys = weights_.keys_from.value_or(layer_);
    const NewTokens tokens{x_.rows, n_before_, memory_.kept(model_, of_keys, n_tokens_), &joint_,
                           weights_.keys_from.has_value()};
    ProjectedHeads projected(weights_, rotation_, heads, tokens,
                             with_contexts() || wants_values(heads), memory_.tensors);
    const std::size_t blocks = n_blocks(x_.rows, kProjectedRows);
    const std::size_t threads = n_threads(projected.width() * static_cast<double>(x_.cols));
    std::vector<MatrixBuffer>& scratch = memory_.keys;
    scratch.resize(std::max(scratch.size(), threads));
    // All products of one block of tokens come before the next block: the tokens, which are larger
    // than the weights of one product, stay in the second-level cache.
    constexpr std::size_t kMostTogether = 8;
    constexpr std::size_t kPartsOfAThread = 4;  // fewer would leave some threads idle at the end
    const std::size_t share = projected.n_products() * blocks / (kPartsOfAThread * threads);
    const auto products = projected.products(
        threads == 1 ? kMostTogether : std::clamp<std::size_t>(share, 1, kMostTogether));
    parallel_for(products.size() * blocks, threads, [&](std::size_t item, std::size_t thread) {
      projected.project(products[item % products.size()], inputs_,
                        item / products.size() * kProjectedRows, scratch[thread]);
    });
    return projected;
  }

  void attend(std::span<const std::size_t> heads, const ProjectedHeads& projected) {
    const std::size_t rows = attending_rows(n_tokens_);
    const std::size_t blocks = n_blocks(x_.rows, rows);
    const std::size_t threads = n_threads(projected.width() * static_cast<double>(n_tokens_));
    const bool ordered = is_ordered();
    Turns turns;
    std::vector<BlockScratch>& scratch = memory_.blocks;
    scratch.resize(std::max(scratch.size(), threads));
    parallel_for(heads.size() * blocks, threads, [&](std::size_t item, std::size_t thread) {
      std::optional<Turns::Turn> turn;
      if (ordered) {
        turn.emplace(turns, item);
      }
      // With a causal mask the last blocks take longest, so they come first where the order is
      // free.
      const std::size_t block = ordered ? item % blocks : blocks - 1 - item % blocks;
      const std::size_t index = item / blocks;
      if (heads[index] > failure_.head()) {
        return;  // the run already fails with an earlier head
      }
      const std::size_t first = block * rows;
      const std::size_t count = std::min(rows, x_.rows - first);
      const OrderedStep step =
          attend_block(heads[index], projected.tensors(index), first, count, scratch[thread]);
      if (step) {
        turn->take(step);
      }
    });
    if (!failure_.none()) {
      fail_head(failure_.head(), failure_.fault());
    }
  }

  OrderedStep attend_block(std::size_t head, const HeadTensors& tensors, std::size_t first,
                           std::size_t count, BlockScratch& scratch) {
    RowRule rule = row_rule(model_, {layer_, head}, request_);
    rule.observer = observer_.hides(rule.head) ? &observer_ : nullptr;
    const Matrix context = with_contexts()
                               ? contexts_.row_block(first, count)
                                     .col_block(first_col_[head], weights_.heads[head].d_value())
                               : Matrix{};
    const bool wanted = is_wanted(rule.head);
    const std::size_t query = n_before_ + first;
    const Matrix pattern = wanted ? sink_->place(rule.head, query, count) : Matrix{};
    const BlockWeights block =
        attnviz::attend_block(tensors, rule, query, count, scratch, context, pattern);
    if (progress_ != nullptr) {
      progress_->add(count * block.weights.cols);
    }
    if (block.fault != BlockFault::kNone) {
      failure_.note(head, block.fault);
      // Later blocks must not be passed on instead of the failed one.
      return is_ordered()
                 ? OrderedStep([this, head, fault = block.fault] { fail_head(head, fault); })
                 : OrderedStep{};
    }
    if (wanted && !block.sinks.empty()) {
      sink_->sinks(rule.head, query, block.sinks);
    }
    if (!wanted || block.stored) {
      return {};
    }
    return sink_->ordered_rows(rule.head, query, block.first_key, block.weights);
  }

  // Checks contexts that an observer may have changed, when no output is computed and checked.
  void check_contexts() const {
    for (std::size_t head = 0; head < weights_.heads.size(); ++head) {
      if (!kernels::all_finite(
              contexts_.col_block(first_col_[head], weights_.heads[head].d_value()))) {
        fail_head(head, BlockFault::kContext);
      }
    }
  }

  MatrixBuffer combine(ConstMatrix contexts, ConstMatrix residual) {
    const Matrix all = shaped(memory_.output, x_.rows, x_.cols);
    std::atomic<bool> is_finite = true;
    for_each_block(
        all.rows, all.cols, contexts.cols, request_.n_threads,
        [&](const OutputBlock& block) {
          const Matrix out = block.of(all);
          combine_block(contexts.row_block(block.first_row, block.n_rows), block.first_col, out);
          if (!residual.empty()) {
            kernels::add(block.of(residual), out);
          }
          if (!kernels::all_finite(out)) {
            is_finite = false;
          }
        },
        is_quantised(weights_.output.weight.type));
    if (!is_finite) {
      fail(fmt::format("the output is not a finite number ({})", why_not_finite(model_, layer_)));
    }
    return std::exchange(memory_.output, {});
  }

  // Computes the columns of the output from `first_col` on. Either form adds the same products in
  // the same order, so both give the same bits.
  void combine_block(ConstMatrix contexts, std::size_t first_col, Matrix out) const {
    const Projection& output = weights_.output;
    const std::span<const float> bias =
        output.bias.empty() ? output.bias : output.bias.subspan(first_col, out.cols);
    if (!output.weight.empty()) {
      return kernels::matmul(contexts, output.weight.col_block(first_col, out.cols), bias, out);
    }
    std::size_t col = 0;
    for (const HeadWeights& head : weights_.heads) {
      const ConstMatrix context = contexts.col_block(col, head.d_value());
      const StoredMatrix weight = head.output.col_block(first_col, out.cols);
      if (col == 0) {
        kernels::matmul(context, weight, bias, out);
      } else {
        kernels::matmul_add(context, weight, out);
      }
      col += head.d_value();
    }
  }

  [[noreturn]] void fail_head(std::size_t head, BlockFault fault) const {
    fail(fmt::format("head {}: a {} is not a finite number ({})", head,
                     fault == BlockFault::kScore ? "score" : "context",
                     why_not_finite(model_, layer_, request_.temperature)));
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: layer {}, {}", model_.config.name, layer_, what));
  }

  const Model& model_;
  std::size_t layer_;
  const LayerWeights& weights_;
  ConstMatrix x_;
  const AttentionRequest& request_;
  RunObserver& observer_;
  PatternSink* sink_;  // null: weights are not wanted
  LayerMemory& memory_;
  std::size_t n_before_;  // tokens before x
  std::size_t n_tokens_;  // including those of x
  const Rotation& rotation_;
  JointFactors joint_;
  HeadInputs inputs_;
  Progress* progress_;
  Matrix contexts_;                     // of all heads, side by side: [n_tokens, sum of d_value]
  std::vector<std::size_t> first_col_;  // context_columns(); empty: contexts are not wanted
  FirstFailure failure_;
};

}  // namespace

void Progress::add(std::uint64_t work) {
  done_.fetch_add(work, std::memory_order_relaxed);
  if (!report_ || !(total_ > 0.0)) {
    return;
  }
  const std::unique_lock lock(informative_, std::try_to_lock);
  if (lock.owns_lock()) {
    report_(std::min(1.0, static_cast<double>(done_.load(std::memory_order_relaxed)) / total_));
  }
}

LayerCache* LayerMemory::kept(const Model& model, std::size_t layer, std::size_t n_tokens) {
  if (cache != nullptr) {
    return &cache->layer(layer);
  }
  if (!lending) {
    lending = model.lending_layers();
  }
  if (!lending->contains(layer)) {
    return nullptr;
  }
  if (std::exchange(n_lent_tokens, n_tokens) != n_tokens) {
    lent.clear();
  }
  return &lent.try_emplace(layer, model.layers[layer], n_tokens).first->second;
}

const Rotation& LayerMemory::rotation(const Model& model, const LayerWeights& layer,
                                      std::size_t n_tokens) {
  const auto found = std::ranges::find_if(
      rotations, [&](const Rotation& known) { return known.is_for(layer, n_tokens, n_before()); });
  return found == rotations.end() ? rotations.emplace_back(model, layer, n_tokens, n_before())
                                  : *found;
}

MatrixBuffer attend_layer(const Model& model, std::size_t layer, ConstMatrix x,
                          ConstMatrix residual, const AttentionRequest& request,
                          RunObserver& observer, LayerMemory& memory, Progress* progress) {
  return AttentionRun(model, layer, x, request, observer, memory, progress).output(residual);
}

void attend_layer_patterns(const Model& model, std::size_t layer, ConstMatrix x,
                           const AttentionRequest& request, RunObserver& observer,
                           LayerMemory& memory, Progress* progress) {
  AttentionRun(model, layer, x, request, observer, memory, progress).patterns();
}

double tensor_bytes(const LayerWeights& layer, std::size_t n_tokens) noexcept {
  const double token_bytes = static_cast<double>(n_tokens) * static_cast<double>(sizeof(float));
  double tensors = 0.0;
  double largest = 0.0;
  for (const HeadWeights& head : layer.heads) {
    tensors += token_bytes * tensor_width(head);
    largest = std::max(largest, token_bytes * tensor_width(head));
  }
  return std::min(tensors, std::max(kTensorsAtOnce, largest));
}

}  // namespace attnviz
