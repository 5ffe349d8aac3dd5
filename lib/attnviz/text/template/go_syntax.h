// The tree of a Go template.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/template/value.h"

namespace attnviz::templates {

struct GoPipe;

struct GoOperand {
  enum class Kind { kDot, kVariable, kConstant, kFunction, kPipe };
  Kind kind = Kind::kDot;
  std::string name = {};  // of variables and functions
  Value constant = {};
  std::shared_ptr<const GoPipe> pipe = {};  // in parentheses
  std::vector<std::string> fields = {};     // .A.B behind it
};

struct GoPipe {
  std::size_t at = 0;
  std::vector<std::string> variables;            // that take the value
  bool declares = false;                         // := rather than =
  std::vector<std::vector<GoOperand>> commands;  // each gives its value to the next one
};

struct GoNode {
  enum class Kind { kText, kAction, kIf, kRange, kWith, kBreak, kContinue };
  Kind kind = Kind::kText;
  std::size_t at = 0;
  std::string text = {};
  std::shared_ptr<const GoPipe> pipe = {};
  std::vector<GoNode> body = {};
  std::vector<GoNode> otherwise = {};
};

/// Throws as GoTemplate does.
std::vector<GoNode> parse_go(std::string_view source, std::string_view where);

}  // namespace attnviz::templates
