// The tree of a Jinja template.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/text/template/value.h"

namespace attnviz::templates {

enum class ExpressionKind {
  kConstant,
  kName,
  kList,
  kTuple,
  kDict,     // parts: key, value, key, value, …
  kUnary,    // name: "not", "-", "+"
  kBinary,   // name: "+", "-", "*", "/", "//", "%", "**", "~"
  kCompare,  // parts: as many as names and one more; names: "==", "in", "not in", …
  kAnd,      // parts: two
  kOr,
  kConditional,  // parts: value, condition, otherwise (may be null)
  kItem,         // parts: of, index
  kAttribute,    // parts: of; name
  kSlice,        // parts: of, first, end, step; the last three may be null
  kCall,         // parts: function, then arguments
  kFilter,       // name; parts: of, then arguments
  kTest,         // name; parts: of, then arguments
};

struct Expression {
  Expression() = default;
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;
  ~Expression();

  ExpressionKind kind = ExpressionKind::kConstant;
  std::size_t at = 0;
  std::string name = {};
  Value constant = {};
  std::vector<std::unique_ptr<Expression>> parts = {};
  std::vector<std::string> names = {};                                          // of comparisons
  std::vector<std::pair<std::string, std::unique_ptr<Expression>>> named = {};  // arguments
  bool is_negated = false;                                                      // is not
};
using ExpressionPtr = std::unique_ptr<Expression>;

enum class StatementKind {
  kText,
  kPrint,
  kIf,        // branches, the last of which may have no condition
  kFor,       // target, value, condition (may be null), body, otherwise
  kSet,       // target, value
  kSetBlock,  // target, body
  kMacro,     // name, parameters, body
  kFilter,    // value, a filter of the body
  kBreak,
  kContinue,
  kBody,  // only the body, whose names stay in it: {% generation %}
};

struct Statement;
using Body = std::vector<Statement>;

struct Branch {
  ExpressionPtr condition;
  Body body;
};

struct Parameter {
  std::string name;
  ExpressionPtr otherwise;  // null: it has no default
};

struct Statement {
  StatementKind kind = StatementKind::kText;
  std::size_t at = 0;
  std::string text = {};      // of texts, and names of macros and tags
  ExpressionPtr target = {};  // a name, a tuple of names, or an attribute of a namespace
  ExpressionPtr value = {};
  ExpressionPtr condition = {};
  std::vector<Branch> branches = {};
  std::vector<Parameter> parameters = {};
  Body body = {};
  Body otherwise = {};
  bool names_loop = false;  // the body of a loop: it may ask for `loop`
};

/// Throws Error{kMalformed} `where: line 3, column 14: …` for what is no template.
Body parse_jinja(std::string_view source, std::string_view where);

}  // namespace attnviz::templates
