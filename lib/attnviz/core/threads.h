// Independent work items spread over threads: it never matters which thread runs which item, unless
// they take turns. The available CPUs.
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

/// Calls `work(item, thread)` once for each item in [0, n_items), on up to `n_threads` threads
/// including the caller's; `thread` is below `n_threads` (0 if n_threads is 0) and differs between
/// items that run at the same time. Items must be independent; they are started in order. The first
/// exception of an item is rethrown here after all running items have ended; items not started by
/// then are skipped. A call meanwhile from another thread, or from an item, runs its items one
/// after the other.
void parallel_for(std::size_t n_items, std::size_t n_threads,
                  const std::function<void(std::size_t item, std::size_t thread)>& work);

/// Whether parallel_for has threads that only need to be woken.
bool has_threads_that_wait() noexcept;

/// Turns of items 0, 1, 2, … Every started item must hold a Turn until it ends, and items must be
/// started in order (as parallel_for does), so that the item whose turn it is always runs.
class Turns {
 public:
  class Turn {
   public:
    Turn(Turns& turns, std::size_t item) noexcept : turns_(turns), item_(item) {}
    /// Waits for the turn if it has not come yet, and passes it on.
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    /// Waits for the turn and calls `step`, unless an earlier step threw. Throws what it throws.
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

/// Blocks signals in this thread and in threads that it starts, as long as this object lives.
/// Excludes signals for faults of the thread itself: the system ends a program at once if these are
/// blocked.
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

/// The CPUs of this process's affinity mask, beginning with the current one and those after it;
/// empty if the system does not report them.
std::vector<int> allowed_cpus();

/// How many CPUs a control group may use, rounded up, from its file cpu.max: "150000 100000" gives
/// 2. Nothing for "max 100000" and for malformed text.
std::optional<std::size_t> cpus_of_quota(std::string_view cpu_max) noexcept;

/// The number of threads that the affinity mask and the control group's quota let run at once; at
/// least 1.
std::size_t available_threads() noexcept;

/// Keeps the calling thread on these CPUs from now on. Does nothing if the list is empty or the
/// system refuses.
void keep_this_thread_on(const std::vector<int>& cpus) noexcept;

/// Keeps the calling thread on `cpu` until the end of the scope. Does nothing for -1.
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
