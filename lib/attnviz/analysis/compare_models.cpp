#include "attnviz/analysis/compare_models.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attnviz/attention/logits.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/parallel_for.h"
#include "attnviz/kernels/stored_numbers.h"

namespace attnviz {

namespace {

struct SquareSums {
  double of_a = 0.0;
  double of_change = 0.0;

  void operator+=(const SquareSums& other) noexcept {
    of_a += other.of_a;
    of_change += other.of_change;
  }
};

SquareSums square_sums(std::span<const float> a, std::span<const float> b) {
  SquareSums sums;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto number = static_cast<double>(a[i]);
    const double change = number - static_cast<double>(b[i]);
    sums.of_a += number * number;
    sums.of_change += change * change;
  }
  return sums;
}

// ‖change‖ / ‖a‖; nothing where that is no number.
std::optional<double> relative(const SquareSums& sums) {
  if (sums.of_change == 0.0) {
    return 0.0;
  }
  return sums.of_a > 0.0 ? std::optional(std::sqrt(sums.of_change / sums.of_a)) : std::nullopt;
}

// Stored rows can be read fast: those of a transposed matrix are its columns.
StoredMatrix turned(StoredMatrix matrix) {
  std::swap(matrix.rows, matrix.cols);
  matrix.transposed = !matrix.transposed;
  return matrix;
}

// Two matrices that correspond; column order[i] of b is i of a. Without an order: as they are.
struct MatrixPair {
  StoredMatrix a;
  StoredMatrix b;
  std::vector<std::size_t> order = {};

  bool is_comparable() const noexcept { return a.rows == b.rows && a.cols == b.cols; }
};

SquareSums square_sums(const MatrixPair& pair, std::size_t n_threads) {
  const bool by_columns = pair.a.transposed || pair.b.transposed || !pair.order.empty();
  const StoredMatrix a = by_columns ? turned(pair.a) : pair.a;
  const StoredMatrix b = by_columns ? turned(pair.b) : pair.b;
  constexpr std::size_t kRows = 64;  // an item's
  std::vector<SquareSums> parts((a.rows + kRows - 1) / kRows);
  parallel_for(parts.size(), n_threads, [&](std::size_t item, std::size_t /*thread*/) {
    std::vector<float> row(a.cols);
    std::vector<float> other(a.cols);
    for (std::size_t i = item * kRows; i < std::min(a.rows, (item + 1) * kRows); ++i) {
      copy_row(a, i, row);
      copy_row(b, pair.order.empty() ? i : pair.order[i], other);
      parts[item] += square_sums(row, other);
    }
  });
  SquareSums sums;
  for (const SquareSums& part : parts) {  // in order, whatever the threads
    sums += part;
  }
  return sums;
}

// A family pairs dimension i with i + n / 2 or, its matrices ordered for it, 2 i with 2 i + 1.
std::vector<std::size_t> rotary_order(const LayerWeights& a, const LayerWeights& b,
                                      std::size_t d_head) {
  std::vector<std::size_t> order;
  if (!a.rope || !b.rope || a.rope->pairing == b.rope->pairing ||
      a.rope->n_rotated() != b.rope->n_rotated() || a.rope->n_rotated() > d_head) {
    return order;
  }
  const std::size_t half = a.rope->n_rotated() / 2;
  const bool a_is_halves = a.rope->pairing == RopePairing::kHalves;
  for (std::size_t i = 0; i < d_head; ++i) {
    const std::size_t paired =
        a_is_halves ? (i < half ? 2 * i : 2 * (i - half) + 1) : i / 2 + (i % 2 == 0 ? 0 : half);
    order.push_back(i < 2 * half ? paired : i);
  }
  return order;
}

// Takes pairs that make one tensor together.
class Tensors {
 public:
  explicit Tensors(std::size_t n_threads) : n_threads_(n_threads) {}

  void add(std::optional<std::size_t> layer, std::string name,
           const std::vector<MatrixPair>& pairs) {
    SquareSums sums;
    bool is_comparable = true;
    for (const MatrixPair& pair : pairs) {
      if (pair.a.empty() || pair.b.empty()) {
        return;
      }
      is_comparable = is_comparable && pair.is_comparable();
      if (is_comparable) {
        sums += square_sums(pair, n_threads_);
      }
    }
    found_.push_back({layer, std::move(name), is_comparable ? relative(sums) : std::nullopt});
  }

  std::vector<TensorDifference> take() { return std::move(found_); }

 private:
  std::size_t n_threads_;
  std::vector<TensorDifference> found_;
};

void add_heads(std::size_t index, const LayerWeights& a, const LayerWeights& b, Tensors& tensors) {
  std::vector<MatrixPair> queries, keys, values, outputs;
  const std::vector<std::size_t> numbers = key_value_heads(a);
  std::size_t n_seen = 0;  // pairs of key and value matrices that heads share
  for (std::size_t head = 0; head < a.heads.size(); ++head) {
    const HeadWeights& of_a = a.heads[head];
    const HeadWeights& of_b = b.heads[head];
    const std::vector<std::size_t> order = rotary_order(a, b, of_a.d_head());
    queries.push_back({of_a.query.weight, of_b.query.weight, order});
    outputs.push_back({of_a.output, of_b.output});
    if (numbers[head] == n_seen) {
      ++n_seen;
      keys.push_back({of_a.key.weight, of_b.key.weight, order});
      values.push_back({of_a.value.weight, of_b.value.weight});
    }
  }
  tensors.add(index, "W_Q", queries);
  tensors.add(index, "W_K", keys);
  tensors.add(index, "W_V", values);
  if (a.output.weight.empty()) {
    tensors.add(index, "W_O", outputs);
  } else {
    tensors.add(index, "W_O", {{a.output.weight, b.output.weight}});
  }
}

}  // namespace

void require_same_heads(const Model& a, const Model& b) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::kUsage, fmt::format("{} and {} cannot be compared head by head: {}",
                                               a.config.name, b.config.name, what));
  };
  if (a.n_layers() != b.n_layers()) {
    fail(fmt::format("{} and {}", counted(a.n_layers(), "layer"), b.n_layers()));
  }
  for (std::size_t layer = 0; layer < a.n_layers(); ++layer) {
    const std::size_t n_heads = a.layers[layer].heads.size();
    if (const std::size_t other = b.layers[layer].heads.size(); other != n_heads) {
      fail(fmt::format("layer {} has {} and {}", layer, counted(n_heads, "head"), other));
    }
  }
}

std::vector<TensorDifference> compare_tensors(const Model& a, const Model& b,
                                              std::size_t n_threads) {
  Tensors tensors(n_threads);
  tensors.add({}, "W_E", {{a.embeddings, b.embeddings}});
  tensors.add({}, "W_pos", {{a.position_embeddings, b.position_embeddings}});
  for (std::size_t layer = 0; layer < std::min(a.n_layers(), b.n_layers()); ++layer) {
    const LayerWeights& of_a = a.layers[layer];
    const LayerWeights& of_b = b.layers[layer];
    add_heads(layer, of_a, of_b, tensors);
    tensors.add(layer, "W_gate", {{of_a.mlp.gate.weight, of_b.mlp.gate.weight}});
    tensors.add(layer, "W_up", {{of_a.mlp.up.weight, of_b.mlp.up.weight}});
    tensors.add(layer, "W_down", {{of_a.mlp.down.weight, of_b.mlp.down.weight}});
  }
  if (a.head.unembedding.weight.data != a.embeddings.data ||
      b.head.unembedding.weight.data != b.embeddings.data) {
    tensors.add({}, "W_U", {{a.head.unembedding.weight, b.head.unembedding.weight}});
  }
  return tensors.take();
}

void StreamStore::stream(const RunPlace& /*at*/, ConstMatrix x) {
  MatrixBuffer kept(x.rows, x.cols);
  for (std::size_t row = 0; row < x.rows; ++row) {
    std::ranges::copy(x.row(row), kept.view().row_data(row));
  }
  streams_.push_back(std::move(kept));
}

double stream_bytes(const Model& model, std::size_t n_tokens) noexcept {
  return static_cast<double>(model.n_layers() + 1) * static_cast<double>(n_tokens) *
         static_cast<double>(model.config.d_model) * static_cast<double>(sizeof(float));
}

void StreamComparison::stream(const RunPlace& at, ConstMatrix x) {
  const ConstMatrix before = first_.streams()[n_seen_++].view();
  last_ = MatrixBuffer(x.rows, x.cols);
  for (std::size_t row = 0; row < x.rows; ++row) {
    std::ranges::copy(x.row(row), last_.view().row_data(row));
  }
  if (x.cols != before.cols || x.rows != before.rows) {
    return;
  }
  Departure departure;
  if (at.step == LayerStep::kAfter) {
    departure.layer = at.layer;
  }
  double sum = 0.0;
  for (std::size_t token = 0; token < x.rows; ++token) {
    const double apart = relative(square_sums(before.row(token), x.row(token))).value_or(1.0);
    sum += apart;
    if (apart > departure.largest) {
      departure.largest = apart;
      departure.token = token;
    }
  }
  departure.mean = sum / static_cast<double>(x.rows);
  departures_.push_back(departure);
}

namespace {

// KL(softmax(a) ‖ softmax(b)).
double kl_bits(std::span<const float> a, std::span<const float> b) {
  const auto log_sum = [](std::span<const float> logits) {
    const auto largest = static_cast<double>(*std::ranges::max_element(logits));
    double sum = 0.0;
    for (const float logit : logits) {
      sum += std::exp(static_cast<double>(logit) - largest);
    }
    return largest + std::log(sum);
  };
  if (std::ranges::equal(a, b)) {
    return 0.0;
  }
  const double a_sum = log_sum(a);
  const double b_sum = log_sum(b);
  double nats = 0.0;
  for (std::size_t id = 0; id < a.size(); ++id) {
    const double log_a = static_cast<double>(a[id]) - a_sum;
    nats += std::exp(log_a) * (log_a - (static_cast<double>(b[id]) - b_sum));
  }
  return std::max(0.0, nats / std::log(2.0));
}

}  // namespace

std::vector<double> prediction_kl_bits(const Model& a, ConstMatrix from_a, const Model& b,
                                       ConstMatrix from_b, std::size_t n_threads) {
  std::vector<double> bits;
  const std::size_t n_vocab = a.head.unembedding.d_out();
  if (n_vocab == 0 || n_vocab != b.head.unembedding.d_out()) {
    return bits;
  }
  constexpr std::size_t kLogits = std::size_t{4} << 20;  // of a model at a time
  const std::size_t rows = std::max<std::size_t>(1, kLogits / n_vocab);
  for (std::size_t first = 0; first < from_a.rows; first += rows) {
    const std::size_t count = std::min(rows, from_a.rows - first);
    const MatrixBuffer of_a = run_output_head(a, from_a.row_block(first, count), n_threads);
    const MatrixBuffer of_b = run_output_head(b, from_b.row_block(first, count), n_threads);
    for (std::size_t row = 0; row < count; ++row) {
      bits.push_back(kl_bits(of_a.view().row(row), of_b.view().row(row)));
    }
  }
  return bits;
}

}  // namespace attnviz
