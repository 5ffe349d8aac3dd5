#include "attnviz/text/template/go_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "attnviz/core/choices.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/template/budget.h"

namespace attnviz::templates {

namespace {

constexpr std::string_view kGoWhite = " \t\r\n";

bool is_go_name(char one) noexcept {
  return one == '_' || (one >= '0' && one <= '9') || (one >= 'a' && one <= 'z') ||
         (one >= 'A' && one <= 'Z') || (static_cast<unsigned char>(one) & 0x80U) != 0;
}

class GoParser {
 public:
  GoParser(std::string_view source, std::string_view where) : source_(source), where_(where) {}

  std::vector<GoNode> parse() {
    std::vector<GoNode> nodes = parse_list();
    if (!ending_.empty()) {
      fail(ending_at_, fmt::format("{} without its beginning", ending_));
    }
    return nodes;
  }

 private:
  [[noreturn]] void fail(std::size_t at, std::string_view message) const {
    fail_at(where_, source_, at, message);
  }
  Budget::Level level() try { return Budget::Level(budget_); } catch (const Error&) {
    fail(at_, "nested too deep");
  }

  // Parses up to {{ end }} or {{ else … }}, which is then in ending_, with the rest of the action
  // ahead.
  std::vector<GoNode> parse_list() {
    const Budget::Level deeper = level();
    std::vector<GoNode> nodes;
    for (;;) {
      take_text(nodes);
      if (at_ >= source_.size()) {
        ending_ = "";
        return nodes;
      }
      const std::size_t begin = at_;
      at_ += 2;
      if (has("-") && at_ + 1 < source_.size() &&
          kGoWhite.find(source_[at_ + 1]) != std::string::npos) {
        ++at_;
      }
      skip_white();
      if (has("/*")) {
        take_comment(begin);
        continue;
      }
      const std::string word = peeked_name();
      if (word == "end" || word == "else") {
        at_ += word.size();
        ending_ = word;
        ending_at_ = begin;
        return nodes;
      }
      nodes.push_back(parse_action(word, begin));
    }
  }

  // Takes the text up to an action, without the white space that the action's marks remove.
  void take_text(std::vector<GoNode>& nodes) {
    const std::size_t begin = std::min(source_.find("{{", at_), source_.size());
    std::string_view text = source_.substr(at_, begin - at_);
    const bool strips = begin + 3 < source_.size() && source_[begin + 2] == '-' &&
                        kGoWhite.find(source_[begin + 3]) != std::string_view::npos;
    if (strips_next_) {
      text.remove_prefix(std::min(text.find_first_not_of(kGoWhite), text.size()));
    }
    if (strips) {
      text = text.substr(0, text.find_last_not_of(kGoWhite) + 1);
    }
    if (!text.empty()) {
      GoNode node;
      node.at = at_;
      node.text = text;
      nodes.push_back(std::move(node));
    }
    at_ = begin;
  }

  void take_comment(std::size_t begin) {
    const std::size_t end = source_.find("*/", at_);
    if (end == std::string_view::npos) {
      fail(begin, "a comment without its end, */");
    }
    at_ = end + 2;
    take_end(begin);
  }

  // }}, or -}} after white space.
  bool take_end_if_there() {
    const std::size_t before = at_;
    skip_white();
    const bool strips = has("-}}") && at_ > before;
    if (!strips && !has("}}")) {
      return false;
    }
    at_ += strips ? 3 : 2;
    strips_next_ = strips;
    return true;
  }
  void take_end(std::size_t begin) {
    if (!take_end_if_there()) {
      fail(at_ < source_.size() ? at_ : begin, "expected }}");
    }
  }

  GoNode parse_action(const std::string& word, std::size_t begin) {
    constexpr std::array<std::string_view, 4> kOthers = {"define", "template", "block", "try"};
    if (std::ranges::find(kOthers, word) != kOthers.end()) {
      fail_at(where_, source_, begin, fmt::format("{}: this action is not run", word),
              ErrorKind::kUnsupported);
    }
    GoNode node;
    node.at = begin;
    if (word == "break" || word == "continue") {
      if (n_ranges_ == 0) {
        fail(begin, fmt::format("{} outside of a range", word));
      }
      node.kind = word == "break" ? GoNode::Kind::kBreak : GoNode::Kind::kContinue;
      at_ += word.size();
      take_end(begin);
    } else if (word == "if" || word == "range" || word == "with") {
      node.kind = word == "if"      ? GoNode::Kind::kIf
                  : word == "range" ? GoNode::Kind::kRange
                                    : GoNode::Kind::kWith;
      at_ += word.size();
      parse_branch(node, word);
    } else {
      node.kind = GoNode::Kind::kAction;
      node.pipe = parse_pipe();
      take_end(begin);
    }
    return node;
  }

  void parse_branch(GoNode& node, const std::string& word) {
    node.pipe = parse_pipe();
    take_end(node.at);
    n_ranges_ += word == "range" ? 1U : 0U;
    node.body = parse_list();
    n_ranges_ -= word == "range" ? 1U : 0U;
    if (ending_ == "else") {
      const std::size_t begin = ending_at_;
      skip_white();
      const std::string next = peeked_name();
      if (next == "if" || next == "with") {
        GoNode inner;
        inner.kind = next == "if" ? GoNode::Kind::kIf : GoNode::Kind::kWith;
        inner.at = begin;
        at_ += next.size();
        const Budget::Level deeper = level();
        parse_branch(inner, next);
        node.otherwise.push_back(std::move(inner));
        return;  // one {{ end }} ends both
      }
      take_end(begin);
      node.otherwise = parse_list();
    }
    if (ending_ != "end") {
      fail(node.at, fmt::format("{} without its end", word));
    }
    take_end(ending_at_);
    ending_ = "";
  }

  std::shared_ptr<const GoPipe> parse_pipe() {
    const Budget::Level deeper = level();
    auto pipe = std::make_shared<GoPipe>();
    skip_white();
    pipe->at = at_;
    parse_variables(*pipe);
    do {
      pipe->commands.push_back(parse_command());
    } while (take_sign("|"));
    return pipe;
  }

  // "$x :=", "$i, $x :=" or "$x =".
  void parse_variables(GoPipe& pipe) {
    const std::size_t begin = at_;
    std::vector<std::string> names;
    while (has("$")) {
      ++at_;
      names.push_back("$" + peeked_name());
      at_ += names.back().size() - 1;
      skip_white();
      if (!has(",")) {
        break;
      }
      ++at_;
      skip_white();
    }
    const bool declares = !names.empty() && has(":=");
    if (declares || (!names.empty() && has("=") && !has("=="))) {
      at_ += declares ? 2 : 1;
      pipe.variables = std::move(names);
      pipe.declares = declares;
      if (pipe.variables.size() > 2) {
        fail(begin, "at most two variables take a value");
      }
    } else {
      at_ = begin;
    }
  }

  std::vector<GoOperand> parse_command() {
    std::vector<GoOperand> operands;
    for (;;) {
      skip_white();
      if (at_ >= source_.size() || has("}}") || has("-}}") || has("|") || has(")")) {
        break;
      }
      operands.push_back(parse_operand());
    }
    if (operands.empty()) {
      fail(at_, "expected a value");
    }
    return operands;
  }

  GoOperand parse_operand() {
    GoOperand operand;
    if (has("(")) {
      const std::size_t begin = at_++;
      operand.kind = GoOperand::Kind::kPipe;
      operand.pipe = parse_pipe();
      skip_white();
      if (!has(")")) {
        fail(begin, "( without its end");
      }
      ++at_;
    } else if (has("$")) {
      ++at_;
      operand.kind = GoOperand::Kind::kVariable;
      operand.name = "$" + peeked_name();
      at_ += operand.name.size() - 1;
    } else if (has(".") && !has_digit(1)) {
      const bool is_alone = at_ + 1 >= source_.size() || !is_go_name(source_[at_ + 1]);
      at_ += is_alone ? 1 : 0;
    } else if (has("\"") || has("`") || has("'")) {
      operand.kind = GoOperand::Kind::kConstant;
      operand.constant = parse_string();
      return operand;
    } else {
      parse_word(operand);
      return operand;
    }
    while (has(".") && at_ + 1 < source_.size() && is_go_name(source_[at_ + 1])) {
      ++at_;
      operand.fields.push_back(peeked_name());
      at_ += operand.fields.back().size();
    }
    return operand;
  }

  void parse_word(GoOperand& operand) {
    const std::size_t begin = at_;
    if (has("-") || has("+") || has(".") || has_digit(0)) {
      operand.kind = GoOperand::Kind::kConstant;
      operand.constant = parse_number_constant();
      return;
    }
    const std::string word = peeked_name();
    if (word.empty()) {
      fail(begin, fmt::format("no value begins with {}", in_quotes(source_.substr(begin, 1))));
    }
    at_ += word.size();
    operand.kind = GoOperand::Kind::kConstant;
    if (word == "true" || word == "false") {
      operand.constant = word == "true";
    } else if (word != "nil") {
      operand.kind = GoOperand::Kind::kFunction;
      operand.name = word;
    }
  }

  // Decimal numbers only: Go's other forms (0x1F, 017, 1_000, 2i) are not accepted.
  Value parse_number_constant() {
    const std::size_t begin = at_;
    at_ += has("-") || has("+") ? 1U : 0U;
    while (at_ < source_.size() &&
           (is_go_name(source_[at_]) || source_[at_] == '.' ||
            ((has("-") || has("+")) && (source_[at_ - 1] == 'e' || source_[at_ - 1] == 'E')))) {
      ++at_;
    }
    std::string_view number = source_.substr(begin, at_ - begin);
    number.remove_prefix(number.starts_with('+') ? 1 : 0);
    const std::string_view digits = number.substr(number.starts_with('-') ? 1 : 0);
    const auto whole = parse_number<std::int64_t>(number);
    const auto real = parse_number<double>(number);
    const bool is_decimal = digits.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
    if (!is_decimal || !real || (whole && digits.size() > 1 && digits.front() == '0')) {
      fail(begin, "a number that is none");
    }
    return whole ? Value(*whole) : Value(*real);
  }

  Value parse_string() {
    const std::size_t begin = at_;
    const char quote = source_[at_++];
    std::string text;
    while (at_ < source_.size() && source_[at_] != quote) {
      if (source_[at_] == '\\' && quote != '`' && at_ + 1 < source_.size()) {
        take_escape(text);
      } else {
        text += source_[at_++];
      }
    }
    if (at_ >= source_.size()) {
      fail(begin, "a text without its end");
    }
    ++at_;
    if (quote != '\'') {
      return Value(std::move(text));
    }
    return text.empty() ? Value(std::int64_t{0})
                        : Value(static_cast<std::int64_t>(decode_utf8(text, 0).value));
  }

  void take_escape(std::string& text) {
    constexpr std::string_view kNames = "ntrabfv'\"\\";
    constexpr std::string_view kMeant = "\n\t\r\a\b\f\v'\"\\";
    const std::size_t begin = at_;
    const char name = source_[at_ + 1];
    at_ += 2;
    if (const std::size_t known = kNames.find(name); known != std::string_view::npos) {
      text += kMeant[known];
      return;
    }
    const std::size_t n_digits = name == 'x' ? 2 : name == 'u' ? 4 : name == 'U' ? 8 : 0;
    std::uint32_t point = 0;
    const char* const first = source_.data() + at_;
    const char* const last = first + std::min(n_digits, source_.size() - at_);
    const auto [stop, error] = std::from_chars(first, last, point, 16);
    constexpr std::uint32_t kMost = 0x10FFFF;
    if (n_digits == 0 || error != std::errc() || stop != first + n_digits || point > kMost ||
        (point >= 0xD800 && point < 0xE000)) {
      fail(begin, "an escape that stands for no character");
    }
    append_utf8(text, static_cast<char32_t>(point));
    at_ += n_digits;
  }

  bool has(std::string_view what) const { return source_.substr(at_).starts_with(what); }
  bool has_digit(std::size_t offset) const {
    const std::size_t at = at_ + offset;
    return at < source_.size() && source_[at] >= '0' && source_[at] <= '9';
  }
  bool take_sign(std::string_view sign) {
    skip_white();
    const bool found = has(sign);
    at_ += found ? sign.size() : 0;
    return found;
  }
  void skip_white() { at_ = std::min(source_.find_first_not_of(kGoWhite, at_), source_.size()); }
  std::string peeked_name() const {
    std::size_t end = at_;
    while (end < source_.size() && is_go_name(source_[end])) {
      ++end;
    }
    return std::string(source_.substr(at_, end - at_));
  }

  std::string_view source_;
  std::string_view where_;
  std::size_t at_ = 0;
  bool strips_next_ = false;
  std::string ending_;
  std::size_t ending_at_ = 0;
  std::size_t n_ranges_ = 0;  // around the current position
  Budget budget_;
};

}  // namespace

std::vector<GoNode> parse_go(std::string_view source, std::string_view where) {
  return GoParser(source, where).parse();
}

}  // namespace attnviz::templates
