// The only exception type: where, what was expected, what was found, what to do next.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace attnviz {

/// Why something failed. The values are the program's exit codes.
enum class ErrorKind : int {
  kIo = 1,             // could not read or write
  kUsage = 2,          // the call does not make sense
  kMalformed = 3,      // an input file is broken
  kUnsupported = 4,    // an input file is well-formed but asks for something attnviz cannot do
  kUnexpected = 5,     // a check that was asked for failed
  kInterrupted = 130,  // by a signal; what was done before it is kept
};

/// Thrown by every part of the library; third-party exceptions become one at the boundary.
/// The message may quote input: callers make it printable before it reaches a terminal.
///
/// Example:
///     try {
///       throw attnviz::Error(attnviz::ErrorKind::kUsage, "query 7: expected an index below 3",
///       "query");
///     } catch (const attnviz::Error& error) {
///       if (error.kind() != attnviz::ErrorKind::kUsage || error.parameter() != "query") return 1;
///     }
class Error : public std::runtime_error {
 public:
  /// `parameter`: the library's name of the parameter that the message is about, for callers whose
  /// users know it by another name; static storage, usually empty.
  Error(ErrorKind kind, const std::string& message, std::string_view parameter = {})
      : std::runtime_error(message), kind_(kind), parameter_(parameter) {}

  ErrorKind kind() const noexcept { return kind_; }
  std::string_view parameter() const noexcept { return parameter_; }

 private:
  ErrorKind kind_;
  std::string_view parameter_;
};

}  // namespace attnviz
