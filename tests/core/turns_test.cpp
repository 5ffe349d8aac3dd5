#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <thread>
#include <vector>

#include "attnviz/core/threads.h"

namespace attnviz {

TEST_CASE("turns: steps run in order, one at a time, however long items take") {
  constexpr std::size_t kItems = 300;
  for (const std::size_t n_threads : {1u, 2u, 5u}) {
    Turns turns;
    std::vector<std::size_t> order;  // written by one thread at a time, or a sanitizer reports it
    std::atomic<std::size_t> busy{0};
    parallel_for(kItems, n_threads, [&](std::size_t item, std::size_t /*thread*/) {
      Turns::Turn turn(turns, item);
      for (std::size_t i = 0; i < (item * 7919) % 5000; ++i) {
        busy.fetch_add(1);
      }
      if (item % 3 != 1) {  // others have no ordered step
        turn.take([&] { order.push_back(item); });
      }
    });
    std::vector<std::size_t> expected;
    for (std::size_t item = 0; item < kItems; ++item) {
      if (item % 3 != 1) {
        expected.push_back(item);
      }
    }
    CHECK(order == expected);
  }
}

TEST_CASE("turns: nothing happens after a step that threw, and no thread waits for ever") {
  for (const std::size_t n_threads : {1u, 4u}) {
    Turns turns;
    std::size_t n_steps = 0;
    const auto run = [&] {
      parallel_for(200, n_threads, [&](std::size_t item, std::size_t /*thread*/) {
        Turns::Turn turn(turns, item);
        turn.take([&] {
          if (item == 50) {
            throw std::runtime_error("no space");
          }
          ++n_steps;
        });
      });
    };
    CHECK_THROWS_AS(run(), std::runtime_error);
    CHECK(n_steps == 50);
  }
}

TEST_CASE("turns: an item that throws before its turn does not block the others") {
  Turns turns;
  std::atomic<std::size_t> n_begun{0};
  std::atomic<std::size_t> n_steps{0};
  const auto run = [&] {
    parallel_for(100, 4, [&](std::size_t item, std::size_t /*thread*/) {
      Turns::Turn turn(turns, item);
      ++n_begun;
      if (item == 10) {
        while (n_begun < 12) {  // another one waits after it
          std::this_thread::yield();
        }
        throw std::runtime_error("bad item");
      }
      turn.take([&] { ++n_steps; });
    });
  };
  CHECK_THROWS_AS(run(), std::runtime_error);
  CHECK(n_steps == n_begun - 1);
}

}  // namespace attnviz
