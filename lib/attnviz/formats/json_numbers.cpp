#include "attnviz/formats/json_numbers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace attnviz {

namespace {

// A sign, nine digits, a point, an exponent of four characters, or less than that; and ", ".
constexpr std::size_t kLongestItem = 24;
// Stays in the nearest cache.
constexpr std::size_t kPieceSize = 4096;

char* put(char* out, std::string_view text) noexcept {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

// Writes at most kLongestItem - 2 characters and returns their end.
char* put_number(char* out, float number) noexcept {
  const float size = std::fabs(number);
  if (size == 0.0f) {
    return put(out, std::signbit(number) ? "-0.0" : "0.0");
  }
  if (!std::isfinite(number)) {
    return put(out, "null");
  }
  char* const end = std::to_chars(out, out + kLongestItem, number).ptr;
  // What lies below 1 has a point or an exponent in any case. Others get one: readers that tell
  // integers from floats then keep the type.
  if (size >= 1.0f) {
    const std::string_view text(out, static_cast<std::size_t>(end - out));
    if (text.find_first_of(".e") == std::string_view::npos) {
      return put(end, ".0");
    }
  }
  return end;
}

}  // namespace

void append_json_number(std::string& out, float number) {
  std::array<char, kLongestItem> text;
  out.append(text.data(), put_number(text.data(), number));
}

void append_json_items(std::string& out, std::span<const float> numbers) {
  std::array<char, kPieceSize> piece;
  char* at = piece.data();
  const char* const last_begin = piece.data() + piece.size() - kLongestItem;
  bool first = true;
  for (const float number : numbers) {
    if (at > last_begin) {
      out.append(piece.data(), at);
      at = piece.data();
    }
    if (!first) {
      at = put(at, ", ");
    }
    first = false;
    at = put_number(at, number);
  }
  out.append(piece.data(), at);
}

void append_json_values(std::string& out, std::span<const float> numbers) {
  out += '[';
  append_json_items(out, numbers);
  out += ']';
}

void append_json_rows(std::string& out, ConstMatrix rows) {
  for (std::size_t i = 0; i < rows.rows; ++i) {
    if (i != 0) {
      out += ", ";
    }
    append_json_values(out, rows.row(i));
  }
}

}  // namespace attnviz
