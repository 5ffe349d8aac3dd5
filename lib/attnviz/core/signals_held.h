#pragma once

#include <csignal>
#include <initializer_list>

namespace attnviz {

/// While it lives, signals that end the program wait, in this thread and in those that it starts;
/// but for those of a thread's own doing, at which the system would end the program at once.
class SignalsHeld {
 public:
  SignalsHeld() noexcept {
    sigset_t held;
    sigfillset(&held);
    for (const int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
      sigdelset(&held, fault);
    }
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace attnviz
