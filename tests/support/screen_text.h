// The contents of a text for readers: parts of it, its lines, its words without colours.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz::test {

inline constexpr TerminalOptions kAscii80{TerminalStyle::kAscii, ColorDepth::kNone, 80};

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Fails the test unless every line, the last one too, ends in '\n'.
inline std::vector<std::string> screen_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  REQUIRE(begin == text.size());
  return lines;
}

/// Without the codes that change colours and weights.
inline std::string without_escapes(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = std::min(text.find('m', i), text.size());
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace attnviz::test
