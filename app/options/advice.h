// What is said with lines to copy behind it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"

namespace attnviz::app {

/// A message, and lines of their own behind it. Apart from each other: a line feed that a name or a
/// file has put into a message must not make it look like two.
struct Advice {
  std::string message = {};
  std::vector<std::string> lines = {};  // "attnviz diff \"The cat\" \"the dog\""
};

/// An Error that says what to type instead.
class AdviceError : public Error {
 public:
  AdviceError(ErrorKind kind, Advice advice)
      : Error(kind, advice.message), lines_(std::move(advice.lines)) {}
  /// With its lines, when it has some.
  explicit AdviceError(const Error& error) : Error(error) {
    if (const auto* const told = dynamic_cast<const AdviceError*>(&error)) {
      lines_ = told->lines_;
    }
  }

  const std::vector<std::string>& lines() const noexcept { return lines_; }

 private:
  std::vector<std::string> lines_;
};

}  // namespace attnviz::app
