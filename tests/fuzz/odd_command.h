// Command lines whose options are of the command, and go together as choices will.
#pragma once

#include <string>
#include <vector>

#include "fuzz/choices.h"

namespace attnviz::test {

/// The words of one, without the program's name. Files that it reads are `kInput`, "missing" and
/// "-", or models of the repository; those that it writes begin with "out" or "sums". All but the
/// models are in the working folder.
std::vector<std::string> odd_command(Choices& choices);

inline constexpr const char* kInput = "in.json";

}  // namespace attnviz::test
