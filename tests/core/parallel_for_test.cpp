#include "attnviz/core/parallel_for.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace attnviz {

TEST_CASE("parallel_for: every item runs exactly once, whatever the number of threads") {
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

TEST_CASE("parallel_for: items that run at the same time have threads of their own") {
  std::vector<std::atomic<int>> users(4);
  std::atomic<int> clashes{0};
  for (int round = 0; round < 50; ++round) {
    parallel_for(64, users.size(), [&](std::size_t, std::size_t thread) {
      clashes += users[thread].fetch_add(1) != 0 ? 1 : 0;
      users[thread].fetch_sub(1);
    });
  }
  CHECK(clashes == 0);
}

TEST_CASE("parallel_for: an item may call it, and so may several threads at once") {
  std::atomic<int> runs{0};
  const auto inner = [&] { parallel_for(10, 3, [&](std::size_t, std::size_t) { ++runs; }); };
  parallel_for(8, 4, [&](std::size_t, std::size_t) { inner(); });
  CHECK(runs == 80);
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back(inner);
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  CHECK(runs == 120);
}

}  // namespace attnviz
