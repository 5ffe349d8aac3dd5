#include "attnviz/core/printable_line.h"

#include "attnviz/core/utf8.h"

namespace attnviz {

std::string printable_line(std::string_view text) {
  std::string line;
  for (const char c : printable_message(text)) {
    if (c == '\n') {
      line += "⏎";
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace attnviz
