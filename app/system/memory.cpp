#include "system/memory.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

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

// Where a version of control groups keeps what.
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
  const auto limit = read_number(folder + version.limit);  // "max" is no number
  const auto used = read_number(folder + version.used);
  if (!limit || !used) {
    return kUnlimited;
  }
  const double cache = read_number(folder + "memory.stat", version.reclaimable).value_or(0.0);
  return std::max(0.0, *limit - *used + cache);
}

// The limits of this process's group and of all groups around it. A container may see its group at
// the root and still be told the name that it has outside.
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

double address_space_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return kUnlimited;
  }
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace

double available_memory() {
  return std::min({free_on_machine(), free_in_control_groups(), address_space_limit()});
}

std::string in_gigabytes(double bytes) {
  constexpr double kGigabyte = 1e9;
  const double gigabytes = bytes / kGigabyte;
  return gigabytes < 10.0 ? fmt::format("{:.2g} GB", gigabytes)
                          : fmt::format("{:.0f} GB", gigabytes);
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

void require_memory_for_heads(double bytes, std::string_view what, std::size_t n_heads,
                              std::size_t n_tokens) {
  require_memory(
      bytes,
      fmt::format("{} {} over {}", what, counted(n_heads, "head"), counted(n_tokens, "token")),
      n_heads == 1 ? "take a shorter text" : "take fewer heads (--head 0.0) or a shorter text");
}

}  // namespace attnviz::app
