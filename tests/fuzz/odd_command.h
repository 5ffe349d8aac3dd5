// Command lines with options of the command, combined by choice.
#pragma once

#include <string>
#include <vector>

#include "fuzz/choices.h"

namespace attnviz::test {

/// The words of a command line, without the program's name. It reads `kInput`, "missing", "-" or
/// models of the repository; the names of files that it writes begin with "out" or "sums". All but
/// the models are in the working folder.
std::vector<std::string> odd_command(Choices& choices);

inline constexpr const char* kInput = "in.json";

}  // namespace attnviz::test
