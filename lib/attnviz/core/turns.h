// Items that run at the same time, each taking its turn in order for one part of its work.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>

namespace attnviz {

/// Turns of items 0, 1, 2, … Every item of a run that is begun must hold a Turn until it ends, and
/// items must be begun in order (as parallel_for does), so that the one whose turn it is always
/// runs.
class Turns {
 public:
  class Turn {
   public:
    Turn(Turns& turns, std::size_t item) noexcept : turns_(turns), item_(item) {}
    /// Waits for the turn if it has not come, and passes it on.
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    /// Waits for the turn and does `step`, unless an earlier one threw. Throws what it throws.
    void take(const std::function<void()>& step);

   private:
    Turns& turns_;
    std::size_t item_;
  };

 private:
  void wait_for(std::size_t item);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  bool failed_ = false;
};

}  // namespace attnviz
