// The errors that a reader throws.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>

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

/// Checks for "not supported", with `part` in the message.
template <typename Run>
void check_refused(Run run, std::string_view part) {
  const Failure failure = failure_of(run);
  CAPTURE(part);
  CAPTURE(failure.message);
  CHECK(failure.kind == ErrorKind::kUnsupported);
  CHECK(failure.message.find(part) != std::string::npos);
}

}  // namespace attnviz::test
