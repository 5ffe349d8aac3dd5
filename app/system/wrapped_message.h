// What is said to a person, in lines that a terminal does not cut in the middle of words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attnviz::app {

/// `message`, without a line end behind it, broken between words so that no line is wider than
/// `columns` where that can be. What is to be copied stays whole, on a line of its own if need be:
/// lines that are indented, commands that begin with "attnviz", and what is quoted.
std::string wrapped_message(std::string_view message, std::size_t columns);

}  // namespace attnviz::app
