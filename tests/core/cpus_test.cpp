#include "attnviz/core/threads.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace attnviz {
namespace {

std::vector<int> sorted(std::vector<int> cpus) {
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

}  // namespace

TEST_CASE("cpus_of_quota: a control group's share of time, rounded up to whole CPUs") {
  CHECK(cpus_of_quota("200000 100000") == 2);
  CHECK(cpus_of_quota("150000 100000") == 2);
  CHECK(cpus_of_quota("100001 100000") == 2);
  CHECK(cpus_of_quota("1000 100000") == 1);
  CHECK(cpus_of_quota("0 100000") == 1);
  for (const char* text :
       {"max 100000", "", "100000", "100000 ", "100000 0", "x 1", "1 x", "1 2 x"}) {
    CAPTURE(text);
    CHECK(cpus_of_quota(text) == std::nullopt);
  }
}

TEST_CASE("available_threads: at least one, and no more than the allowed CPUs") {
  CHECK(available_threads() >= 1);
  CHECK(available_threads() <= std::max<std::size_t>(1, allowed_cpus().size()));
}

TEST_CASE("ScopedPin: the thread stays on one CPU, and has all of them afterwards") {
  const std::vector<int> before = sorted(allowed_cpus());
  for (const int cpu : before) {
    const ScopedPin pinned(cpu);
    CHECK(allowed_cpus() == std::vector<int>{cpu});
  }
  {
    const ScopedPin nothing(-1);
    CHECK(sorted(allowed_cpus()) == before);
  }
  CHECK(sorted(allowed_cpus()) == before);
}

}  // namespace attnviz
