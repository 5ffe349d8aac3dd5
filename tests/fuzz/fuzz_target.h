// What libFuzzer, or fuzz_driver.cpp, calls with every input.
#pragma once

#include <cstddef>
#include <cstdint>

/// Returns 0. The name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(  // NOLINT(readability-identifier-naming)
    const std::uint8_t* data, std::size_t size);
