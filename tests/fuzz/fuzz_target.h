// What every fuzz target has. With Clang libFuzzer makes the inputs, with other compilers
// fuzz_driver.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnviz::test {

/// Takes any bytes as an input. What escapes it, or ends the process, is a finding.
void fuzz_input(std::string_view bytes);

/// Inputs to begin with, so that there always are some.
std::vector<std::string> fuzz_seeds();

}  // namespace attnviz::test
