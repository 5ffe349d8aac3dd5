// A Jinja template cut into text, tags and what stands in them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace attnviz::templates
