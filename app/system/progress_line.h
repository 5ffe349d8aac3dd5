// One line on a terminal that tells how far slow work is.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "options/options.h"

namespace attnviz::app {

/// "attention 42 %, 12 s left" for `done` in (0, 1] of the work after `seconds` of it. 7-bit.
std::string progress_text(std::string_view what, double done, double seconds);

/// The line on standard error, when that is a terminal wide enough and the program is not to be
/// quiet. Comes when the work has taken a while, and goes when it ends. For one thread at a time.
class ProgressLine {
 public:
  /// `what` must outlive it.
  ProgressLine(std::string_view what, const TalkOptions& talk);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool is_visible() const noexcept { return visible_; }
  /// `done` in [0, 1].
  void tell(double done);

 private:
  using Clock = std::chrono::steady_clock;

  std::string_view what_;
  bool visible_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_;
};

/// Takes the line away, if there is one. Safe in a signal handler.
void erase_progress_line() noexcept;

}  // namespace attnviz::app
