// The interface of every fuzz target. With Clang libFuzzer generates the inputs, with other
// compilers fuzz_driver.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnviz::test {

/// Takes any bytes as an input. An exception that escapes it, or the end of the process, is a
/// finding.
void fuzz_input(std::string_view bytes);

/// Inputs to start from, so that there always are some.
std::vector<std::string> fuzz_seeds();

}  // namespace attnviz::test
