// Text that is safe to print, on one line.
#pragma once

#include <string>
#include <string_view>

namespace attnviz {

/// As printable_message(), but line feeds are made visible, too.
std::string printable_line(std::string_view text);

}  // namespace attnviz
