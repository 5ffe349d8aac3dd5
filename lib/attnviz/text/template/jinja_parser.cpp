#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>

#include "attnviz/core/message.h"
#include "attnviz/text/template/budget.h"
#include "attnviz/text/template/jinja_lexer.h"
#include "attnviz/text/template/jinja_syntax.h"
#include "attnviz/text/template/source_place.h"

namespace attnviz::templates {

namespace {

using Kind = JinjaTokenKind;

class JinjaParser {
 public:
  JinjaParser(std::string_view source, std::string_view where)
      : source_(source), where_(where), tokens_(jinja_tokens(source, where)) {}

  Body parse() {
    Body body = parse_body({});
    if (next().kind != Kind::kEnd) {
      fail(fmt::format("{} without its beginning", quoted(next().text)));
    }
    return body;
  }

 private:
  [[noreturn]] void fail(std::string_view message) const {
    fail_at(where_, source_, next().at, message);
  }

  // Deep trees are walked by functions that call themselves.
  Budget::Level level() try { return Budget::Level(budget_); } catch (const Error&) {
    fail("expressions or blocks are nested too deep");
  }

  const JinjaToken& next() const noexcept { return tokens_[at_]; }
  JinjaToken take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool is_next(Kind kind, std::string_view text) const noexcept {
    return next().kind == kind && next().text == text;
  }
  bool is_operator(std::string_view text) const noexcept { return is_next(Kind::kOperator, text); }
  bool is_word(std::string_view text) const noexcept { return is_next(Kind::kName, text); }
  bool take_operator(std::string_view text) {
    const bool found = is_operator(text);
    at_ += found ? 1 : 0;
    return found;
  }
  bool take_word(std::string_view text) {
    const bool found = is_word(text);
    at_ += found ? 1 : 0;
    return found;
  }
  std::string shown() const {
    switch (next().kind) {
      case Kind::kEnd:
        return "the end";
      case Kind::kPrintEnd:
        return "}}";
      case Kind::kBlockEnd:
        return "%}";
      default:
        return quoted(next().text);
    }
  }
  void expect_operator(std::string_view text) {
    if (!take_operator(text)) {
      fail(fmt::format("expected {}, found {}", text, shown()));
    }
  }
  void expect_word(std::string_view text) {
    if (!take_word(text)) {
      fail(fmt::format("expected {}, found {}", text, shown()));
    }
  }
  void expect(Kind kind, std::string_view what) {
    if (next().kind != kind) {
      fail(fmt::format("expected {}, found {}", what, shown()));
    }
    ++at_;
  }
  std::string expect_name() {
    if (next().kind != Kind::kName) {
      fail(fmt::format("expected a name, found {}", shown()));
    }
    return take().text;
  }

  static ExpressionPtr made(ExpressionKind kind, std::size_t at, std::string name = {}) {
    auto node = std::make_unique<Expression>();
    node->kind = kind;
    node->at = at;
    node->name = std::move(name);
    return node;
  }
  static ExpressionPtr joined(ExpressionKind kind, std::size_t at, std::string name,
                              ExpressionPtr one, ExpressionPtr other) {
    ExpressionPtr node = made(kind, at, std::move(name));
    node->parts.push_back(std::move(one));
    node->parts.push_back(std::move(other));
    return node;
  }
  static ExpressionPtr constant(std::size_t at, Value value) {
    ExpressionPtr node = made(ExpressionKind::kConstant, at);
    node->constant = std::move(value);
    return node;
  }

  // --- statements

  // Up to the block that begins with one of `ends`, which stays, behind its {%.
  Body parse_body(std::span<const std::string_view> ends) {
    const Budget::Level deeper = level();
    Body body;
    for (;;) {
      if (next().kind == Kind::kText) {
        Statement text;
        text.at = next().at;
        text.text = take().text;
        body.push_back(std::move(text));
      } else if (next().kind == Kind::kPrintBegin) {
        Statement print;
        print.kind = StatementKind::kPrint;
        print.at = take().at;
        print.value = parse_tuple();
        expect(Kind::kPrintEnd, "}}");
        body.push_back(std::move(print));
      } else if (next().kind == Kind::kBlockBegin) {
        const std::string& name = tokens_[at_ + 1].text;
        if (std::ranges::find(ends, name) != ends.end()) {
          ++at_;
          return body;
        }
        if (tokens_[at_ + 1].kind == Kind::kName && is_ending(name)) {
          ++at_;
          fail(fmt::format("{} without its beginning", name));
        }
        body.push_back(parse_block());
      } else if (ends.empty()) {
        return body;
      } else {
        fail(fmt::format("expected {}, found the end", ends.back()));
      }
    }
  }
  static bool is_ending(std::string_view name) {
    return name.starts_with("end") || name == "else" || name == "elif";
  }

  Body body_until(std::string_view end) {
    const std::string_view ends[] = {end};
    Body body = parse_body(ends);
    ++at_;
    expect(Kind::kBlockEnd, "%}");
    return body;
  }

  Statement parse_block() {
    ++at_;
    Statement block;
    block.at = next().at;
    const std::string tag = expect_name();
    if (tag == "if") {
      parse_if(block);
    } else if (tag == "for") {
      parse_for(block);
    } else if (tag == "set") {
      parse_set(block);
    } else if (tag == "macro") {
      parse_macro(block);
    } else if (tag == "filter") {
      parse_filter_block(block);
    } else if (tag == "break" || tag == "continue") {
      block.kind = tag == "break" ? StatementKind::kBreak : StatementKind::kContinue;
      expect(Kind::kBlockEnd, "%}");
    } else if (tag == "generation") {
      block.kind = StatementKind::kBody;
      expect(Kind::kBlockEnd, "%}");
      block.body = body_until("endgeneration");
    } else {
      constexpr std::array<std::string_view, 9> kKnown = {
          "call", "include", "import", "from", "extends", "block", "with", "autoescape", "do"};
      const bool is_known = std::ranges::find(kKnown, tag) != kKnown.end();
      fail_at(where_, source_, block.at,
              fmt::format("{}: {}", tag, is_known ? "this tag is not run" : "no such tag"),
              is_known ? ErrorKind::kUnsupported : ErrorKind::kMalformed);
    }
    return block;
  }

  void parse_if(Statement& block) {
    constexpr std::string_view kEnds[] = {"elif", "else", "endif"};
    block.kind = StatementKind::kIf;
    ExpressionPtr condition = parse_tuple();
    for (;;) {
      expect(Kind::kBlockEnd, "%}");
      const bool is_last = condition == nullptr;
      Body body = parse_body(std::span(kEnds).subspan(is_last ? 2 : 0));
      block.branches.push_back({std::move(condition), std::move(body)});
      if (take_word("endif")) {
        break;
      }
      condition = take_word("elif") ? parse_tuple() : nullptr;
      if (!condition) {
        expect_word("else");
      }
    }
    expect(Kind::kBlockEnd, "%}");
  }

  void parse_for(Statement& block) {
    constexpr std::string_view kEnds[] = {"else", "endfor"};
    block.kind = StatementKind::kFor;
    block.target = parse_target();
    expect_word("in");
    block.value = parse_tuple(/*with_condition=*/false);
    if (take_word("if")) {
      block.condition = parse_expression();
    }
    if (is_word("recursive")) {
      fail_at(where_, source_, next().at, "recursive loops are not run", ErrorKind::kUnsupported);
    }
    expect(Kind::kBlockEnd, "%}");
    block.body = parse_body(kEnds);
    if (take_word("else")) {
      expect(Kind::kBlockEnd, "%}");
      block.otherwise = parse_body(std::span(kEnds).last(1));
    }
    expect_word("endfor");
    expect(Kind::kBlockEnd, "%}");
  }

  void parse_set(Statement& block) {
    block.target = parse_target();
    if (take_operator("=")) {
      block.kind = StatementKind::kSet;
      block.value = parse_tuple();
      return expect(Kind::kBlockEnd, "%}");
    }
    block.kind = StatementKind::kSetBlock;
    if (is_operator("|")) {
      block.value = parse_filters(constant(next().at, Value()));
    }
    expect(Kind::kBlockEnd, "%}");
    block.body = body_until("endset");
  }

  void parse_macro(Statement& block) {
    block.kind = StatementKind::kMacro;
    block.text = expect_name();
    expect_operator("(");
    while (!take_operator(")")) {
      Parameter parameter;
      parameter.name = expect_name();
      if (take_operator("=")) {
        parameter.otherwise = parse_expression();
      }
      block.parameters.push_back(std::move(parameter));
      if (!is_operator(")")) {
        expect_operator(",");
      }
    }
    expect(Kind::kBlockEnd, "%}");
    block.body = body_until("endmacro");
  }

  void parse_filter_block(Statement& block) {
    block.kind = StatementKind::kFilter;
    ExpressionPtr body = constant(next().at, Value());
    block.value = parse_filters(parse_filter(std::move(body)));
    expect(Kind::kBlockEnd, "%}");
    block.body = body_until("endfilter");
  }

  // A name, several of them, or an attribute of a namespace.
  ExpressionPtr parse_target() {
    ExpressionPtr first = parse_one_target();
    if (!is_operator(",")) {
      return first;
    }
    ExpressionPtr all = made(ExpressionKind::kTuple, first->at);
    all->parts.push_back(std::move(first));
    while (take_operator(",")) {
      if (next().kind == Kind::kName && !is_word("in")) {
        all->parts.push_back(parse_one_target());
      }
    }
    return all;
  }
  ExpressionPtr parse_one_target() {
    if (take_operator("(")) {
      ExpressionPtr inside = parse_target();
      expect_operator(")");
      return inside;
    }
    const std::size_t at = next().at;
    ExpressionPtr name = made(ExpressionKind::kName, at, expect_name());
    if (!take_operator(".")) {
      return name;
    }
    ExpressionPtr attribute = made(ExpressionKind::kAttribute, at, expect_name());
    attribute->parts.push_back(std::move(name));
    return attribute;
  }

  // --- expressions

  // Also without parentheses: "a, b".
  ExpressionPtr parse_tuple(bool with_condition = true) {
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

  ExpressionPtr parse_expression() {
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

  ExpressionPtr parse_or() {
    ExpressionPtr left = parse_and();
    while (is_word("or")) {
      const std::size_t at = take().at;
      left = joined(ExpressionKind::kOr, at, "", std::move(left), parse_and());
    }
    return left;
  }

  ExpressionPtr parse_and() {
    ExpressionPtr left = parse_not();
    while (is_word("and")) {
      const std::size_t at = take().at;
      left = joined(ExpressionKind::kAnd, at, "", std::move(left), parse_not());
    }
    return left;
  }

  ExpressionPtr parse_not() {
    const Budget::Level deeper = level();
    if (!is_word("not")) {
      return parse_compare();
    }
    ExpressionPtr node = made(ExpressionKind::kUnary, take().at, "not");
    node->parts.push_back(parse_not());
    return node;
  }

  // The comparison that comes next; empty when there is none.
  std::string take_comparison() {
    for (const char* const sign : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (take_operator(sign)) {
        return sign;
      }
    }
    if (take_word("in")) {
      return "in";
    }
    if (is_word("not") && tokens_[at_ + 1].kind == Kind::kName && tokens_[at_ + 1].text == "in") {
      at_ += 2;
      return "not in";
    }
    return {};
  }

  ExpressionPtr parse_compare() {
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
  ExpressionPtr parse_binary(std::initializer_list<std::string_view> signs, const Parse& operand) {
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
  ExpressionPtr parse_sum() {
    return parse_binary({"+", "-"}, [this] { return parse_concatenation(); });
  }
  ExpressionPtr parse_concatenation() {
    return parse_binary({"~"}, [this] { return parse_product(); });
  }
  ExpressionPtr parse_product() {
    return parse_binary({"*", "/", "//", "%"}, [this] { return parse_power(); });
  }
  ExpressionPtr parse_power() {
    return parse_binary({"**"}, [this] { return parse_unary(/*with_filters=*/true); });
  }

  ExpressionPtr parse_unary(bool with_filters) {
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

  ExpressionPtr parse_primary() {
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
      case Kind::kInteger: {
        std::int64_t number = 0;
        const char* const end = token.text.data() + token.text.size();
        if (std::from_chars(token.text.data(), end, number).ec != std::errc()) {
          fail_at(where_, source_, token.at, "the number is too large");
        }
        return constant(token.at, number);
      }
      case Kind::kReal:
        return constant(token.at, std::stod(token.text));
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

  ExpressionPtr parse_name(const JinjaToken& token) {
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

  ExpressionPtr parse_parentheses(std::size_t at) {
    if (take_operator(")")) {
      return made(ExpressionKind::kTuple, at);
    }
    ExpressionPtr inside = parse_tuple();
    expect_operator(")");
    return inside;
  }

  ExpressionPtr parse_list(std::size_t at) {
    ExpressionPtr node = made(ExpressionKind::kList, at);
    while (!take_operator("]")) {
      node->parts.push_back(parse_expression());
      if (!is_operator("]")) {
        expect_operator(",");
      }
    }
    return node;
  }

  ExpressionPtr parse_dict(std::size_t at) {
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

  ExpressionPtr parse_postfix(ExpressionPtr node) {
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

  ExpressionPtr parse_subscript(ExpressionPtr of, std::size_t at) {
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

  void parse_arguments(Expression& call) {
    expect_operator("(");
    while (!take_operator(")")) {
      const bool is_named = next().kind == Kind::kName &&
                            tokens_[at_ + 1].kind == Kind::kOperator &&
                            tokens_[at_ + 1].text == "=";
      if (is_named) {
        std::string name = take().text;
        ++at_;
        call.named.emplace_back(std::move(name), parse_expression());
      } else {
        call.parts.push_back(parse_expression());
      }
      if (!is_operator(")")) {
        expect_operator(",");
      }
    }
  }

  ExpressionPtr parse_filter(ExpressionPtr of) {
    const std::size_t at = next().at;
    ExpressionPtr node = made(ExpressionKind::kFilter, at, expect_name());
    node->parts.push_back(std::move(of));
    if (is_operator("(")) {
      parse_arguments(*node);
    }
    return node;
  }

  // Filters, tests, and calls of what these give.
  ExpressionPtr parse_filters(ExpressionPtr node) {
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

  ExpressionPtr parse_test(ExpressionPtr of, std::size_t at) {
    ExpressionPtr node = made(ExpressionKind::kTest, at);
    node->is_negated = take_word("not");
    node->name = next().kind == Kind::kName ? take().text : expect_name();
    node->parts.push_back(std::move(of));
    if (is_operator("(")) {
      parse_arguments(*node);
      return node;
    }
    const bool is_value =
        next().kind == Kind::kString || next().kind == Kind::kInteger ||
        next().kind == Kind::kReal || is_operator("[") || is_operator("{") ||
        (next().kind == Kind::kName && !is_word("else") && !is_word("or") && !is_word("and") &&
         !is_word("is") && !is_word("if") && !is_word("in") && !is_word("not"));
    if (is_value) {
      node->parts.push_back(parse_postfix(parse_primary()));
    }
    return node;
  }

  std::string_view source_;
  std::string_view where_;
  std::vector<JinjaToken> tokens_;
  std::size_t at_ = 0;
  Budget budget_;
};

}  // namespace

Body parse_jinja(std::string_view source, std::string_view where) {
  return JinjaParser(source, where).parse();
}

}  // namespace attnviz::templates
