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
  kText,        // between tags, white space around them taken off as they say
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

/// As jinja2 does with trim_blocks and lstrip_blocks, which transformers sets: removes a line feed
/// after a block or comment and the white space before one in its line; `-` removes all white space
/// on its side, `+` none. Also removes one line feed at the template's end. Lines must end with
/// line feeds, which run_jinja() ensures.
///
/// Throws Error{kMalformed} `where: line 3, column 14: …` for tags and texts without end and signs
/// that no expression has.
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

// Expressions of Jinja: what stands in {{ }} and in the tags of blocks.

/// Takes tokens one by one. All throw Error{kMalformed} `where: line 3, column 14: …` at a token
/// that does not fit.
class JinjaExpressionParser {
 public:
  JinjaExpressionParser(std::string_view source, std::string_view where)
      : source_(source), where_(where), tokens_(jinja_tokens(source, where)) {}

 protected:
  [[noreturn]] void fail(std::string_view message) const;
  [[noreturn]] void fail(std::size_t at, std::string_view message,
                         ErrorKind kind = ErrorKind::kMalformed) const;
  /// Deep trees are walked by functions that call themselves.
  Budget::Level level();

  const JinjaToken& next() const noexcept { return tokens_[at_]; }
  const JinjaToken& behind_next() const noexcept {
    return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_];
  }
  JinjaToken take() {
    n_loop_words_ += next().text == "loop" ? 1U : 0U;
    return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_];
  }
  /// How often a word "loop" has been taken.
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

  /// "a, b" is a tuple, also without parentheses.
  ExpressionPtr parse_tuple(bool with_condition = true);
  ExpressionPtr parse_expression();
  ExpressionPtr parse_or();
  /// One filter of `of`, behind its |.
  ExpressionPtr parse_filter(ExpressionPtr of);
  /// Filters, tests, and calls of what these give.
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

// All throw Error{kMalformed} without a place for wrong values, and what the budget throws. The
// first argument is what stands in front of the | or the "is".

/// What a filter makes. Throws for one that nobody knows, too.
Value jinja_filter(std::string_view name, const Arguments& arguments, Budget& budget);

/// Throws Error{kUnsupported} for a name among those that jinja2 or Python know and attnviz does
/// not run; `what` it is: "filter".
void fail_if_known(std::string_view name, std::string_view known, std::string_view what);

/// Whether a test passes. Throws for one that nobody knows, too.
bool jinja_test(std::string_view name, const Arguments& arguments, Budget& budget);

/// value.name as a function, of texts, lists and mappings; nothing when there is no such method.
/// `budget` must outlive it.
std::optional<Value> jinja_method(const Value& value, std::string_view name, Budget& budget);

/// A text that was made, with what it takes counted.
Value made_text(std::string text, Budget& budget);

/// `change` of a text, which makes its letters capital or small, with what it takes counted.
Value recased(std::string (*change)(std::string_view), std::string_view text, Budget& budget);

/// text.replace(from, to, most), with what it takes counted before it is made.
Value replaced_text(std::string_view text, std::string_view from, std::string_view to,
                    std::size_t most, Budget& budget);

/// What a loop goes through: items of lists, what is left of generators, which then are empty, keys
/// of mappings, characters of texts, nothing of what is undefined. Throws for other values.
std::vector<Value> items_of(const Value& value, Budget& budget);

/// Python's `item in values`.
bool contains(const Value& values, const Value& item, Budget& budget);

/// An attribute of a value by name, as filters take it: "function.name", or an index.
Value attribute_of(const Value& value, std::string_view path, Budget& budget);

/// One that must be there, of its kind; throws what it expected.
const Value& needed(const Arguments& arguments, std::size_t place, std::string_view name);
std::int64_t needed_integer(const Value& value, std::string_view what);
const std::string& needed_text(const Value& value, std::string_view what);
/// Throws for more arguments by place than there are words in `parameters`, behind the first ones,
/// and for names that are none of them; "_" is one that goes by its place alone.
void check_arguments(std::string_view function, std::string_view parameters, const Arguments& given,
                     std::size_t n_first = 0);
/// A text, or as many spaces as a number says.
std::string needed_margin(const Value& value, std::string_view what, Budget& budget);
/// At most how often something is done: any number for -1 and None, and when nobody says.
std::size_t most_of(const Arguments& arguments, std::size_t place, std::string_view name);

/// dict(), with what it is given by name behind the members of a dict.
Value made_dict(const Arguments& arguments, Budget& budget);

/// Filters of numbers: int, float and abs.
Value to_int(const Arguments& arguments, Budget& budget);
Value to_float(const Arguments& arguments, Budget& budget);
Value absolute(const Arguments& arguments, Budget& budget);

/// What `loop` is in a loop at item i.
Value loop_value(const std::vector<Value>& items, std::size_t i);

/// jinja2's range(): a list of at most Budget::kMostItems numbers.
Value made_range(const Arguments& arguments, Budget& budget);

// Runs a Jinja template.

/// What a template wrote, and for which message: parts of bytes [begin, end), in order.
struct Written {
  struct Part {
    std::size_t begin = 0, end = 0;
    std::optional<std::size_t> message;  // whose turn of a loop wrote it; nothing: no one's
  };
  std::string text;
  std::vector<Part> parts;

  void add(std::string_view more, std::optional<std::size_t> message);
};

/// Renders a template with these globals, as jinja2 does set up as in transformers: what is not
/// there prints nothing, is false, and may be tested; asking more of it is an error. Throws
/// Error{kMalformed} `where: line 3, column 14: …` for whatever goes wrong, also more steps, text
/// or depth than a Budget has, Error{kUnsupported} for what is known and not run.
Written run_jinja(std::string_view source, std::string_view where, const Map& globals);

}  // namespace attnviz::templates
