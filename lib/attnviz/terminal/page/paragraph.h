// Sentences for a terminal: made safe, and broken into lines between words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attnviz {

/// Something that stays together on a line: `width` columns of text, which may hold escape codes.
struct InlineItem {
  std::string text;
  std::size_t width = 0;
};

/// Items one after the other, `gap` spaces apart, in lines of at most `columns`. Each item is at
/// most that wide. Without '\n'.
std::vector<std::string> flow(const std::vector<InlineItem>& items, std::size_t gap,
                              std::size_t columns);

/// A safe message in lines of at most `columns`, broken between words or, where one is wider than a
/// line, inside of it.
std::vector<std::string> wrap(std::string_view message, std::size_t columns);

}  // namespace attnviz
