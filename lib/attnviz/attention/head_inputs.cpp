#include "attnviz/attention/head_inputs.h"

#include "attnviz/attention/blocked_product.h"
#include "attnviz/kernels/matmul.h"

namespace attnviz {

namespace {

// The first numbers of each row are a latent, which is normed.
ConstMatrix project_down(const Projection& down, const Norm& norm, ConstMatrix y,
                         std::size_t n_threads, MatrixBuffer& memory) {
  const Matrix out = shaped(memory, y.rows, down.d_out());
  blocked_product(y, down, n_threads, out);
  const Matrix latent = out.col_block(0, norm.weight.size());
  apply_norm(norm, latent, latent);
  return out;
}

}  // namespace

HeadInputs head_inputs(const LayerWeights& layer, ConstMatrix y, std::size_t n_threads,
                       LatentMemory& memory) {
  const Latents& latents = layer.latents;
  if (!latents.present()) {
    return {y, y};
  }
  const ConstMatrix queries =
      latents.query_rank() == 0
          ? y
          : project_down(latents.query_down, latents.query_norm, y, n_threads, memory.queries);
  return {queries, project_down(latents.key_down, latents.key_norm, y, n_threads, memory.keys)};
}

void project_values(const LayerWeights& layer, const Projection& value, ConstMatrix keys,
                    Matrix out) noexcept {
  kernels::matmul(keys.col_block(0, value.d_in()), value.weight, value.bias, out);
  apply_norm(layer.value_norm, out, out);
}

}  // namespace attnviz
