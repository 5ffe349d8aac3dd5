#include "attnviz/core/parallel_for.h"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace attnviz {

TEST_CASE("parallel_for: every item runs exactly once, whatever the number of threads") {
  for (const std::size_t n_threads : {0u, 1u, 2u, 7u, 100u}) {
    CAPTURE(n_threads);
    std::vector<std::atomic<int>> runs(50);
    parallel_for(runs.size(), n_threads, [&](std::size_t item) { ++runs[item]; });
    for (const auto& count : runs) {
      CHECK(count == 1);
    }
  }
  parallel_for(0, 4, [](std::size_t) { FAIL("there is no item"); });
}

TEST_CASE("parallel_for: an item's exception reaches the caller") {
  for (const std::size_t n_threads : {1u, 4u}) {
    CAPTURE(n_threads);
    CHECK_THROWS_WITH_AS(parallel_for(20, n_threads,
                                      [](std::size_t item) {
                                        if (item == 3) {
                                          throw std::runtime_error("item 3");
                                        }
                                      }),
                         "item 3", std::runtime_error);
  }
}

TEST_CASE("available_threads: at least one") {
  CHECK(available_threads() >= 1);
}

}  // namespace attnviz
