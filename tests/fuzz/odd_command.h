// Command lines whose options are of the command, and go together as choices will.
#pragma once

#include <string>
#include <vector>

#include "fuzz/choices.h"

namespace attnviz::test {

/// The words of one, without the program's name. Files that it names are `kInput`, of the working
/// folder: begin with "out" or "sums" where they would be written, or are models of the repository.
std::vector<std::string> odd_command(Choices& choices);

inline constexpr const char* kInput = "in.json";

}  // namespace attnviz::test
