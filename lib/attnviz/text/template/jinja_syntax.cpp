#include "attnviz/text/template/jinja.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "attnviz/core/message.h"

namespace attnviz::templates {

namespace {

using Kind = JinjaTokenKind;

class JinjaParser : JinjaExpressionParser {
 public:
  using JinjaExpressionParser::JinjaExpressionParser;

  Body parse() {
    Body body = parse_body({});
    if (next().kind != Kind::kEnd) {
      fail(fmt::format("{} without its beginning", in_quotes(next().text)));
    }
    return body;
  }

 private:
  // Parses up to the block that begins with one of `ends`, which remains, after its {%.
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
        const std::string& name = after_next().text;
        const bool is_name = after_next().kind == Kind::kName;
        if (is_name && std::ranges::find(ends, name) != ends.end()) {
          take();
          return body;
        }
        if (is_name && is_ending(name)) {
          take();
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
    take();
    expect(Kind::kBlockEnd, "%}");
    return body;
  }

  Statement parse_block() {
    take();
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
      if (n_loops_ == 0) {
        fail(block.at, fmt::format("{} outside of a loop", tag));
      }
      block.kind = tag == "break" ? StatementKind::kBreak : StatementKind::kContinue;
      expect(Kind::kBlockEnd, "%}");
    } else if (tag == "generation") {
      block.kind = StatementKind::kBody;
      expect(Kind::kBlockEnd, "%}");
      // jinja2 makes it a function, which a break cannot leave.
      const std::size_t outer = std::exchange(n_loops_, 0);
      block.body = body_until("endgeneration");
      n_loops_ = outer;
    } else {
      constexpr std::array<std::string_view, 9> kKnown = {
          "call", "include", "import", "from", "extends", "block", "with", "autoescape", "do"};
      const bool is_known = std::ranges::find(kKnown, tag) != kKnown.end();
      fail(block.at, fmt::format("{}: {}", tag, is_known ? "this tag is not run" : "unknown tag"),
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
      fail(next().at, "recursive loops are not run", ErrorKind::kUnsupported);
    }
    expect(Kind::kBlockEnd, "%}");
    ++n_loops_;
    const std::size_t before = n_loop_words();
    block.body = parse_body(kEnds);
    block.names_loop = n_loop_words() != before;
    --n_loops_;
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
    const std::size_t outer = std::exchange(n_loops_, 0);
    block.body = body_until("endmacro");
    n_loops_ = outer;
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
    const Budget::Level deeper = level();
    ExpressionPtr first = parse_one_target();
    if (!is_operator(",")) {
      return first;
    }
    ExpressionPtr all = made(ExpressionKind::kTuple, first->at);
    all->parts.push_back(std::move(first));
    while (take_operator(",")) {
      if ((next().kind == Kind::kName && !is_word("in")) || is_operator("(")) {
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

  std::size_t n_loops_ = 0;  // around the current position
};

}  // namespace

Expression::~Expression() {
  // A chain of operators is a tree as deep as the chain is long: its parts are freed one by one.
  std::vector<ExpressionPtr> turns;
  const auto take_parts = [&turns](Expression& of) {
    std::ranges::move(of.parts, std::back_inserter(turns));
    for (auto& argument : of.named) {
      turns.push_back(std::move(argument.second));
    }
    of.parts.clear();
    of.named.clear();
  };
  try {
    for (take_parts(*this); !turns.empty();) {
      const ExpressionPtr one = std::move(turns.back());
      turns.pop_back();
      if (one != nullptr) {
        take_parts(*one);
      }
    }
  } catch (const std::bad_alloc&) {
    return;  // parts that were not moved are freed in place
  }
}

Body parse_jinja(std::string_view source, std::string_view where) {
  return JinjaParser(source, where).parse();
}

}  // namespace attnviz::templates
