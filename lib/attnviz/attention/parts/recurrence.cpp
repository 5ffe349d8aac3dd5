#include "attnviz/attention/parts/layer_parts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/core/threads.h"
#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

namespace {

// Whole blocks of products; their memory does not grow with the text.
constexpr std::size_t kTokensAtOnce = 2 * kBlockRows;

double softplus(double x) noexcept {
  constexpr double kLinear = 30.0;
  return x > kLinear ? x : std::log1p(std::exp(x));
}

// Divides x by its length, as the model family's library does.
void make_unit(std::span<float> x, double factor) noexcept {
  constexpr double kLeast = 1e-6;
  double squares = kLeast;
  for (const float one : x) {
    squares += static_cast<double>(one) * static_cast<double>(one);
  }
  const auto scale = static_cast<float>(factor / std::sqrt(squares));
  for (float& one : x) {
    one *= scale;
  }
}

// Some tokens of a layer.
class TokenBlock {
 public:
  TokenBlock(const Recurrence& layer, ConstMatrix y, std::span<float> kept, std::size_t n_threads,
             RecurrenceMemory& memory)
      : layer_(layer),
        y_(y),
        tail_{kept.data(), layer.width - 1, layer.n_channels(), layer.n_channels()},
        states_(kept.subspan(tail_.rows * tail_.cols)),
        n_threads_(n_threads),
        memory_(memory) {}

  void run(Matrix decays, Matrix out) {
    project();
    convolve();
    step(decays);
    advance();
    finish();
    scaled_product(values_, layer_.out, layer_.out_scale, out);
  }

 private:
  // Threads for work that takes `multiply_adds` per token.
  std::size_t threads_for(std::size_t multiply_adds) const noexcept {
    return worthwhile_threads(static_cast<double>(multiply_adds * y_.rows), n_threads_);
  }

  Matrix z() const noexcept { return columns_.col_block(0, layer_.d_inner()); }
  Matrix inputs() const noexcept {
    return columns_.col_block(layer_.d_inner(), layer_.n_channels());
  }
  // δ, followed by b.
  ConstMatrix logits() const noexcept {
    const std::size_t first = layer_.d_inner() + layer_.n_channels();
    return columns_.col_block(first, layer_.n_columns() - first);
  }

  void scaled_product(ConstMatrix x, const Projection& projection, float scale, Matrix out) const {
    blocked_product(x, projection, n_threads_, out,
                    [&](const OutputBlock& block) { scale_rows(scale, block.of(out)); });
  }

  void project() {
    columns_ = shaped(memory_.columns, y_.rows, layer_.n_columns());
    for (const PlacedProjection& part : layer_.in) {
      scaled_product(y_, part.projection, part.scale,
                     columns_.col_block(part.first, part.projection.d_out()));
    }
  }

  // The input of the convolution at `place`, counted from the earliest one it keeps.
  std::span<const float> input(std::size_t place) const noexcept {
    return place < tail_.rows ? ConstMatrix(tail_).row(place)
                              : ConstMatrix(inputs()).row(place - tail_.rows);
  }

  void convolve() {
    channels_ = shaped(memory_.channels, y_.rows, layer_.n_channels());
    const std::size_t width = layer_.width;
    parallel_for(y_.rows, threads_for(width * channels_.cols),
                 [&](std::size_t row, std::size_t /*thread*/) {
                   const std::span<float> out = channels_.row(row);
                   if (layer_.bias.empty()) {
                     std::ranges::fill(out, 0.0f);
                   } else {
                     std::ranges::copy(layer_.bias, out.begin());
                   }
                   for (std::size_t tap = 0; tap < width; ++tap) {
                     const std::span<const float> in = input(row + tap);
                     for (std::size_t channel = 0; channel < out.size(); ++channel) {
                       out[channel] += layer_.kernel[channel * width + tap] * in[channel];
                     }
                   }
                   kernels::activate(kernels::Activation::kSilu, channels_.row_block(row, 1));
                   if (layer_.is_delta()) {
                     make_unit_keys(out);
                   }
                 });
    for (std::size_t row = 0; row < tail_.rows; ++row) {
      std::ranges::copy(input(row + y_.rows), tail_.row_data(row));
    }
  }

  void make_unit_keys(std::span<float> channels) const noexcept {
    const std::size_t d = layer_.d_key;
    const double of_query = 1.0 / std::sqrt(static_cast<double>(d));
    for (std::size_t head = 0; head < layer_.n_key_heads; ++head) {
      make_unit(channels.subspan(head * d, d), of_query);
      make_unit(channels.subspan((layer_.n_key_heads + head) * d, d), 1.0);
    }
  }

  // Computes α of every head, followed by Δ or β.
  void step(Matrix decays) {
    const std::size_t n_heads = layer_.n_heads;
    steps_ = shaped(memory_.steps, y_.rows, 2 * n_heads);
    for (std::size_t row = 0; row < y_.rows; ++row) {
      const std::span<const float> logits = this->logits().row(row);
      const std::span<float> steps = steps_.row(row);
      for (std::size_t head = 0; head < n_heads; ++head) {
        const double delta = std::clamp(softplus(static_cast<double>(logits[head]) +
                                                 static_cast<double>(layer_.step_bias[head])),
                                        static_cast<double>(layer_.least_step),
                                        static_cast<double>(layer_.most_step));
        constexpr double kNothingLeft = -1e4;  // e to that is 0, even in long sums
        const double decay = std::max(delta * static_cast<double>(layer_.rate[head]), kNothingLeft);
        steps[head] = static_cast<float>(std::exp(decay));
        steps[n_heads + head] = layer_.is_delta()
                                    ? 1.0f / (1.0f + std::exp(-logits[n_heads + head]))
                                    : static_cast<float>(delta);
        if (!decays.empty()) {
          decays(row, layer_.number_of(head)) = static_cast<float>(decay);
        }
      }
    }
  }

  struct Parts {
    std::span<const float> query, key, value;
  };

  Parts parts_of(std::size_t row, std::size_t head) const noexcept {
    const std::span<const float> all = ConstMatrix(channels_).row(row);
    const std::size_t keys = layer_.n_key_heads * layer_.d_key;
    const std::size_t shared = layer_.key_head(head) * layer_.d_key;
    const std::size_t own = head * layer_.d_value;
    const std::size_t first_value = layer_.is_delta() ? 2 * keys : 0;
    const std::size_t first_key = layer_.is_delta() ? keys : layer_.d_inner();
    const std::size_t first_query = layer_.is_delta() ? 0 : layer_.d_inner() + keys;
    return {all.subspan(first_query + shared, layer_.d_key),
            all.subspan(first_key + shared, layer_.d_key),
            all.subspan(first_value + own, layer_.d_value)};
  }

  void advance() {
    values_ = shaped(memory_.values, y_.rows, layer_.d_inner());
    const std::size_t size = layer_.d_key * layer_.d_value;
    const std::size_t threads = threads_for(3 * size * layer_.n_heads);
    const Matrix written =
        shaped(memory_.written, std::max(threads, std::size_t{1}), layer_.d_value);
    parallel_for(layer_.n_heads, threads, [&](std::size_t head, std::size_t thread) {
      const Matrix state{states_.data() + head * size, layer_.d_key, layer_.d_value,
                         layer_.d_value};
      for (std::size_t row = 0; row < y_.rows; ++row) {
        advance_head(row, head, state, written.row(thread));
      }
    });
  }

  void advance_head(std::size_t row, std::size_t head, Matrix state,
                    std::span<float> written) const noexcept {
    const Parts of = parts_of(row, head);
    const float decay = steps_(row, head);
    const float step = steps_(row, layer_.n_heads + head);
    if (layer_.is_delta()) {
      kernels::read_state(state, of.key, written);
      for (std::size_t i = 0; i < written.size(); ++i) {
        written[i] = step * (of.value[i] - decay * written[i]);
      }
    } else {
      std::ranges::transform(of.value, written.begin(), [step](float v) { return step * v; });
    }
    const std::span<float> out = values_.row(row).subspan(head * layer_.d_value, layer_.d_value);
    kernels::write_state(decay, of.key, written, of.query, state, out);
    for (std::size_t i = 0; i < out.size() && !layer_.skip.empty(); ++i) {
      out[i] += layer_.skip[head] * of.value[i];
    }
  }

  // Applies the norm and its gate, which comes before or after the norm.
  void finish() {
    const std::size_t size = layer_.d_inner() / layer_.n_norm_groups;
    const bool gates_last = layer_.is_delta() || layer_.gates_last;
    parallel_for(
        y_.rows, threads_for(8 * layer_.d_inner()), [&](std::size_t row, std::size_t /*thread*/) {
          const std::span<float> out = values_.row(row);
          const std::span<float> gate = z().row(row);
          kernels::activate(kernels::Activation::kSilu, z().row_block(row, 1));
          const auto open = [&] {
            std::ranges::transform(out, gate, out.begin(), std::multiplies<>());
          };
          if (!gates_last) {
            open();
          }
          for (std::size_t first = 0; first < out.size() && layer_.norm.present(); first += size) {
            Norm norm = layer_.norm;
            norm.weight =
                norm.weight.size() == size ? norm.weight : norm.weight.subspan(first, size);
            const Matrix part{out.data() + first, 1, size, size};
            apply_norm(norm, part, part);
          }
          if (gates_last) {
            open();
          }
        });
  }

  const Recurrence& layer_;
  ConstMatrix y_;
  Matrix tail_;
  std::span<float> states_;
  std::size_t n_threads_;
  RecurrenceMemory& memory_;
  Matrix columns_, channels_, steps_, values_;
};

}  // namespace

void recur(const Recurrence& recurrence, ConstMatrix y, bool is_first, std::span<float> kept,
           std::size_t n_threads, RecurrenceMemory& memory, Matrix decays, Matrix out) {
  if (is_first) {
    std::ranges::fill(kept, 0.0f);
  }
  for (std::size_t first = 0; first < y.rows; first += kTokensAtOnce) {
    const std::size_t count = std::min(kTokensAtOnce, y.rows - first);
    TokenBlock block(recurrence, y.row_block(first, count), kept, n_threads, memory);
    block.run(decays.empty() ? Matrix{} : decays.row_block(first, count),
              out.row_block(first, count));
  }
}

double recurrence_bytes(const Recurrence& recurrence, std::size_t n_tokens) noexcept {
  if (!recurrence.present()) {
    return 0.0;
  }
  const auto n = static_cast<double>(std::min(n_tokens, kTokensAtOnce));
  const double width = static_cast<double>(recurrence.n_columns() + recurrence.n_channels() +
                                           recurrence.d_inner() + 2 * recurrence.n_heads);
  return static_cast<double>(sizeof(float)) *
         (n * width + static_cast<double>(recurrence.n_kept()));
}

namespace {

// Computes one token's output from its channels and those of the tokens before it.
void mix(const Convolution& convolution, ConstMatrix channels, std::size_t token,
         std::span<float> out) noexcept {
  const std::size_t width = convolution.width;
  const std::size_t n_seen = std::min(token + 1, width);
  for (std::size_t channel = 0; channel < out.size(); ++channel) {
    const std::span<const float> kernel =
        convolution.kernel.subspan(channel * width + width - n_seen, n_seen);
    float sum = convolution.bias.empty() ? 0.0f : convolution.bias[channel];
    for (std::size_t i = 0; i < n_seen; ++i) {
      sum += kernel[i] * channels(token + 1 - n_seen + i, channel);
    }
    out[channel] *= sum;
  }
}

}  // namespace

void convolve(const Convolution& convolution, ConstMatrix y, std::size_t n_before, Matrix channels,
              std::size_t n_threads, MatrixBuffer& memory, Matrix out) {
  const std::size_t d = convolution.n_channels();
  const Matrix all = shaped(memory, y.rows, 3 * d);
  blocked_product(y, convolution.in, n_threads, all);
  const ConstMatrix b = all.col_block(0, d);
  const ConstMatrix x = all.col_block(2 * d, d);
  const Matrix c = all.col_block(d, d);
  for (std::size_t row = 0; row < y.rows; ++row) {
    std::transform(b.row_data(row), b.row_data(row) + d, x.row_data(row),
                   channels.row_data(n_before + row), std::multiplies<>());
  }
  for (std::size_t row = 0; row < y.rows; ++row) {
    mix(convolution, channels, n_before + row, c.row(row));
  }
  blocked_product(c, convolution.out, n_threads, out);
}

}  // namespace attnviz
