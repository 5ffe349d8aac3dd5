#include "attnviz/formats/csv.h"

#include <fmt/core.h>

#include "attnviz/core/utf8.h"

namespace attnviz {

std::string csv_text(std::string_view text) {
  std::string cell = "\"";
  for (const char c : printable_message(text)) {
    cell += c;
    if (c == '"') {
      cell += c;
    }
  }
  return cell + '"';
}

std::string csv_number(const std::optional<double>& number) {
  return number ? fmt::format("{}", *number) : "";
}

}  // namespace attnviz
