// For tests of operations that once took minutes.
#pragma once

#include <doctest/doctest.h>

#include <chrono>

#include "support/sanitized.h"

namespace attnviz::test {

/// Starts on construction.
class Stopwatch {
 public:
  /// Whether less than 20 seconds have passed, or 10 times that with sanitizers: enough for an
  /// operation that takes a second while other tests run.
  bool is_in_time() const {
    return Clock::now() - begin_ < std::chrono::seconds(kSanitized ? 200 : 20);
  }
  bool is_quick() const { return Clock::now() - begin_ < std::chrono::seconds(1); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

template <class Work>
void check_in_time(const Work& work) {
  const Stopwatch watch;
  work();
  CHECK(watch.is_in_time());
}

}  // namespace attnviz::test
