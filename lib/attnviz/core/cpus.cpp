#include "attnviz/core/cpus.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace attnviz {

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
