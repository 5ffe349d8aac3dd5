#include "attnviz/kernels/simd.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "attnviz/core/error.h"

namespace attnviz {

TEST_CASE("simd: a forced target is the one that runs") {
  const std::vector<std::string> targets = kernels::simd_targets();
  REQUIRE(!targets.empty());
  for (const std::string& target : targets) {
    const kernels::ScopedSimdTarget forced(target);
    CHECK(kernels::active_simd_target() == target);
    CHECK(kernels::simd_targets() == targets);  // asking changes nothing
    CHECK(kernels::active_simd_target() == target);
  }
}

TEST_CASE("simd: the best target runs by default and again after a forced one") {
  const std::string best = kernels::simd_targets().front();
  CHECK(kernels::active_simd_target() == best);
  { const kernels::ScopedSimdTarget forced(kernels::simd_targets().back()); }
  CHECK(kernels::active_simd_target() == best);
  kernels::force_simd_target("auto");
  CHECK(kernels::active_simd_target() == best);
}

TEST_CASE("simd: targets have lower-case names without repeats") {
  const std::vector<std::string> targets = kernels::simd_targets();
  CHECK(std::set<std::string>(targets.begin(), targets.end()).size() == targets.size());
  for (const std::string& target : targets) {
    CHECK(target.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos);
  }
}

TEST_CASE("simd: an unknown target is a usage error that lists the known ones") {
  const std::string before = kernels::active_simd_target();
  try {
    kernels::force_simd_target("avx9000");
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kUsage);
    const std::string message = error.what();
    CHECK(message.find("avx9000") != std::string::npos);
    for (const std::string& target : kernels::simd_targets()) {
      CHECK(message.find(target) != std::string::npos);
    }
  }
  CHECK_THROWS_AS(kernels::force_simd_target(""), Error);
  CHECK(kernels::active_simd_target() == before);
}

}  // namespace attnviz
