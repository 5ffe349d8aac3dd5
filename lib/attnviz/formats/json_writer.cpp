#include "attnviz/formats/json_writer.h"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <utility>

#include "attnviz/core/utf8.h"
#include "attnviz/formats/json_reader.h"

namespace attnviz {

namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 16;
constexpr std::size_t kMostNumbers = 2048;  // of a row, between two checks of the buffer
constexpr char kHexDigits[] = "0123456789ABCDEF";

// Characters that a terminal or a script could obey: controls, line separators that JavaScript once
// counted as line ends, and everything that reorders text.
bool must_escape(char32_t c) noexcept {
  return c < 0x20 || c == '"' || c == '\\' || (c >= 0x7f && c < 0xa0) || c == 0x061c ||
         c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void append_escape(std::string& out, char32_t c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:  // characters to be escaped lie in the basic multilingual plane
      out += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) {
        out += kHexDigits[(c >> shift) & 0xf];
      }
  }
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = decode_utf8(text, i);
    if (!point.valid) {
      i = append_invalid_bytes(text, i, out);
      continue;
    }
    if (must_escape(point.value)) {
      append_escape(out, point.value);
    } else {
      out += text.substr(i, point.length);
    }
    i += point.length;
  }
  out += '"';
}

}  // namespace

JsonWriter::JsonWriter(ByteSink sink, std::size_t indent)
    : sink_(std::move(sink)), indent_(indent) {}

void JsonWriter::begin_object() {
  separate(/*container=*/true);
  buffer_ += '{';
  levels_.push_back({.is_array = false});
}

void JsonWriter::end_object() {
  assert(!levels_.empty() && !levels_.back().is_array && !after_key_);
  end('}');
}

void JsonWriter::begin_array() {
  separate(/*container=*/true);
  buffer_ += '[';
  levels_.push_back({.is_array = true});
}

void JsonWriter::end_array() {
  assert(!levels_.empty() && levels_.back().is_array);
  end(']');
}

void JsonWriter::key(std::string_view name) {
  assert(!levels_.empty() && !levels_.back().is_array && !after_key_);
  Level& level = levels_.back();
  if (level.has_items) {
    buffer_ += ',';
  }
  if (indent_ > 0) {
    level.several_lines = true;
    new_line();
  } else if (level.has_items) {
    buffer_ += ' ';
  }
  level.has_items = true;
  append_string(buffer_, name);
  buffer_ += ": ";
  after_key_ = true;
}

void JsonWriter::value(std::string_view text) {
  separate(/*container=*/false);
  append_string(buffer_, text);
  spill();
}

void JsonWriter::value(bool flag) {
  separate(/*container=*/false);
  buffer_ += flag ? "true" : "false";
}

void JsonWriter::value(std::uint64_t number) {
  separate(/*container=*/false);
  buffer_ += fmt::format_int(number).c_str();
}

void JsonWriter::value(std::int64_t number) {
  separate(/*container=*/false);
  buffer_ += fmt::format_int(number).c_str();
}

void JsonWriter::value(double number) {
  separate(/*container=*/false);
  std::array<char, 32> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  const std::string_view text(digits.data(), static_cast<std::size_t>(result.ptr - digits.data()));
  if (!std::isfinite(number)) {
    buffer_ += "null";
    return;
  }
  buffer_ += text;
  if (text.find_first_of(".e") == std::string_view::npos) {
    buffer_ += ".0";
  }
}

void JsonWriter::value(float number) {
  separate(/*container=*/false);
  append_json_number(buffer_, number);
}

void JsonWriter::null() {
  separate(/*container=*/false);
  buffer_ += "null";
}

void JsonWriter::value(std::span<const float> numbers) {
  separate(/*container=*/true);
  buffer_ += '[';
  while (numbers.size() > kMostNumbers) {
    append_json_items(buffer_, numbers.first(kMostNumbers));
    buffer_ += ", ";
    spill();
    numbers = numbers.subspan(kMostNumbers);
  }
  append_json_items(buffer_, numbers);
  buffer_ += ']';
  spill();
}

void JsonWriter::value(ConstMatrix rows) {
  begin_array();
  for (std::size_t i = 0; i < rows.rows; ++i) {
    value(rows.row(i));
  }
  end_array();
}

void JsonWriter::raw_items(std::string_view items) {
  assert(!levels_.empty() && levels_.back().is_array);
  if (items.empty()) {
    return;
  }
  separate(/*container=*/true);
  if (items.size() < kBufferSize) {
    buffer_ += items;
    spill();
    return;
  }
  sink_(buffer_);
  buffer_.clear();
  sink_(items);
}

void JsonWriter::finish() {
  assert(levels_.empty() && !after_key_);
  buffer_ += '\n';
  sink_(buffer_);
  buffer_.clear();
}

void JsonWriter::separate(bool container) {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) {
    return;
  }
  Level& level = levels_.back();
  assert(level.is_array);  // in an object every value follows its key
  if (level.has_items) {
    buffer_ += ',';
  }
  if (container && indent_ > 0) {
    level.several_lines = true;
    new_line();
  } else if (level.has_items) {
    buffer_ += ' ';
  }
  level.has_items = true;
}

void JsonWriter::end(char bracket) {
  const bool several_lines = levels_.back().several_lines;
  levels_.pop_back();
  if (several_lines) {
    new_line();
  }
  buffer_ += bracket;
  spill();
}

void JsonWriter::new_line() {
  buffer_ += '\n';
  buffer_.append(indent_ * levels_.size(), ' ');
}

void JsonWriter::spill() {
  if (buffer_.size() >= kBufferSize) {
    sink_(buffer_);
    buffer_.clear();
  }
}

}  // namespace attnviz
