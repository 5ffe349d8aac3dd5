// How a decoder's tokens look at another text: at what an encoder has made of it.
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

/// Keys and values of a layer's heads, the same for all tokens that look at them.
struct CrossKeys {
  std::vector<kernels::KeyPanels> keys;  // [n_source, d_head] each
  std::vector<MatrixBuffer> values;      // [n_source, d_value]
};

/// What cross-attention computes in. Kept from layer to layer, and of a text that grows for the
/// tokens that come.
struct CrossMemory {
  ConstMatrix encoded;  // [n_source, d]: what the layers look at; their models' owner keeps it
  std::vector<CrossKeys> layers;      // of those that have been computed; others are empty
  MatrixBuffer contexts;              // every head's, side by side
  std::vector<MatrixBuffer> queries;  // by thread
  std::vector<BlockScratch> blocks;   // by thread
};

/// Bytes of what cross-attention keeps of a source of `n_source` tokens in all layers of the model,
/// with the source itself, and of what it computes in for `n_tokens` that look at it; an estimate,
/// without the rows of scores. 0 of models without.
double cross_bytes(const Model& model, std::size_t n_tokens, std::size_t n_source) noexcept;

/// Where a run is: tokens x [n, d_model] that begin at `first_query` in their text.
struct CrossPlace {
  std::size_t layer = 0;
  ConstMatrix x;
  std::size_t first_query = 0;
};

/// out = the output of a layer's cross-attention, [n, d_model], without the stream. The weights of
/// heads that the cross_patterns() of `observer` want go there. Every query sees every key; a
/// request's mask is of tokens of one text, and does not count here.
///
/// Precondition: the layer has cross-attention. Throws Error{kMalformed} naming the first head with
/// a number that is not finite, and for a source of another width than the keys' matrices have.
void attend_across(const Model& model, const CrossPlace& place, const AttentionRequest& request,
                   RunObserver& observer, CrossMemory& memory, Matrix out);

}  // namespace attnviz
