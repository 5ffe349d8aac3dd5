// One token's attention in every head: a row for each head, a column for each token.
#pragma once

#include <cstddef>
#include <string>

#include "attnviz/document/attention_document.h"
#include "attnviz/document/heatmap.h"

namespace attnviz {

/// `attention of "cat" (token 1)`, as a key `attention to "cat" (token 1)`. Throws
/// Error{kUsage} when there is no such token. Precondition: document.drawing.focus.
std::string focus_title(const AttentionDocument& document);

/// One panel [panels of `whole`, tokens] that owns its values. `whole` is a picture of n_queries
/// queries and n_keys keys, perhaps without the first ones. Throws Error{kUsage} when the token is
/// not in it.
Heatmap focus_heatmap(const Heatmap& whole, const Focus& focus, std::size_t n_queries,
                      std::size_t n_keys);

}  // namespace attnviz
