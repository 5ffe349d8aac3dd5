// Independent work items spread over threads: which thread runs which item never matters, unless
// they take turns. The CPUs there are.
#pragma once

#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace attnviz {

/// Calls `work(item, thread)` once for each item in [0, n_items), from up to `n_threads` threads,
/// the caller's among them; `thread` is below `n_threads` (0 for n_threads 0) and different for
/// items that run at the same time. Items must be independent; they are begun in order. The first
/// exception an item throws is thrown again here, after every running item ended; items not started
/// by then are skipped. A call from another thread meanwhile, or from an item, runs its items one
/// after the other.
void parallel_for(std::size_t n_items, std::size_t n_threads,
                  const std::function<void(std::size_t item, std::size_t thread)>& work);

/// Whether parallel_for has threads that only have to be woken.
bool has_threads_that_wait() noexcept;

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

// The CPUs that this process may use, and threads bound to them.

/// The CPUs of this process's affinity mask, the one it runs on first and those after it next;
/// empty when the system does not tell.
std::vector<int> allowed_cpus();

/// How many CPUs' time a control group may use, rounded up, from its file cpu.max: "150000 100000"
/// is 2. Nothing for "max 100000", and for what is no such text.
std::optional<std::size_t> cpus_of_quota(std::string_view cpu_max) noexcept;

/// As many threads as the affinity mask and the control group's quota let run at once; at least 1.
std::size_t available_threads() noexcept;

/// Keeps the calling thread on these CPUs from now on; nothing happens when there are none, or when
/// the system refuses.
void keep_this_thread_on(const std::vector<int>& cpus) noexcept;

/// Keeps the calling thread on `cpu` until the end of the scope; nothing happens for -1.
class ScopedPin {
 public:
  explicit ScopedPin(int cpu) noexcept;
  ~ScopedPin();
  ScopedPin(const ScopedPin&) = delete;
  ScopedPin& operator=(const ScopedPin&) = delete;

 private:
  std::vector<int> before_;
};

}  // namespace attnviz
