#include "attnviz/attention/parts/convolution.h"

#include <algorithm>
#include <functional>
#include <span>

#include "attnviz/attention/blocked_product.h"

namespace attnviz {

namespace {

// What one token's channels make of it and of those before it.
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
