// Pieces of messages: counted nouns and quoted input.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attnviz {

/// "1 number", "2 numbers".
std::string counted(std::size_t count, std::string_view noun);

/// `text` in double quotes, printable, and cut after 60 columns: files hold strings of megabytes.
std::string quoted(std::string_view text);

}  // namespace attnviz
