// Jinja templates: cut into tokens, parsed into a tree, and run.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/text/template/budget.h"
#include "attnviz/text/template/value.h"

namespace attnviz::templates {

enum class JinjaTokenKind {
  kText,        // between tags, without the white space that these remove
  kPrintBegin,  // {{
  kPrintEnd,
  kBlockBegin,  // {%
  kBlockEnd,
  kName,
  kString,  // without quotes, escapes resolved
  kInteger,
  kReal,
  kOperator,
  kEnd,
};

struct JinjaToken {
  JinjaTokenKind kind = JinjaTokenKind::kEnd;
  std::string text;
  std::size_t at = 0;  // byte in the source
};

/// As in jinja2 with trim_blocks and lstrip_blocks, which transformers sets: removes a line feed
/// after a block or comment and the white space before one in its line; `-` removes all white space
/// on its side, `+` none. Also removes one line feed at the end of the template. Lines must end
/// with line feeds, which run_jinja() ensures.
///
/// Throws Error{kMalformed} `where: line 3, column 14: …` for tags and strings that do not end, and
/// for characters that are not part of expressions.
std::vector<JinjaToken> jinja_tokens(std::string_view source, std::string_view where);

// The tree of a Jinja template.

enum class ExpressionKind {
  kConstant,
  kName,
  kList,
  kTuple,
  kDict,     // parts: key, value, key, value, …
  kUnary,    // name: "not", "-", "+"
  kBinary,   // name: "+", "-", "*", "/", "//", "%", "**", "~"
  kCompare,  // parts: one more than names; names: "==", "in", "not in", …
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
  kIf,        // branches; the last may lack a condition
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
  ExpressionPtr otherwise;  // null: without a default
};

struct Statement {
  StatementKind kind = StatementKind::kText;
  std::size_t at = 0;
  std::string text = {};      // a text, or the name of a macro or tag
  ExpressionPtr target = {};  // a name, a tuple of names, or an attribute of a namespace
  ExpressionPtr value = {};
  ExpressionPtr condition = {};
  std::vector<Branch> branches = {};
  std::vector<Parameter> parameters = {};
  Body body = {};
  Body otherwise = {};
  bool names_loop = false;  // of a loop's body: it may use `loop`
};

/// Throws Error{kMalformed} `where: line 3, column 14: …` for an invalid template.
Body parse_jinja(std::string_view source, std::string_view where);

// Jinja expressions: the content of {{ }} and of block tags.

/// Takes tokens one by one. All functions throw Error{kMalformed} `where: line 3, column 14: …` at
/// an unexpected token.
class JinjaExpressionParser {
 public:
  JinjaExpressionParser(std::string_view source, std::string_view where)
      : source_(source), where_(where), tokens_(jinja_tokens(source, where)) {}

 protected:
  [[noreturn]] void fail(std::string_view message) const;
  [[noreturn]] void fail(std::size_t at, std::string_view message,
                         ErrorKind kind = ErrorKind::kMalformed) const;
  /// Limits the depth of trees, which are walked by recursion.
  Budget::Level level();

  const JinjaToken& next() const noexcept { return tokens_[at_]; }
  const JinjaToken& after_next() const noexcept {
    return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_];
  }
  JinjaToken take() {
    n_loop_words_ += next().text == "loop" ? 1U : 0U;
    return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_];
  }
  /// The number of words "loop" taken so far.
  std::size_t n_loop_words() const noexcept { return n_loop_words_; }
  bool is_operator(std::string_view text) const noexcept;
  bool is_word(std::string_view text) const noexcept;
  bool take_operator(std::string_view text);
  bool take_word(std::string_view text);
  std::string shown() const;
  void expect_operator(std::string_view text);
  void expect_word(std::string_view text);
  void expect(JinjaTokenKind kind, std::string_view what);
  std::string expect_name();

  /// "a, b" is a tuple even without parentheses.
  ExpressionPtr parse_tuple(bool with_condition = true);
  ExpressionPtr parse_expression();
  ExpressionPtr parse_or();
  /// One filter of `of`, after its |.
  ExpressionPtr parse_filter(ExpressionPtr of);
  /// Filters, tests, and calls of their results.
  ExpressionPtr parse_filters(ExpressionPtr node);

  static ExpressionPtr made(ExpressionKind kind, std::size_t at, std::string name = {});
  static ExpressionPtr constant(std::size_t at, Value value);

 private:
  static ExpressionPtr joined(ExpressionKind kind, std::size_t at, std::string name,
                              ExpressionPtr one, ExpressionPtr other);
  ExpressionPtr parse_and();
  ExpressionPtr parse_not();
  std::string take_comparison();
  ExpressionPtr parse_compare();
  template <class Parse>
  ExpressionPtr parse_binary(std::initializer_list<std::string_view> signs, const Parse& operand);
  ExpressionPtr parse_sum();
  ExpressionPtr parse_concatenation();
  ExpressionPtr parse_product();
  ExpressionPtr parse_power();
  ExpressionPtr parse_unary(bool with_filters);
  ExpressionPtr parse_primary();
  ExpressionPtr parse_name(const JinjaToken& token);
  ExpressionPtr parse_parentheses(std::size_t at);
  ExpressionPtr parse_list(std::size_t at);
  ExpressionPtr parse_dict(std::size_t at);
  ExpressionPtr parse_postfix(ExpressionPtr node);
  ExpressionPtr parse_subscript(ExpressionPtr of, std::size_t at);
  void parse_arguments(Expression& call);
  ExpressionPtr parse_test(ExpressionPtr of, std::size_t at);

  std::string_view source_;
  std::string_view where_;
  std::vector<JinjaToken> tokens_;
  std::size_t at_ = 0;
  std::size_t n_loop_words_ = 0;
  Budget budget_;
};

// Filters, tests, methods and functions that every Jinja template may use.

// All throw Error{kMalformed} without a position for wrong values, and what the budget throws. The
// first argument is the value before the | or the "is".

/// The result of a filter. Also throws for an unknown filter.
Value jinja_filter(std::string_view name, const Arguments& arguments, Budget& budget);

/// Throws Error{kUnsupported} if `name` is one of `known`, which jinja2 or Python know but attnviz
/// does not run; `what` is its kind: "filter".
void fail_if_known(std::string_view name, std::string_view known, std::string_view what);

/// Whether a test passes. Also throws for an unknown test.
bool jinja_test(std::string_view name, const Arguments& arguments, Budget& budget);

/// value.name as a function, for texts, lists and mappings; nothing if the method does not exist.
/// `budget` must outlive it.
std::optional<Value> jinja_method(const Value& value, std::string_view name, Budget& budget);

/// A newly created text, whose cost is counted.
Value made_text(std::string text, Budget& budget);

/// `change` of a text, which makes it upper or lower case; its cost is counted.
Value recased(std::string (*change)(std::string_view), std::string_view text, Budget& budget);

/// text.replace(from, to, most), whose cost is counted in advance.
Value replaced_text(std::string_view text, std::string_view from, std::string_view to,
                    std::size_t most, Budget& budget);

/// The items that a loop iterates over: items of lists, the remaining items of generators, which
/// are empty afterwards, keys of mappings, characters of texts, none for undefined values. Throws
/// for other values.
std::vector<Value> items_of(const Value& value, Budget& budget);

/// Python's `item in values`.
bool contains(const Value& values, const Value& item, Budget& budget);

/// An attribute of a value by name, as filters accept it: "function.name", or an index.
Value attribute_of(const Value& value, std::string_view path, Budget& budget);

/// A required argument or a value of this kind; otherwise throws what was expected.
const Value& needed(const Arguments& arguments, std::size_t place, std::string_view name);
std::int64_t needed_integer(const Value& value, std::string_view what);
const std::string& needed_text(const Value& value, std::string_view what);
/// Throws for more positional arguments than words in `parameters`, not counting the first
/// `n_first`, and for names that are not among them; "_" is a positional-only parameter.
void check_arguments(std::string_view function, std::string_view parameters, const Arguments& given,
                     std::size_t n_first = 0);
/// A text, or the given number of spaces.
std::string needed_margin(const Value& value, std::string_view what, Budget& budget);
/// The maximum number of repetitions: unlimited for -1, for None, and by default.
std::size_t most_of(const Arguments& arguments, std::size_t place, std::string_view name);

/// dict(): the members of a dict, followed by the named arguments.
Value made_dict(const Arguments& arguments, Budget& budget);

/// Filters of numbers: int, float and abs.
Value to_int(const Arguments& arguments, Budget& budget);
Value to_float(const Arguments& arguments, Budget& budget);
Value absolute(const Arguments& arguments, Budget& budget);

/// The value of `loop` at item i.
Value loop_value(const std::vector<Value>& items, std::size_t i);

/// jinja2's range(): a list of at most Budget::kMostItems numbers.
Value made_range(const Arguments& arguments, Budget& budget);

// Runs a Jinja template.

/// The text that a template wrote, and the message that each part belongs to: bytes [begin, end),
/// in order.
struct Written {
  struct Part {
    std::size_t begin = 0, end = 0;
    std::optional<std::size_t> message;  // the message whose iteration wrote it, if any
  };
  std::string text;
  std::vector<Part> parts;

  void add(std::string_view more, std::optional<std::size_t> message);
};

/// Renders a template with these globals, as in jinja2 with the settings of transformers: an
/// undefined value prints nothing, is false, and may be tested; any other use is an error. Throws
/// Error{kMalformed} `where: line 3, column 14: …` for all errors, including more steps, text or
/// depth than a Budget has, and Error{kUnsupported} for known features that are not run.
Written run_jinja(std::string_view source, std::string_view where, const Map& globals);

}  // namespace attnviz::templates
