#include "attnviz/render/glyph_run.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "attnviz/core/utf8.h"
#include "attnviz/render/font.h"

namespace attnviz {

namespace {

constexpr std::size_t kBoxColumns = 2;

// Printable labels show a space as ␠, which the font lacks; ␣ says the same.
constexpr char32_t kSymbolForSpace = 0x2420;
constexpr char32_t kOpenBox = 0x2423;

bool takes_no_room(char32_t code_point) {
  return utf8proc_charwidth(static_cast<utf8proc_int32_t>(code_point)) == 0;
}

// A letter and its accent drawn as one glyph look better than one drawn over the other.
std::string composed(std::string_view text) {
  utf8proc_uint8_t* bytes = nullptr;
  const utf8proc_ssize_t length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &bytes,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(bytes, &std::free);
  return length < 0
             ? std::string(text)
             : std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
}

bool is_right_to_left(const std::vector<Glyph>& glyphs) {
  bool found = false;
  for (const Glyph& glyph : glyphs) {
    const auto direction =
        utf8proc_get_property(static_cast<utf8proc_int32_t>(glyph.code_point))->bidi_class;
    if (direction == UTF8PROC_BIDI_CLASS_L || direction == UTF8PROC_BIDI_CLASS_EN ||
        direction == UTF8PROC_BIDI_CLASS_AN) {
      return false;
    }
    found = found || direction == UTF8PROC_BIDI_CLASS_R || direction == UTF8PROC_BIDI_CLASS_AL;
  }
  return found;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

// The longest run of whole clusters that takes at most `columns`, in bytes.
std::size_t fitting_bytes(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  std::size_t used = 0;
  for (const std::string_view cluster : grapheme_clusters(text)) {
    used += drawn_columns(cluster);
    if (used > columns) {
      break;
    }
    bytes += cluster.size();
  }
  return bytes;
}

std::string ended_by_ellipsis(std::string_view text, std::size_t columns) {
  return std::string(text.substr(0, fitting_bytes(text, columns - 1))).append("…");
}

// One line's worth of `text`, in bytes, ending before a space when there is one.
std::size_t line_bytes(std::string_view text, std::size_t columns) {
  const std::size_t fitting = fitting_bytes(text, columns);
  if (fitting == text.size() || text[fitting] == ' ') {
    return fitting;
  }
  const std::size_t space = text.substr(0, fitting).rfind(' ');
  if (space != std::string_view::npos && space > 0) {
    return space;
  }
  return std::max(fitting, grapheme_clusters(text).front().size());
}

}  // namespace

std::vector<Glyph> glyph_run(std::string_view text) {
  const std::string normal = is_ascii(text) ? std::string(text) : composed(text);
  std::vector<Glyph> glyphs;
  std::size_t columns = 0;
  for (std::size_t i = 0; i < normal.size();) {
    CodePoint point = decode_utf8(normal, i);
    i += point.length;
    if (point.value == kSymbolForSpace && !font_has(point.value)) {
      point.value = kOpenBox;
    }
    const bool in_font = font_has(point.value);
    if (takes_no_room(point.value)) {
      const bool joins =
          utf8proc_category(static_cast<utf8proc_int32_t>(point.value)) == UTF8PROC_CATEGORY_CF;
      const bool selects = point.value >= 0xFE00 && point.value <= 0xFE0F;
      if (in_font && !joins && !selects && !glyphs.empty() && glyphs.back().in_font) {
        glyphs.push_back({point.value, glyphs.back().column, glyphs.back().columns, true});
      }
      continue;
    }
    const std::size_t width = in_font ? 1 : kBoxColumns;
    glyphs.push_back({point.value, columns, width, in_font});
    columns += width;
  }
  if (glyphs.empty() && !normal.empty()) {
    glyphs.push_back({decode_utf8(normal, 0).value, 0, kBoxColumns, false});
  }
  if (is_right_to_left(glyphs)) {
    for (Glyph& glyph : glyphs) {
      glyph.column = columns - glyph.column - glyph.columns;
    }
  }
  return glyphs;
}

std::size_t drawn_columns(std::string_view text) {
  if (is_ascii(text)) {
    return text.size();
  }
  std::size_t columns = 0;
  for (const Glyph& glyph : glyph_run(text)) {
    columns = std::max(columns, glyph.column + glyph.columns);
  }
  return columns;
}

std::string shorten(std::string_view text, std::size_t columns) {
  return drawn_columns(text) <= columns ? std::string(text) : ended_by_ellipsis(text, columns);
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns, std::size_t max_lines) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t feed = std::min(text.find('\n'), text.size());
    const std::string_view paragraph = text.substr(0, feed);
    const std::size_t bytes = paragraph.empty() ? 0 : line_bytes(paragraph, columns);
    std::string_view rest = text.substr(bytes);
    const bool more = rest.find_first_not_of(" \n") != std::string_view::npos;
    if (lines.size() + 1 == max_lines && more) {
      lines.push_back(ended_by_ellipsis(paragraph, columns));
      break;
    }
    const std::string_view line = text.substr(0, bytes);
    lines.emplace_back(line.substr(0, line.find_last_not_of(' ') + 1));
    while (!rest.empty() && rest.front() == ' ') {
      rest.remove_prefix(1);
    }
    if (!rest.empty() && rest.front() == '\n') {
      rest.remove_prefix(1);
    }
    text = rest;
  }
  return lines;
}

}  // namespace attnviz
