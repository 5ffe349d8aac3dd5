// Weights files that must be refused, and the messages.
#pragma once

#include <string>
#include <vector>

#include "attnviz/core/error.h"

namespace attnviz::test {

struct MalformedWeights {
  std::string what;     // a sentence for the test's log
  std::string bytes;    // the file
  std::string message;  // how the error begins after "FILE: "
  ErrorKind kind = ErrorKind::kMalformed;
};

/// A valid weights file: d_model 2, two layers, the first with two heads of d_head 2.
std::string valid_weights();

/// Every case differs from a valid file as its name says.
std::vector<MalformedWeights> malformed_weights();

}  // namespace attnviz::test
