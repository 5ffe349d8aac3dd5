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

}  // namespace attnviz
