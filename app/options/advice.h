// What is said with lines to copy after it, and words as a shell takes them. From the library's
// words to the program's: who types a command knows options, not parameters.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"

namespace attnviz::app {

struct ParsedWords;

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

/// A word that sh, dash, bash, zsh and fish read alike, quoted if necessary. Characters that a
/// terminal could obey when the line is pasted become octal numbers for `printf`; line feeds at the
/// end, which $(…) strips, follow in single quotes, as they are.
std::string shell_word(const std::string& word);

/// The same in double quotes where these do: as people type a sentence.
std::string shell_quoted(const std::string& word);

/// What computes the same attention as the command `name`, without its text: what is drawn of it,
/// and how, a page says itself.
std::string computing_command(std::string_view name, const ParsedWords& parsed);

}  // namespace attnviz::app
