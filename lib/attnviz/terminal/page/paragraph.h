// Sentences for a terminal: broken into lines between words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/terminal/page/page.h"

namespace attnviz {

/// Items that stay together, one after the other, `gap` blank columns apart, in lines of at most
/// `columns`. Each item is at most that wide.
Page flow(const std::vector<Line>& items, std::size_t gap, std::size_t columns);

/// A safe message in lines of at most `columns`, broken between words or, where one is wider than a
/// line, inside of it.
std::vector<std::string> wrap(std::string_view message, std::size_t columns);

/// The same in one style, `indent` of the `columns` from the left.
Page paragraph(std::string_view message, std::size_t columns, const Style& style = {},
               std::size_t indent = 0);

}  // namespace attnviz
