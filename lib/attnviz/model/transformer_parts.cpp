#include "attnviz/model/transformer_parts.h"

#include <algorithm>

#include "attnviz/kernels/norms.h"

namespace attnviz {

void apply_norm(const Norm& norm, ConstMatrix x, Matrix out) noexcept {
  if (!norm.present()) {
    for (std::size_t row = 0; row < x.rows && x.data != out.data; ++row) {
      std::copy_n(x.row_data(row), x.cols, out.row_data(row));
    }
  } else if (norm.kind == NormKind::kLayer) {
    kernels::layer_norm(x, norm.weight, norm.bias, norm.epsilon, out);
  } else {
    kernels::rms_norm(x, norm.weight, norm.weight_offset, norm.epsilon, out);
  }
}

}  // namespace attnviz
