// One line on a terminal that tells how far slow work is.
#pragma once

#include <chrono>
#include <string_view>

#include "attnviz/attention/request.h"
#include "options/options.h"

namespace attnviz::app {

/// The line on standard error, when that is a terminal wide enough and the program is not to be
/// quiet. Comes when the work has taken a while, and goes when it ends. For one thread at a time.
class ProgressLine {
 public:
  /// `what` must outlive it.
  ProgressLine(std::string_view what, const TalkOptions& talk);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// What is to be told the share of the work that is done, while the line lives; empty where the
  /// line is not to be seen.
  ProgressReport report();

 private:
  void tell(double done);

  using Clock = std::chrono::steady_clock;

  std::string_view what_;
  bool visible_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_;
};

/// Takes the line away, if there is one. Safe in a signal handler.
void erase_progress_line() noexcept;

}  // namespace attnviz::app
