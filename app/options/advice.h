// Messages with lines to copy, shell quoting, and the translation of the library's parameter names
// into option names: the user types options, not parameters.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"

namespace attnviz::app {

struct ParsedWords;

/// A message and, separately, the lines printed below it: a line feed that a name or a file has put
/// into the message must not make it look like two messages.
struct Advice {
  std::string message = {};
  std::vector<std::string> lines = {};  // "attnviz diff \"The cat\" \"the dog\""
};

/// An Error that suggests what to type instead.
class AdviceError : public Error {
 public:
  AdviceError(ErrorKind kind, Advice advice)
      : Error(kind, advice.message), lines_(std::move(advice.lines)) {}
  /// Keeps the lines of an AdviceError.
  explicit AdviceError(const Error& error) : Error(error) {
    if (const auto* const advice_error = dynamic_cast<const AdviceError*>(&error)) {
      lines_ = advice_error->lines_;
    }
  }

  const std::vector<std::string>& lines() const noexcept { return lines_; }

 private:
  std::vector<std::string> lines_;
};

/// `message`, which the library wrote about its `parameter` (Error::parameter()), with parameters
/// replaced by the options that set them: "d_model 10: …" becomes "--d-model 10: …". Hints that
/// other options give about the parameter are appended. Returns `message` unchanged if either is
/// empty.
std::string in_option_names(std::string message, std::string_view parameter);

/// A word that sh, dash, bash, zsh and fish read alike, quoted if necessary. Characters that a
/// terminal could interpret when the line is pasted become octal escapes for `printf`; trailing
/// line feeds, which $(…) strips, follow unchanged in single quotes.
std::string shell_word(const std::string& word);

/// As shell_word(), in double quotes where they suffice, as people quote a sentence.
std::string shell_quoted(const std::string& word);

/// A command line that computes the same attention as the command `name`, without its text. Options
/// of the drawing are left out: the page shows them itself.
std::string computing_command(std::string_view name, const ParsedWords& parsed);

}  // namespace attnviz::app
