// Independent work items spread over threads; which thread runs which item never matters.
#pragma once

#include <cstddef>
#include <functional>

namespace attnviz {

/// Calls `work(item, thread)` once for each item in [0, n_items), from up to `n_threads` threads,
/// the caller's among them; `thread` is below `n_threads` (0 for n_threads 0) and different for
/// items that run at the same time. Items must be independent; they are begun in order. The first
/// exception an item throws is thrown again here, after every running item ended; items not started
/// by then are skipped. A call from another thread meanwhile, or from an item, runs its items one
/// after the other.
void parallel_for(std::size_t n_items, std::size_t n_threads,
                  const std::function<void(std::size_t item, std::size_t thread)>& work);

}  // namespace attnviz
