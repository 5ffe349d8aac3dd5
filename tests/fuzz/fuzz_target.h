// What libFuzzer, or fuzz_driver.cpp, calls with every input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Returns 0. The name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(  // NOLINT(readability-identifier-naming)
    const std::uint8_t* data, std::size_t size);

namespace attnviz::test {

/// Inputs to begin with, so that there always are some; for fuzz_driver.cpp.
std::vector<std::string> fuzz_seeds();

}  // namespace attnviz::test
