// Expressions of Jinja: what stands in {{ }} and in the tags of blocks.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/template/budget.h"
#include "attnviz/text/template/jinja_lexer.h"
#include "attnviz/text/template/jinja_syntax.h"

namespace attnviz::templates {

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

}  // namespace attnviz::templates
