#include "attnviz/core/threads.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <thread>
#include <vector>

namespace attnviz {

TEST_CASE("parallel_for: every item runs exactly once, for any number of threads") {
  for (const std::size_t n_threads : {0u, 1u, 2u, 7u, 100u}) {
    CAPTURE(n_threads);
    std::vector<std::atomic<int>> runs(50);
    parallel_for(runs.size(), n_threads, [&](std::size_t item, std::size_t thread) {
      CHECK(thread < std::max<std::size_t>(n_threads, 1));
      ++runs[item];
    });
    for (const auto& count : runs) {
      CHECK(count == 1);
    }
  }
  parallel_for(0, 4, [](std::size_t, std::size_t) { FAIL("there is no item"); });
}

TEST_CASE("parallel_for: an item's exception reaches the caller") {
  for (const std::size_t n_threads : {1u, 4u}) {
    CAPTURE(n_threads);
    CHECK_THROWS_WITH_AS(parallel_for(20, n_threads,
                                      [](std::size_t item, std::size_t /*thread*/) {
                                        if (item == 3) {
                                          throw std::runtime_error("item 3");
                                        }
                                      }),
                         "item 3", std::runtime_error);
  }
}

TEST_CASE("parallel_for: items run at the same time, each on its own thread") {
  // More and fewer threads than before, on the same pool.
  for (const std::size_t n_threads : {2u, 5u, 3u}) {
    CAPTURE(n_threads);
    std::atomic<std::size_t> begun{0};
    std::vector<std::atomic<int>> items_of(n_threads);
    parallel_for(n_threads, n_threads, [&](std::size_t, std::size_t thread) {
      ++items_of[thread];
      ++begun;
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (begun < n_threads && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
      }
    });
    CHECK(begun == n_threads);
    for (const auto& count : items_of) {
      CHECK(count == 1);
    }
  }
}

TEST_CASE(
    "parallel_for: an exception on a helper thread reaches the caller, and the pool stays usable") {
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> begun{0};
    const auto fail_on_a_helper = [&](std::size_t, std::size_t thread) {
      ++begun;
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (begun < 2 && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
      }
      if (thread != 0) {
        throw std::runtime_error("a helper's");
      }
    };
    CHECK_THROWS_WITH_AS(parallel_for(2, 2, fail_on_a_helper), "a helper's", std::runtime_error);
  }
}

TEST_CASE("parallel_for: an item may call it, and so may several threads at once") {
  std::atomic<int> runs{0};
  const auto inner = [&] { parallel_for(10, 3, [&](std::size_t, std::size_t) { ++runs; }); };
  parallel_for(8, 4, [&](std::size_t, std::size_t) { inner(); });
  CHECK(runs == 80);
  std::vector<std::thread> callers;
  callers.reserve(4);
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back(inner);
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  CHECK(runs == 120);
}

TEST_CASE("parallel_for: a thread that was pinned to one CPU may use all of them afterwards") {
  const std::size_t n_cpus = allowed_cpus().size();
  if (n_cpus < 3) {
    MESSAGE("SKIPPED: needs three CPUs, so that two threads are fewer");
    return;
  }
  const auto allowed_in_helper = [](std::size_t n_threads) {
    std::atomic<std::size_t> n_allowed{0};
    std::atomic<std::size_t> begun{0};
    parallel_for(n_threads, n_threads, [&](std::size_t, std::size_t thread) {
      ++begun;
      while (begun < n_threads) {
        std::this_thread::yield();
      }
      if (thread == 1) {
        n_allowed = allowed_cpus().size();
      }
    });
    return n_allowed.load();
  };
  CHECK(allowed_in_helper(n_cpus) == 1);
  CHECK(allowed_in_helper(2) == n_cpus);
  CHECK(allowed_in_helper(n_cpus) == 1);
}

}  // namespace attnviz
