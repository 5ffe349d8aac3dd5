// What is said with lines to copy behind it. From the library's words to the program's: who types a
// command knows options, no parameters.
#pragma once

#include <string>
#include <string_view>
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

/// An Error about the word of the command line that names a model: others to give instead.
class OtherModelsError : public Error {
 public:
  OtherModelsError(ErrorKind kind, const std::string& message, std::string word,
                   std::vector<std::string> others)
      : Error(kind, message), word_(std::move(word)), others_(std::move(others)) {}

  /// The command line of these words, once with each of the others.
  std::vector<std::string> lines(const std::vector<std::string>& words) const;

 private:
  std::string word_;
  std::vector<std::string> others_;
};

/// `message`, which the library wrote about its `parameter` (Error::parameter()), with the options
/// that stand for it. Unchanged when there are none, as for an empty parameter.
std::string in_program_words(std::string message, std::string_view parameter);

}  // namespace attnviz::app
