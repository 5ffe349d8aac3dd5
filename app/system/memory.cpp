#include "system/process.h"

#include <fmt/core.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/threads.h"

namespace attnviz::app {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// The number after `key` in a file of "key number" lines; an empty key takes the first number.
std::optional<double> read_number(const std::string& path, std::string_view key = {}) {
  std::ifstream file(path);
  std::string word;
  while (!key.empty() && file >> word && word != key) {
  }
  double number = 0.0;
  return file >> number ? std::optional(number) : std::nullopt;
}

double free_on_machine() {
  constexpr double kKibibyte = 1024.0;
  const auto kibibytes = read_number("/proc/meminfo", "MemAvailable:");
  return kibibytes ? *kibibytes * kKibibyte : kUnlimited;
}

// The files of a version of control groups.
struct ControlGroups {
  std::string_view entry;  // before the group's name in /proc/self/cgroup
  const char* root;
  const char* limit;
  const char* used;
  const char* reclaimable;  // in memory.stat
};

constexpr ControlGroups kVersions[] = {
    {"::", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"},
    {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file"}};

double free_in(const ControlGroups& version, const std::string& group) {
  const std::string folder = version.root + group + '/';
  const auto limit = read_number(folder + version.limit);  // "max" is not a number
  const auto used = read_number(folder + version.used);
  if (!limit || !used) {
    return kUnlimited;
  }
  const double cache = read_number(folder + "memory.stat", version.reclaimable).value_or(0.0);
  return std::max(0.0, *limit - *used + cache);
}

// The least memory that this process's group and the groups around it leave. A container may see
// its group at the root although its entry has the name from outside.
double free_in_control_groups() {
  double least = kUnlimited;
  std::ifstream entries("/proc/self/cgroup");
  for (std::string line; std::getline(entries, line);) {
    for (const ControlGroups& version : kVersions) {
      const std::size_t found = line.find(version.entry);
      if (found == std::string::npos) {
        continue;
      }
      std::string group = line.substr(found + version.entry.size());
      for (; group.starts_with('/'); group.resize(group.find_last_of('/'))) {
        least = std::min(least, free_in(version, group));
      }
      least = std::min(least, free_in(version, ""));
    }
  }
  return least;
}

// The limits of ulimit -v and -d.
double process_limit() {
  double least = kUnlimited;
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
      least = std::min(least, static_cast<double>(limit.rlim_cur));
    }
  }
  return least;
}

// The memory of this process alone, with the stacks of its threads; 0 if unknown.
double own_memory() {
  constexpr int kFieldsBefore = 5;  // proc(5): size resident shared text lib data
  std::ifstream file("/proc/self/statm");
  double pages = 0.0;
  for (int field = 0; field <= kFieldsBefore; ++field) {
    file >> pages;
  }
  return file ? pages * static_cast<double>(sysconf(_SC_PAGESIZE)) : 0.0;
}

double given_limit = kUnlimited;
// Size of a thread's stack. The system's default of 8 MB would count in full, even if hardly used.
constexpr std::size_t kStack = std::size_t{1} << 20;

// The text of out_of_memory(), also valid before and after the lifetime of static objects.
constinit std::array<char, 64> out_of_memory_text{"out of memory"};

double available_memory() {
  if (given_limit != kUnlimited) {
    constexpr double kUnforeseen = 16e6;  // partly filled large pages, and small allocations
    const double stacks = static_cast<double>(available_threads() * kStack);
    return std::max(0.0, given_limit - own_memory() - kUnforeseen - stacks);
  }
  return std::min({free_on_machine(), free_in_control_groups(), process_limit()});
}

constexpr double kAlwaysThere = 64e6;  // asking the system takes longer than most pictures

// The available memory, if less than `bytes`.
std::optional<double> too_little_for(double bytes) {
  if (bytes <= kAlwaysThere && given_limit == kUnlimited) {
    return std::nullopt;
  }
  const double available = available_memory();
  return bytes > available ? std::optional(available) : std::nullopt;
}

constexpr double kRoundedUp = 1e6;  // makes the estimate exceed what is available

[[noreturn]] void refuse(double bytes, double available, std::string_view what,
                         std::string_view hint) {
  throw Error(
      ErrorKind::kUsage,
      fmt::format("{} needs about {} of memory, and {}: {}", what, in_bytes(bytes + kRoundedUp),
                  given_limit == kUnlimited
                      ? in_bytes(available) + " are free"
                      : fmt::format("--max-memory leaves {}", in_bytes(available)),
                  hint));
}

// The largest number up to `most` for which `bytes` fit.
std::size_t most_that_fits(std::size_t most, double available,
                           const std::function<double(std::size_t)>& bytes) {
  std::size_t fits = 0;
  for (std::size_t too_many = most + 1; too_many - fits > 1;) {
    const std::size_t middle = fits + (too_many - fits) / 2;
    (bytes(middle) <= available ? fits : too_many) = middle;
  }
  return fits;
}

}  // namespace

void limit_memory(double bytes) {
  given_limit = bytes;
#ifdef __GLIBC__
  pthread_attr_t stacks;
  if (pthread_attr_init(&stacks) == 0) {
    if (pthread_attr_setstacksize(&stacks, kStack) == 0) {
      pthread_setattr_default_np(&stacks);
    }
    pthread_attr_destroy(&stacks);
  }
#endif
  fmt::format("out of memory: --max-memory allows {}", in_bytes(bytes))
      .copy(out_of_memory_text.data(), out_of_memory_text.size() - 1);
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) == 0) {
    limit.rlim_cur = std::min(limit.rlim_cur, static_cast<rlim_t>(bytes));
    setrlimit(RLIMIT_DATA, &limit);
  }
}

std::string in_bytes(double bytes) {
  constexpr double kGigabyte = 1e9;
  constexpr double kMegabyte = 1e6;
  if (bytes < kGigabyte) {
    return fmt::format("{:.0f} MB", std::floor(bytes / kMegabyte));
  }
  const double gigabytes = bytes / kGigabyte;
  return gigabytes < 10.0 ? fmt::format("{:.2g} GB", gigabytes)
                          : fmt::format("{:.0f} GB", gigabytes);
}

std::string_view out_of_memory() noexcept {
  return out_of_memory_text.data();
}

std::string with_limit(std::string_view message) {
  const bool is_of_memory = message.find("out of memory") != std::string_view::npos;
  return std::string(message) +
         (is_of_memory && given_limit != kUnlimited
              ? fmt::format("; --max-memory allows {}", in_bytes(given_limit))
              : "");
}

void require_memory(double bytes, std::string_view what, std::string_view hint) {
  if (const auto available = too_little_for(bytes)) {
    refuse(bytes, *available, what, hint);
  }
}

void require_memory_for_heads(const BytesForHeads& bytes, std::string_view what,
                              std::size_t n_heads, std::size_t n_tokens) {
  const double needed = bytes(n_heads, n_tokens);
  const auto available = too_little_for(needed);
  if (!available) {
    return;
  }
  const std::size_t heads =
      most_that_fits(n_heads, *available, [&](std::size_t n) { return bytes(n, n_tokens); });
  const std::size_t tokens =
      most_that_fits(n_tokens, *available, [&](std::size_t n) { return bytes(n_heads, n); });
  std::string hint = heads > 0 ? fmt::format("choose fewer heads (--head 0.0; {} would fit) or a ",
                                             counted(heads, "head"))
                               : "take a ";
  hint += tokens > 0 ? fmt::format("shorter text ({} would fit)", counted(tokens, "token"))
                     : "smaller model";
  refuse(needed, *available,
         fmt::format("{} {} over {}", what, counted(n_heads, "head"), counted(n_tokens, "token")),
         hint);
}

}  // namespace attnviz::app
