#include "memory.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "attnviz/core/error.h"

namespace attnviz::app {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// The number behind `key` in a file of "key number" lines; an empty key takes the first number.
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

// The group of a container stands at the root of its own view; version 2, then version 1.
double free_in_control_group() {
  struct Files {
    const char* limit;
    const char* used;
    const char* statistics;
    const char* reclaimable;
  };
  constexpr Files kVersions[] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat",
       "inactive_file"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
       "/sys/fs/cgroup/memory/memory.stat", "total_inactive_file"}};
  for (const Files& files : kVersions) {
    const auto limit = read_number(files.limit);  // "max" is no number
    const auto used = read_number(files.used);
    if (limit && used) {
      const double cache = read_number(files.statistics, files.reclaimable).value_or(0.0);
      return std::max(0.0, *limit - *used + cache);
    }
  }
  return kUnlimited;
}

double address_space_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return kUnlimited;
  }
  return static_cast<double>(limit.rlim_cur);
}

std::string in_gigabytes(double bytes) {
  constexpr double kGigabyte = 1e9;
  const double gigabytes = bytes / kGigabyte;
  return gigabytes < 10.0 ? fmt::format("{:.2g} GB", gigabytes)
                          : fmt::format("{:.0f} GB", gigabytes);
}

}  // namespace

double available_memory() {
  return std::min({free_on_machine(), free_in_control_group(), address_space_limit()});
}

void require_memory(double bytes, std::string_view what, std::string_view hint) {
  constexpr double kAlwaysThere = 64e6;  // asking the system costs more than most pictures
  if (bytes <= kAlwaysThere) {
    return;
  }
  const double available = available_memory();
  if (bytes > available) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} needs about {} of memory, and {} are free: {}", what,
                            in_gigabytes(bytes), in_gigabytes(available), hint));
  }
}

}  // namespace attnviz::app
