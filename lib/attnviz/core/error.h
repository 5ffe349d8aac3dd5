// The one exception type: where, what was expected, what was found, what to do next.
#pragma once

#include <stdexcept>
#include <string>

namespace attnviz {

/// Why something failed. The values are the program's exit codes.
enum class ErrorKind : int {
  kIo = 1,           // could not read or write
  kUsage = 2,        // the call does not make sense
  kMalformed = 3,    // an input file is broken
  kUnsupported = 4,  // an input file is well-formed but asks for something attnviz cannot do
};

/// Thrown by every part of the library; third-party exceptions become one at the boundary.
/// The message may quote input: callers make it printable before it reaches a terminal.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace attnviz
