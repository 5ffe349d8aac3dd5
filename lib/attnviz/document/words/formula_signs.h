// The signs that formulas are written with, in 7 bits.
#pragma once

#include <string>
#include <string_view>

namespace attnviz {

/// q · k is q * k, √d is sqrt(d), → is ->. What is 7-bit stays as it is.
std::string in_ascii(std::string_view formula);

}  // namespace attnviz
