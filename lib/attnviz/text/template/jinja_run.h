// Runs a Jinja template.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/template/jinja_syntax.h"
#include "attnviz/text/template/value.h"

namespace attnviz::templates {

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
