// Cross-attention: how a decoder's tokens attend to the output of an encoder.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/attention/head_math.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/tensor.h"
#include "attnviz/kernels/products.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Keys and values of a layer's heads, the same for all decoder tokens.
struct CrossKeys {
  std::vector<kernels::KeyPanels> keys;  // [n_source, d_head] each
  std::vector<MatrixBuffer> values;      // [n_source, d_value]
};

/// Working memory of cross-attention, kept from layer to layer and, for a text that grows, from
/// token to token.
struct CrossMemory {
  ConstMatrix encoded;                // [n_source, d]: the encoder's output, owned by the caller
  std::vector<CrossKeys> layers;      // empty until a layer has been computed
  MatrixBuffer contexts;              // of all heads, side by side
  std::vector<MatrixBuffer> queries;  // by thread
  std::vector<BlockScratch> blocks;   // by thread
};

/// Bytes that cross-attention takes: the keys and values of a source of `n_source` tokens in all
/// layers, the source itself, and working memory for `n_tokens` queries; an estimate, without the
/// rows of scores. 0 for models without cross-attention.
double cross_bytes(const Model& model, std::size_t n_tokens, std::size_t n_source) noexcept;

/// Where a run is: tokens x [n, d_model] that begin at `first_query` in their text.
struct CrossPlace {
  std::size_t layer = 0;
  ConstMatrix x;
  std::size_t first_query = 0;
};

/// out = the output of a layer's cross-attention, [n, d_model], without the stream. The weights of
/// heads that the cross_patterns() of `observer` want go there. Every query sees every key; the
/// request's mask applies only within one text.
///
/// Precondition: the layer has cross-attention. Throws Error{kMalformed} naming the first head with
/// a number that is not finite, and for a source whose width differs from the keys' matrices.
void attend_across(const Model& model, const CrossPlace& place, const AttentionRequest& request,
                   RunObserver& observer, CrossMemory& memory, Matrix out);

}  // namespace attnviz
