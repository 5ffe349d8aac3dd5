// Templates of Go's text/template, as used by Ollama. The tree of a Go template.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/template/budget.h"
#include "attnviz/text/template/jinja.h"
#include "attnviz/text/template/value.h"

namespace attnviz::templates {

struct GoNode;

/// The values of Ollama's functions currentDate and yesterdayDate: "2025-07-26".
struct GoDates {
  std::string today, yesterday;
};

class GoTemplate {
 public:
  /// Throws Error{kMalformed} `where: line 3, column 14: …` for an invalid template,
  /// Error{kUnsupported} for nested templates.
  GoTemplate(std::string_view source, std::string_view where);
  ~GoTemplate();
  GoTemplate(const GoTemplate&) = delete;
  GoTemplate& operator=(const GoTemplate&) = delete;

  /// Whether a field is used anywhere; the case of its name is ignored.
  bool mentions(std::string_view field) const;

  /// Executes the template. Missing values are zero values, which print nothing. With
  /// `until_response`, stops after the first .Response. Throws Error{kMalformed} as run_jinja()
  /// does, and what the budget throws, which is shared by all runs of a chat.
  Written run(const Value& data, const GoDates& dates, Budget& budget,
              bool until_response = false) const;

 private:
  std::string source_;
  std::string where_;
  std::vector<GoNode> nodes_;
};

struct GoPipe;

struct GoOperand {
  enum class Kind { kDot, kVariable, kConstant, kFunction, kPipe };
  Kind kind = Kind::kDot;
  std::string name = {};  // of variables and functions
  Value constant = {};
  std::shared_ptr<const GoPipe> pipe = {};  // in parentheses
  std::vector<std::string> fields = {};     // .A.B after it
};

struct GoPipe {
  std::size_t at = 0;
  std::vector<std::string> variables;            // variables that receive the value
  bool declares = false;                         // := rather than =
  std::vector<std::vector<GoOperand>> commands;  // each passes its value to the next one
};

struct GoNode {
  enum class Kind { kText, kAction, kIf, kRange, kWith, kBreak, kContinue };
  Kind kind = Kind::kText;
  std::size_t at = 0;
  std::string text = {};
  std::shared_ptr<const GoPipe> pipe = {};
  std::vector<GoNode> body = {};
  std::vector<GoNode> otherwise = {};
};

/// Throws as GoTemplate does.
std::vector<GoNode> parse_go(std::string_view source, std::string_view where);

// Functions of Go's templates, and those that Ollama adds.

/// What an action prints: nothing for missing values.
std::string go_text(const Value& value, Budget& budget);

/// Calls any function except "and" and "or", which may not evaluate all their arguments. Throws
/// Error{kMalformed} for arguments that a function does not accept, and for unknown functions.
Value go_call(const std::string& name, const std::vector<Value>& arguments, const GoDates& dates,
              Budget& budget);

}  // namespace attnviz::templates
