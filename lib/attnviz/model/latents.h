// Latents in the tokens' place: the narrow vectors that queries, keys and values are made of.
#pragma once

#include <cstddef>

#include "attnviz/model/transformer_parts.h"

namespace attnviz {

/// What the heads of a layer read instead of y, the tokens as attention looks at them: vectors that
/// all of them share, so narrow that they can be kept in place of keys and values (multi-head
/// latent attention, DeepSeek-V2 2024, section 2.1).
///
/// Queries are made of query_norm(y · query_down), or of y itself where that is empty. Keys and
/// values are made of c = key_norm of the first `rank` numbers of y · key_down. The n_shared
/// numbers behind these are neither normed nor projected: they stand behind what a head makes of c,
/// and are the last dimensions of every head's key.
struct Latents {
  Projection query_down;  // [d_model, query rank], or empty
  Norm query_norm;        // of [query rank]
  Projection key_down;    // [d_model, rank + n_shared]
  Norm key_norm;          // of [rank]

  bool present() const noexcept { return !key_down.weight.empty(); }
  /// 0 where queries are made of y.
  std::size_t query_rank() const noexcept { return query_down.d_out(); }
  std::size_t rank() const noexcept { return key_norm.weight.size(); }
  std::size_t n_shared() const noexcept { return key_down.d_out() - rank(); }
};

}  // namespace attnviz
