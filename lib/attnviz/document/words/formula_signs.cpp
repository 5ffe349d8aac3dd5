#include "attnviz/document/words/formula_signs.h"

#include <fmt/core.h>

#include <cstddef>
#include <utility>

namespace attnviz {

namespace {

// Formulas are written with these signs only.
constexpr std::pair<std::string_view, std::string_view> kAsciiSigns[] = {
    {"·", "*"},  {"÷", "/"},  {"−", "-"},  {"→", "->"}, {"∞", "inf"}, {"…", ".."}, {"≥", ">="},
    {"²", "^2"}, {"π", "pi"}, {"±", "+-"}, {"µ", "u"},  {"⏎", "\\n"}, {"×", "x"},  {"–", "-"}};

constexpr std::string_view kRoot = "√";

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

}  // namespace

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
