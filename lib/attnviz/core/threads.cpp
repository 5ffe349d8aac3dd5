#include "attnviz/core/threads.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <deque>
#include <exception>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

namespace attnviz {

namespace {

// Yields briefly to the other hardware thread of this core.
void give_way() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

// Threads that wait for work. If every CPU has a thread, each is bound to its own: a new thread
// would start too late for a millisecond of work, and often on the CPU of the thread that made it.
class Pool {
 public:
  using Job = std::function<void(std::size_t thread)>;

  static Pool& shared() {
    static Pool pool;
    return pool;
  }

  bool has_helpers() const noexcept { return has_helpers_.load(std::memory_order_relaxed); }

  ~Pool() {
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
      for (Helper& helper : helpers_) {
        helper.rounds.fetch_add(1);
      }
    }
    for (Helper& helper : helpers_) {
      helper.begun.notify_one();
    }
  }

  // Runs job(thread) for every thread below `n_threads`, or for fewer if the system does not give
  // that number; for 0 alone if another call is in progress.
  void run(std::size_t n_threads, const Job& job) {
    if (is_busy_.exchange(true)) {
      return job(0);
    }
    const Turn turn(is_busy_);
    start_helpers(n_threads - 1);
    const std::size_t n_helpers = std::min(n_threads - 1, helpers_.size());
    std::vector<int> cpus = allowed_cpus();
    // With fewer threads than CPUs, the system finds free CPUs better than a fixed choice.
    const bool one_each = !cpus.empty() && n_threads >= cpus.size();
    const int own_cpu = one_each ? cpus.front() : -1;
    {
      const std::scoped_lock lock(mutex_);
      job_ = &job;
      cpus_ = std::move(cpus);
      one_each_ = one_each;
      running_.store(n_helpers);
      for (std::size_t i = 0; i < n_helpers; ++i) {
        helpers_[i].rounds.fetch_add(1);
      }
    }
    for (std::size_t i = 0; i < n_helpers; ++i) {
      helpers_[i].begun.notify_one();
    }
    {
      const ScopedPin pinned(own_cpu);
      job(0);
    }
    wait([this] { return running_.load() == 0; }, ended_, one_each);
  }

 private:
  // A helper that does not take part in a call stays asleep.
  struct Helper {
    std::condition_variable begun;
    std::atomic<std::uint64_t> rounds{0};
    std::jthread thread;  // last: it ends before what it uses
  };

  // Ends the period in which this call is the only one.
  class Turn {
   public:
    explicit Turn(std::atomic<bool>& is_busy) noexcept : is_busy_(is_busy) {}
    ~Turn() { is_busy_.store(false); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    std::atomic<bool>& is_busy_;
  };

  // Signals go to the caller's threads, which know when to expect one.
  void start_helpers(std::size_t count) {
    if (helpers_.size() >= count) {
      return;
    }
    const SignalsHeld held;
    try {
      while (helpers_.size() < count) {
        const std::size_t index = helpers_.size();
        Helper& helper = helpers_.emplace_back();
        try {
          helper.thread = std::jthread([this, &helper, index] { help(helper, index); });
        } catch (...) {
          helpers_.pop_back();
          throw;
        }
        has_helpers_ = true;
      }
    } catch (const std::system_error&) {
      // The system gives no more threads: fewer threads do the same work.
    }
  }

  void help(Helper& helper, std::size_t index) {
    std::vector<int> kept_on;  // empty: not bound to CPUs
    for (std::uint64_t seen = 0;; ++seen) {
      wait([&helper, seen] { return helper.rounds.load() != seen; }, helper.begun,
           !kept_on.empty());
      const Job* job = nullptr;
      std::vector<int> cpus;
      bool one_each = false;
      {
        const std::scoped_lock lock(mutex_);
        if (stopped_) {
          return;
        }
        one_each = one_each_;
        job = job_;
        if (one_each) {
          cpus = {cpus_[(index + 1) % cpus_.size()]};
        } else if (!kept_on.empty()) {
          cpus = cpus_;
        }
      }
      if (cpus != kept_on) {
        keep_this_thread_on(cpus);
        kept_on = one_each ? std::move(cpus) : std::vector<int>{};
      }
      (*job)(index + 1);
      const std::scoped_lock lock(mutex_);
      if (running_.fetch_sub(1) == 1) {
        ended_.notify_one();
      }
    }
  }

  // Spins for a while, since the next step of a layer follows soon, and then sleeps. With a CPU of
  // its own, the thread spins at most as long as waking a sleeping thread takes; otherwise it spins
  // more briefly, since another thread may need the CPU.
  template <class Condition>
  void wait(const Condition& condition, std::condition_variable& changed, bool has_cpu) {
    constexpr int kLooks = 100;
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::microseconds(has_cpu ? 200 : 5);
    do {
      for (int i = 0; i < kLooks; ++i) {
        if (condition()) {
          return;
        }
        give_way();
      }
    } while (std::chrono::steady_clock::now() < end);
    std::unique_lock lock(mutex_);
    changed.wait(lock, condition);
  }

  std::atomic<bool> is_busy_{false};  // one call at a time
  std::atomic<bool> has_helpers_{false};

  std::mutex mutex_;  // guards the members below
  std::condition_variable ended_;
  std::atomic<std::size_t> running_{0};
  const Job* job_ = nullptr;
  std::vector<int> cpus_;  // CPUs that the process may use
  bool one_each_ = false;  // whether each thread has its own CPU
  bool stopped_ = false;

  std::deque<Helper> helpers_;  // last: they end before what they use
};

}  // namespace

void parallel_for(std::size_t n_items, std::size_t n_threads,
                  const std::function<void(std::size_t, std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr first_failure;
  std::mutex failure_mutex;

  const auto drain = [&](std::size_t thread) {
    for (std::size_t item = next.fetch_add(1); item < n_items; item = next.fetch_add(1)) {
      try {
        work(item, thread);
      } catch (...) {
        const std::scoped_lock lock(failure_mutex);
        if (!first_failure) {
          first_failure = std::current_exception();
        }
        next.store(n_items);
      }
    }
  };

  const std::size_t useful_threads = std::min(n_threads, n_items);
  if (useful_threads <= 1) {
    drain(0);
  } else {
    Pool::shared().run(useful_threads, drain);
  }
  if (first_failure) {
    std::rethrow_exception(first_failure);
  }
}

bool has_threads_that_wait() noexcept {
  return Pool::shared().has_helpers();
}

void Turns::wait_for(std::size_t item) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, item] { return next_ == item; });
}

Turns::Turn::~Turn() {
  turns_.wait_for(item_);
  {
    const std::scoped_lock lock(turns_.mutex_);
    ++turns_.next_;
  }
  turns_.changed_.notify_all();
}

void Turns::Turn::take(const std::function<void()>& step) {
  turns_.wait_for(item_);
  if (turns_.failed_) {  // only the item whose turn it is reads or writes it
    return;
  }
  try {
    step();
  } catch (...) {
    turns_.failed_ = true;
    throw;
  }
}

namespace {

#ifdef __linux__
void set_affinity(const std::vector<int>& cpus) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    CPU_SET(static_cast<unsigned>(cpu), &set);
  }
  sched_setaffinity(0, sizeof set, &set);
}
#else
void set_affinity(const std::vector<int>& /*cpus*/) noexcept {}
#endif

// The second version of control groups; a container sees its own group at the root.
std::optional<std::size_t> quota() noexcept {
  try {
    std::ifstream file("/sys/fs/cgroup/cpu.max");
    std::string line;
    return std::getline(file, line) ? cpus_of_quota(line) : std::nullopt;
  } catch (...) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
#ifdef __linux__
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(static_cast<unsigned>(cpu), &allowed)) {
        cpus.push_back(cpu);
      }
    }
  }
  const auto here = std::find(cpus.begin(), cpus.end(), sched_getcpu());
  if (here != cpus.end()) {
    std::rotate(cpus.begin(), here, cpus.end());
  }
#endif
  return cpus;
}

std::optional<std::size_t> cpus_of_quota(std::string_view cpu_max) noexcept {
  const char* const end = cpu_max.data() + cpu_max.size();
  std::size_t microseconds = 0;
  std::size_t period = 0;
  const auto first = std::from_chars(cpu_max.data(), end, microseconds);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ' ') {
    return std::nullopt;
  }
  const auto second = std::from_chars(first.ptr + 1, end, period);
  if (second.ec != std::errc{} || second.ptr != end || period == 0) {
    return std::nullopt;
  }
  return std::max<std::size_t>(1, microseconds / period + (microseconds % period != 0 ? 1 : 0));
}

std::size_t available_threads() noexcept {
  std::size_t threads = 0;
  try {
    threads = allowed_cpus().size();
  } catch (...) {
  }
  if (threads == 0) {
    threads = std::thread::hardware_concurrency();
  }
  threads = std::min(threads, quota().value_or(threads));
  return std::max<std::size_t>(1, threads);
}

void keep_this_thread_on(const std::vector<int>& cpus) noexcept {
  if (!cpus.empty()) {
    set_affinity(cpus);
  }
}

ScopedPin::ScopedPin(int cpu) noexcept {
  if (cpu < 0) {
    return;
  }
  try {
    before_ = allowed_cpus();
    keep_this_thread_on({cpu});
  } catch (...) {
  }
}

ScopedPin::~ScopedPin() {
  keep_this_thread_on(before_);
}

}  // namespace attnviz
