#include "attnviz/core/parallel_for.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace attnviz {

std::size_t available_threads() noexcept {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(CPU_COUNT(&allowed)));
  }
  return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

void parallel_for(std::size_t n_items, std::size_t n_threads,
                  const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr first_failure;
  std::mutex failure_mutex;

  const auto drain = [&] {
    for (std::size_t item = next.fetch_add(1); item < n_items; item = next.fetch_add(1)) {
      try {
        work(item);
      } catch (...) {
        const std::scoped_lock lock(failure_mutex);
        if (!first_failure) {
          first_failure = std::current_exception();
        }
        next.store(n_items);
      }
    }
  };

  const std::size_t n_helpers = std::min(n_threads, n_items);
  {
    std::vector<std::jthread> helpers;
    try {
      for (std::size_t i = 1; i < n_helpers; ++i) {
        helpers.emplace_back(drain);
      }
    } catch (const std::system_error&) {
      // The system gives no more threads: fewer of them do the same work.
    }
    drain();
  }
  if (first_failure) {
    std::rethrow_exception(first_failure);
  }
}

}  // namespace attnviz
