// Letters of ASCII, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace attnviz {

/// A to Z in lower case, every other byte as it is.
inline std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

}  // namespace attnviz
