// What the program says to a person, on standard error.
#pragma once

#include <chrono>
#include <string_view>

#include "options/options.h"

namespace attnviz::app {

/// "attnviz: message", with everything a terminal could obey made visible.
void say(std::string_view message);

/// Says how long each phase took, when asked to be verbose.
class Phases {
 public:
  explicit Phases(const TalkOptions& talk) : verbose_(talk.verbose) {}

  /// Ends the phase that began at the last call, or at construction.
  void done(std::string_view phase);

 private:
  using Clock = std::chrono::steady_clock;
  bool verbose_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace attnviz::app
