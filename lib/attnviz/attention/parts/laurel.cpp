#include "attnviz/attention/parts/laurel.h"

#include <utility>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/layer.h"
#include "attnviz/kernels/matmul.h"

namespace attnviz {

MatrixBuffer laurel(const Model& model, std::size_t layer, ConstMatrix stream,
                    std::size_t n_threads) {
  const LayerWeights& weights = model.layers[layer];
  const Laurel& laurel = weights.laurel;
  MatrixBuffer look(stream.rows, stream.cols);
  apply_norm(norms_first(model, layer) ? weights.attention_norm : Norm{}, stream, look.view());
  MatrixBuffer narrow(stream.rows, laurel.left.d_out());
  blocked_product(std::as_const(look).view(), laurel.left, n_threads, narrow.view());
  MatrixBuffer result(stream.rows, stream.cols);
  blocked_product(std::as_const(narrow).view(), laurel.right, n_threads, result.view());
  apply_norm(laurel.norm, result.view(), result.view());
  kernels::add(look.view(), result.view());
  return result;
}

}  // namespace attnviz
