// Independent work items spread over threads; which thread runs which item never matters.
#pragma once

#include <cstddef>
#include <functional>

namespace attnviz {

/// CPUs this process may use (its affinity mask), at least 1.
std::size_t available_threads() noexcept;

/// Calls `work(item)` once for each item in [0, n_items), from up to `n_threads` threads, the
/// caller's among them. Items must be independent. The first exception an item throws is thrown
/// again here, after every running item ended; items not started by then are skipped.
void parallel_for(std::size_t n_items, std::size_t n_threads,
                  const std::function<void(std::size_t item)>& work);

}  // namespace attnviz
