// What a PNG file says beside its pixels: resolution and texts.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace attnviz {

struct PngFacts {
  int dpi = 0;  // 0: not said
  /// Keyword (1 to 79 printable ASCII characters) and text (valid UTF-8), in this order; a text
  /// that is empty is left out.
  std::vector<std::pair<std::string, std::string>> texts;
};

/// `png`, the bytes of a PNG file, with a pHYs and iTXt chunks (PNG's specification, ISO 15948,
/// 11.3) behind its IHDR.
std::string with_facts(std::string png, const PngFacts& facts);

}  // namespace attnviz
