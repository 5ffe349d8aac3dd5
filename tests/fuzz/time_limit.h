// How long one input may take.
#pragma once

#include <sys/time.h>

#include <ctime>

namespace attnviz::test {

/// During its lifetime, SIGPROF is raised after this many seconds of CPU time, however busy the
/// machine is.
class TimeLimit {
 public:
  explicit TimeLimit(std::time_t seconds) { set(seconds); }
  ~TimeLimit() { set(0); }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  static void set(std::time_t seconds) {
    itimerval timer{};
    timer.it_value.tv_sec = seconds;
    setitimer(ITIMER_PROF, &timer, nullptr);
  }
};

}  // namespace attnviz::test
