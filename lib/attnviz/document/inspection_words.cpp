#include "attnviz/document/inspection_words.h"

#include <fmt/core.h>

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

// Formulas are written with these signs only.
constexpr std::pair<std::string_view, std::string_view> kAsciiSigns[] = {
    {"·", "*"},  {"÷", "/"},  {"−", "-"},  {"→", "->"}, {"∞", "inf"},
    {"…", ".."}, {"≥", ">="}, {"²", "^2"}, {"π", "pi"}, {"±", "+-"}};

constexpr std::string_view kRoot = "√";

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

}  // namespace

TokenNames::TokenNames(const std::vector<std::string_view>& pieces, bool ascii) : ascii_(ascii) {
  std::map<std::string_view, std::size_t> counts;
  for (const std::string_view piece : pieces) {
    ++counts[piece];
  }
  for (const std::string_view piece : pieces) {
    labels_.push_back(ascii ? printable_ascii(piece) : printable(piece));
    is_repeated_.push_back(counts[piece] > 1);
  }
  index_width_ = std::to_string(pieces.size() - 1).size();
}

std::string TokenNames::indexed(std::size_t token) const {
  return fmt::format("{:>{}} {}", token, index_width_, labels_[token]);
}

std::string TokenNames::quoted(std::size_t token) const {
  constexpr std::size_t kColumns = 24;
  const std::string name =
      fmt::format("\"{}\"", fit_width(labels_[token], kColumns, ascii_ ? ".." : "…"));
  return is_repeated_[token] ? fmt::format("{} (token {})", name, token) : name;
}

std::string in_ascii(std::string_view formula) {
  std::string out;
  while (!formula.empty()) {
    if (formula.starts_with(kRoot)) {
      formula.remove_prefix(kRoot.size());
      std::size_t end = 0;
      while (end < formula.size() && is_name(formula[end])) {
        ++end;
      }
      // What stands in parentheses keeps them.
      out += end == 0 ? "sqrt" : fmt::format("sqrt({})", formula.substr(0, end));
      formula.remove_prefix(end);
      continue;
    }
    bool is_sign = false;
    for (const auto& [sign, ascii] : kAsciiSigns) {
      if (formula.starts_with(sign)) {
        out += ascii;
        formula.remove_prefix(sign.size());
        is_sign = true;
        break;
      }
    }
    if (!is_sign) {
      out += formula.front();
      formula.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace attnviz
