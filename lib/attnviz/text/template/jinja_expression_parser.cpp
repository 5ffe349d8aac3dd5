#include "attnviz/text/template/jinja.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "attnviz/core/choices.h"
#include "attnviz/core/message.h"
#include "attnviz/text/template/budget.h"

namespace attnviz::templates {

using Kind = JinjaTokenKind;

namespace {

template <class Number>
Number number_of(const JinjaToken& token, std::string_view where, std::string_view source) {
  const auto number = parse_number<Number>(token.text);
  if (!number) {
    fail_at(where, source, token.at, "the number is too large, or no number");
  }
  return *number;
}

}  // namespace

void JinjaExpressionParser::fail(std::string_view message) const {
  fail_at(where_, source_, next().at, message);
}

void JinjaExpressionParser::fail(std::size_t at, std::string_view message, ErrorKind kind) const {
  fail_at(where_, source_, at, message, kind);
}

// Limits the depth of trees, which are walked by recursion.
Budget::Level JinjaExpressionParser::level() try {
  return Budget::Level(budget_);
} catch (const Error&) {
  fail("expressions or blocks are nested too deep");
}

bool JinjaExpressionParser::is_operator(std::string_view text) const noexcept {
  return next().kind == Kind::kOperator && next().text == text;
}
bool JinjaExpressionParser::is_word(std::string_view text) const noexcept {
  return next().kind == Kind::kName && next().text == text;
}
bool JinjaExpressionParser::take_operator(std::string_view text) {
  const bool found = is_operator(text);
  at_ += found ? 1 : 0;
  return found;
}
bool JinjaExpressionParser::take_word(std::string_view text) {
  const bool found = is_word(text);
  at_ += found ? 1 : 0;
  return found;
}
std::string JinjaExpressionParser::shown() const {
  switch (next().kind) {
    case Kind::kEnd:
      return "the end";
    case Kind::kPrintEnd:
      return "}}";
    case Kind::kBlockEnd:
      return "%}";
    default:
      return in_quotes(next().text);
  }
}
void JinjaExpressionParser::expect_operator(std::string_view text) {
  if (!take_operator(text)) {
    fail(fmt::format("expected {}, found {}", text, shown()));
  }
}
void JinjaExpressionParser::expect_word(std::string_view text) {
  if (!take_word(text)) {
    fail(fmt::format("expected {}, found {}", text, shown()));
  }
}
void JinjaExpressionParser::expect(Kind kind, std::string_view what) {
  if (next().kind != kind) {
    fail(fmt::format("expected {}, found {}", what, shown()));
  }
  ++at_;
}
std::string JinjaExpressionParser::expect_name() {
  if (next().kind != Kind::kName) {
    fail(fmt::format("expected a name, found {}", shown()));
  }
  return take().text;
}

ExpressionPtr JinjaExpressionParser::made(ExpressionKind kind, std::size_t at, std::string name) {
  auto node = std::make_unique<Expression>();
  node->kind = kind;
  node->at = at;
  node->name = std::move(name);
  return node;
}
ExpressionPtr JinjaExpressionParser::joined(ExpressionKind kind, std::size_t at, std::string name,
                                            ExpressionPtr one, ExpressionPtr other) {
  ExpressionPtr node = made(kind, at, std::move(name));
  node->parts.push_back(std::move(one));
  node->parts.push_back(std::move(other));
  return node;
}
ExpressionPtr JinjaExpressionParser::constant(std::size_t at, Value value) {
  ExpressionPtr node = made(ExpressionKind::kConstant, at);
  node->constant = std::move(value);
  return node;
}

// Also without parentheses: "a, b".
ExpressionPtr JinjaExpressionParser::parse_tuple(bool with_condition) {
  const auto one = [&] { return with_condition ? parse_expression() : parse_or(); };
  ExpressionPtr first = one();
  if (!is_operator(",")) {
    return first;
  }
  ExpressionPtr all = made(ExpressionKind::kTuple, first->at);
  all->parts.push_back(std::move(first));
  while (take_operator(",")) {
    if (next().kind == Kind::kBlockEnd || next().kind == Kind::kPrintEnd || is_operator(")")) {
      break;
    }
    all->parts.push_back(one());
  }
  return all;
}

ExpressionPtr JinjaExpressionParser::parse_expression() {
  const Budget::Level deeper = level();
  ExpressionPtr value = parse_or();
  while (is_word("if")) {
    ExpressionPtr node = made(ExpressionKind::kConditional, take().at);
    node->parts.push_back(std::move(value));
    node->parts.push_back(parse_or());
    node->parts.push_back(take_word("else") ? parse_expression() : nullptr);
    value = std::move(node);
  }
  return value;
}

ExpressionPtr JinjaExpressionParser::parse_or() {
  ExpressionPtr left = parse_and();
  while (is_word("or")) {
    const std::size_t at = take().at;
    left = joined(ExpressionKind::kOr, at, "", std::move(left), parse_and());
  }
  return left;
}

ExpressionPtr JinjaExpressionParser::parse_and() {
  ExpressionPtr left = parse_not();
  while (is_word("and")) {
    const std::size_t at = take().at;
    left = joined(ExpressionKind::kAnd, at, "", std::move(left), parse_not());
  }
  return left;
}

ExpressionPtr JinjaExpressionParser::parse_not() {
  const Budget::Level deeper = level();
  if (!is_word("not")) {
    return parse_compare();
  }
  ExpressionPtr node = made(ExpressionKind::kUnary, take().at, "not");
  node->parts.push_back(parse_not());
  return node;
}

// The next comparison operator; empty if another token follows.
std::string JinjaExpressionParser::take_comparison() {
  for (const char* const sign : {"==", "!=", "<=", ">=", "<", ">"}) {
    if (take_operator(sign)) {
      return sign;
    }
  }
  if (take_word("in")) {
    return "in";
  }
  if (is_word("not") && after_next().kind == Kind::kName && after_next().text == "in") {
    at_ += 2;
    return "not in";
  }
  return {};
}

ExpressionPtr JinjaExpressionParser::parse_compare() {
  ExpressionPtr left = parse_sum();
  const std::size_t at = next().at;
  std::string name = take_comparison();
  if (name.empty()) {
    return left;
  }
  ExpressionPtr node = made(ExpressionKind::kCompare, at);
  node->parts.push_back(std::move(left));
  for (; !name.empty(); name = take_comparison()) {
    node->names.push_back(std::move(name));
    node->parts.push_back(parse_sum());
  }
  return node;
}

template <class Parse>
ExpressionPtr JinjaExpressionParser::parse_binary(std::initializer_list<std::string_view> signs,
                                                  const Parse& operand) {
  ExpressionPtr left = operand();
  for (;;) {
    const auto* const sign =
        std::ranges::find_if(signs, [this](std::string_view one) { return is_operator(one); });
    if (sign == signs.end()) {
      return left;
    }
    const std::size_t at = take().at;
    left = joined(ExpressionKind::kBinary, at, std::string(*sign), std::move(left), operand());
  }
}
ExpressionPtr JinjaExpressionParser::parse_sum() {
  return parse_binary({"+", "-"}, [this] { return parse_concatenation(); });
}
ExpressionPtr JinjaExpressionParser::parse_concatenation() {
  return parse_binary({"~"}, [this] { return parse_product(); });
}
ExpressionPtr JinjaExpressionParser::parse_product() {
  return parse_binary({"*", "/", "//", "%"}, [this] { return parse_power(); });
}
ExpressionPtr JinjaExpressionParser::parse_power() {
  return parse_binary({"**"}, [this] { return parse_unary(/*with_filters=*/true); });
}

ExpressionPtr JinjaExpressionParser::parse_unary(bool with_filters) {
  const Budget::Level deeper = level();
  ExpressionPtr node;
  if (is_operator("-") || is_operator("+")) {
    const std::size_t at = next().at;
    node = made(ExpressionKind::kUnary, at, take().text);
    node->parts.push_back(parse_unary(/*with_filters=*/false));
  } else {
    node = parse_postfix(parse_primary());
  }
  return with_filters ? parse_filters(std::move(node)) : std::move(node);
}

ExpressionPtr JinjaExpressionParser::parse_primary() {
  const JinjaToken token = take();
  switch (token.kind) {
    case Kind::kName:
      return parse_name(token);
    case Kind::kString: {
      std::string text = token.text;
      while (next().kind == Kind::kString) {
        text += take().text;
      }
      return constant(token.at, Value(std::move(text)));
    }
    case Kind::kInteger:
      return constant(token.at, number_of<std::int64_t>(token, where_, source_));
    case Kind::kReal:
      return constant(token.at, number_of<double>(token, where_, source_));
    case Kind::kOperator:
      if (token.text == "(") {
        return parse_parentheses(token.at);
      }
      if (token.text == "[") {
        return parse_list(token.at);
      }
      if (token.text == "{") {
        return parse_dict(token.at);
      }
      break;
    default:
      break;
  }
  --at_;
  fail(fmt::format("expected a value, found {}", shown()));
}

ExpressionPtr JinjaExpressionParser::parse_name(const JinjaToken& token) {
  if (token.text == "true" || token.text == "True") {
    return constant(token.at, true);
  }
  if (token.text == "false" || token.text == "False") {
    return constant(token.at, false);
  }
  if (token.text == "none" || token.text == "None") {
    return constant(token.at, Value());
  }
  return made(ExpressionKind::kName, token.at, token.text);
}

ExpressionPtr JinjaExpressionParser::parse_parentheses(std::size_t at) {
  if (take_operator(")")) {
    return made(ExpressionKind::kTuple, at);
  }
  ExpressionPtr inside = parse_tuple();
  expect_operator(")");
  return inside;
}

ExpressionPtr JinjaExpressionParser::parse_list(std::size_t at) {
  ExpressionPtr node = made(ExpressionKind::kList, at);
  while (!take_operator("]")) {
    node->parts.push_back(parse_expression());
    if (!is_operator("]")) {
      expect_operator(",");
    }
  }
  return node;
}

ExpressionPtr JinjaExpressionParser::parse_dict(std::size_t at) {
  ExpressionPtr node = made(ExpressionKind::kDict, at);
  while (!take_operator("}")) {
    node->parts.push_back(parse_expression());
    expect_operator(":");
    node->parts.push_back(parse_expression());
    if (!is_operator("}")) {
      expect_operator(",");
    }
  }
  return node;
}

ExpressionPtr JinjaExpressionParser::parse_postfix(ExpressionPtr node) {
  for (;;) {
    const std::size_t at = next().at;
    if (take_operator(".")) {
      const bool is_index = next().kind == Kind::kInteger;
      ExpressionPtr of = std::move(node);
      node = made(is_index ? ExpressionKind::kItem : ExpressionKind::kAttribute, at,
                  is_index ? "" : expect_name());
      node->parts.push_back(std::move(of));
      if (is_index) {
        node->parts.push_back(parse_primary());
      }
    } else if (take_operator("[")) {
      node = parse_subscript(std::move(node), at);
    } else if (is_operator("(")) {
      ExpressionPtr call = made(ExpressionKind::kCall, at);
      call->parts.push_back(std::move(node));
      parse_arguments(*call);
      node = std::move(call);
    } else {
      return node;
    }
  }
}

ExpressionPtr JinjaExpressionParser::parse_subscript(ExpressionPtr of, std::size_t at) {
  const auto is_part_end = [this] { return is_operator(":") || is_operator("]"); };
  ExpressionPtr first = is_part_end() ? nullptr : parse_tuple();
  if (!is_operator(":")) {
    if (first == nullptr) {
      fail("expected an index, found ]");
    }
    expect_operator("]");
    return joined(ExpressionKind::kItem, at, "", std::move(of), std::move(first));
  }
  ExpressionPtr slice = made(ExpressionKind::kSlice, at);
  slice->parts.push_back(std::move(of));
  slice->parts.push_back(std::move(first));
  for (int part = 0; part < 2; ++part) {
    const bool is_there = take_operator(":") && !is_part_end();
    slice->parts.push_back(is_there ? parse_expression() : nullptr);
  }
  expect_operator("]");
  return slice;
}

void JinjaExpressionParser::parse_arguments(Expression& call) {
  expect_operator("(");
  std::set<std::string> names;
  while (!take_operator(")")) {
    const bool is_named = next().kind == Kind::kName && after_next().kind == Kind::kOperator &&
                          after_next().text == "=";
    if (is_named) {
      std::string name = next().text;
      if (!names.insert(name).second) {
        fail(fmt::format("the argument {} is there twice", shown_name(name)));
      }
      at_ += 2;
      call.named.emplace_back(std::move(name), parse_expression());
    } else {
      call.parts.push_back(parse_expression());
    }
    if (!is_operator(")")) {
      expect_operator(",");
    }
  }
}

ExpressionPtr JinjaExpressionParser::parse_filter(ExpressionPtr of) {
  const std::size_t at = next().at;
  ExpressionPtr node = made(ExpressionKind::kFilter, at, expect_name());
  node->parts.push_back(std::move(of));
  if (is_operator("(")) {
    parse_arguments(*node);
  }
  return node;
}

// Filters, tests, and calls of their results.
ExpressionPtr JinjaExpressionParser::parse_filters(ExpressionPtr node) {
  for (;;) {
    const std::size_t at = next().at;
    if (take_operator("|")) {
      node = parse_filter(std::move(node));
    } else if (take_word("is")) {
      node = parse_test(std::move(node), at);
    } else if (is_operator("(")) {
      node = parse_postfix(std::move(node));
    } else {
      return node;
    }
  }
}

ExpressionPtr JinjaExpressionParser::parse_test(ExpressionPtr of, std::size_t at) {
  ExpressionPtr node = made(ExpressionKind::kTest, at);
  node->is_negated = take_word("not");
  node->name = next().kind == Kind::kName ? take().text : expect_name();
  node->parts.push_back(std::move(of));
  if (is_operator("(")) {
    parse_arguments(*node);
    return node;
  }
  const bool is_value =
      next().kind == Kind::kString || next().kind == Kind::kInteger || next().kind == Kind::kReal ||
      is_operator("[") || is_operator("{") ||
      (next().kind == Kind::kName && !is_word("else") && !is_word("or") && !is_word("and") &&
       !is_word("is") && !is_word("if") && !is_word("in") && !is_word("not"));
  if (is_value) {
    node->parts.push_back(parse_postfix(parse_primary()));
  }
  return node;
}

}  // namespace attnviz::templates
