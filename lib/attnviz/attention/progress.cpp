#include "attnviz/attention/progress.h"

#include <algorithm>

namespace attnviz {

void Progress::add(std::uint64_t work) {
  done_.fetch_add(work, std::memory_order_relaxed);
  if (!report_ || !(total_ > 0.0)) {
    return;
  }
  const std::unique_lock lock(telling_, std::try_to_lock);
  if (lock.owns_lock()) {
    report_(std::min(1.0, static_cast<double>(done_.load(std::memory_order_relaxed)) / total_));
  }
}

}  // namespace attnviz
