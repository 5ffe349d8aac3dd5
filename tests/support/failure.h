// What a reader throws.
#pragma once

#include <string>

#include "attnviz/core/error.h"

namespace attnviz::test {

struct Failure {
  ErrorKind kind = ErrorKind::kUsage;
  std::string message = "nothing was thrown";
};

template <typename Run>
Failure failure_of(Run run) {
  try {
    run();
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  return {};
}

}  // namespace attnviz::test
