// Templates of Go's text/template, as Ollama keeps them. The tree of a Go template.
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

/// What Ollama's functions currentDate and yesterdayDate give: "2025-07-26".
struct GoDates {
  std::string today, yesterday;
};

class GoTemplate {
 public:
  /// Throws Error{kMalformed} `where: line 3, column 14: …` for what is no template,
  /// Error{kUnsupported} for templates in templates.
  GoTemplate(std::string_view source, std::string_view where);
  ~GoTemplate();
  GoTemplate(const GoTemplate&) = delete;
  GoTemplate& operator=(const GoTemplate&) = delete;

  /// Whether a field is looked up anywhere, by its name in any case.
  bool mentions(std::string_view field) const;

  /// Executes it. What is not there is a zero value, which prints nothing. With `until_response`
  /// nothing behind the first .Response is executed. Throws Error{kMalformed} as run_jinja() does,
  /// and what the budget throws: one for all runs of a chat.
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
  std::vector<std::string> fields = {};     // .A.B behind it
};

struct GoPipe {
  std::size_t at = 0;
  std::vector<std::string> variables;            // that take the value
  bool declares = false;                         // := rather than =
  std::vector<std::vector<GoOperand>> commands;  // each gives its value to the next one
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

/// What an action prints: nothing for what is not there.
std::string go_text(const Value& value, Budget& budget);

/// All but "and" and "or", which may not look at all of their arguments. Throws Error{kMalformed}
/// for arguments that a function does not take, and for one that nobody knows.
Value go_call(const std::string& name, const std::vector<Value>& arguments, const GoDates& dates,
              Budget& budget);

}  // namespace attnviz::templates
