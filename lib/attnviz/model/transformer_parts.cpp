#include "attnviz/model/transformer_parts.h"

#include <algorithm>

#include "attnviz/kernels/layer_kernels.h"

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

namespace {

// As GGUF has them: a block's scale, then bytes of which number i + 16 stands above number i.
StoredMatrix brought_together(const SplitBlocks& split, const StoredMatrix& shape,
                              std::vector<std::uint8_t>& memory) {
  constexpr std::size_t kHalf = 16;
  const BlockShape block = stored_block(StoredType::kMXFP4);
  const std::size_t n_blocks = shape.rows * shape.cols / block.numbers;
  memory.resize(n_blocks * block.bytes);
  for (std::size_t i = 0; i < n_blocks; ++i) {
    const std::uint8_t* const from = split.blocks + i * split.block_step;
    std::uint8_t* const to = memory.data() + i * block.bytes;
    to[0] = split.scales[i * split.scale_step];
    for (std::size_t pair = 0; pair < kHalf / 2; ++pair) {
      const unsigned low = from[pair];
      const unsigned high = from[kHalf / 2 + pair];
      to[1 + 2 * pair] = static_cast<std::uint8_t>((low & 0x0FU) | (high & 0x0FU) << 4U);
      to[2 + 2 * pair] = static_cast<std::uint8_t>(low >> 4U | (high & 0xF0U));
    }
  }
  StoredMatrix matrix = shape;
  matrix.data = memory.data();
  return matrix;
}

}  // namespace

Mlp Experts::at(std::size_t expert, Memory& memory) const {
  Mlp mlp = each[expert];
  if (!split_up.empty()) {
    mlp.up.weight = brought_together(split_up[expert], mlp.up.weight, memory.up);
    mlp.down.weight = brought_together(split_down[expert], mlp.down.weight, memory.down);
  }
  return mlp;
}

}  // namespace attnviz
