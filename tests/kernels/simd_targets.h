// Runs a check on every SIMD target that the machine supports.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "attnviz/kernels/simd.h"

namespace attnviz::test {

inline void for_each_target(const auto& check) {
  for (const std::string& target : kernels::simd_targets()) {
    const kernels::ScopedSimdTarget forced(target);
    CAPTURE(target);
    check();
  }
}

}  // namespace attnviz::test
