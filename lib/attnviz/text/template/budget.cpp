#include "attnviz/text/template/budget.h"

#include <fmt/core.h>

#include <algorithm>

namespace attnviz::templates {

std::string place_in(std::string_view source, std::size_t at) {
  const std::string_view before = source.substr(0, std::min(at, source.size()));
  const std::size_t line_begin = before.rfind('\n') + 1;  // 0 when there is none
  const auto is_first_byte = [](char one) {
    return (static_cast<unsigned char>(one) & 0xC0U) != 0x80U;
  };
  return fmt::format("line {}, column {}", 1 + std::ranges::count(before, '\n'),
                     1 + std::ranges::count_if(before.substr(line_begin), is_first_byte));
}

void fail_at(std::string_view where, std::string_view source, std::size_t at,
             std::string_view message, ErrorKind kind) {
  throw Error(kind, fmt::format("{}: {}: {}", where, place_in(source, at), message));
}

}  // namespace attnviz::templates
