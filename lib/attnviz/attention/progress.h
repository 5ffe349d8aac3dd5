// How much of a run is done, told while it goes on.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

namespace attnviz {

/// Told the share of the work that is done, in [0, 1]: one call at a time, from any thread.
///
/// Example:
///     const attnviz::ProgressReport report = [](double done) { std::printf("%.2f\n", done); };
using ProgressReport = std::function<void(double done)>;

/// Counts work that threads have done and tells of it.
class Progress {
 public:
  /// `total` work in all, in any unit. Without a report nothing is told.
  Progress(ProgressReport report, double total) noexcept
      : report_(std::move(report)), total_(total) {}

  /// Tells of it unless another thread is just telling.
  void add(std::uint64_t work);

 private:
  ProgressReport report_;
  double total_;
  std::atomic<std::uint64_t> done_{0};
  std::mutex telling_;
};

}  // namespace attnviz
