// Which keys of a query are shown, and what is said of the others.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/analysis/inspection.h"

namespace attnviz {

/// The keys that stand in the tables of a page, and what is said of the others.
struct ShownKeys {
  std::vector<std::size_t> keys;  // in order of position
  std::size_t masked_before = 0;  // masked keys that are not shown: before the query,
  std::size_t masked_after = 0;   // and after it
  std::size_t left_out = 0;       // visible keys that are not shown,
  float left_out_weight = 0.0f;   // and the weight they have together
};

/// Few tokens: every key. More: the visible ones, and of many those with the most weight, the
/// nearer ones of equals, and the query itself. `all`: every key.
ShownKeys shown_keys(const Inspection& head, bool all);

}  // namespace attnviz
