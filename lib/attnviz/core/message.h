// Pieces of messages: counted nouns, quoted input and lists in words.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace attnviz {

/// "1 number", "2 numbers".
std::string counted(std::size_t count, std::string_view noun);

/// `text` in double quotes, printable, and cut after 60 columns: files hold strings of megabytes.
std::string quoted(std::string_view text);

/// "a", "a and b", "a, b and c" for the word "and".
std::string joined(std::span<const std::string> items, std::string_view word);

}  // namespace attnviz
