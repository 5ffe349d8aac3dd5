// What is said with lines to copy after it. From the library's words to the program's: who types a
// command knows options, not parameters.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"

namespace attnviz::app {

/// A message, and lines of their own after it. Apart from each other: a line feed that a name or a
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

/// `message`, which the library wrote about its `parameter` (Error::parameter()), with the options
/// that set it: "d_model 10: …" becomes "--d-model 10: …", and what the rows of other options say
/// about the parameter stands at the end. Unchanged for an empty parameter, or message.
std::string in_option_names(std::string message, std::string_view parameter);

}  // namespace attnviz::app
