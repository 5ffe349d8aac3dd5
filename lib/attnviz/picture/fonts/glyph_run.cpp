#include "attnviz/picture/fonts/glyphs.h"

#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "attnviz/core/utf8.h"
#include "attnviz/picture/fonts/font_face.h"

namespace attnviz {

namespace {

constexpr std::size_t kBoxColumns = 2;

// Placeholder of order_text for a letter that became part of a ligature.
constexpr char32_t kJoinedLetter = 0xFEFF;

// The longest ligatures of one character (a whole phrase) take about 20 columns. A font that needs
// more than this is broken.
constexpr double kMostColumnsPerCharacter = 40.0;

int width_of(char32_t code_point) {
  return utf8proc_charwidth(static_cast<utf8proc_int32_t>(code_point));
}

bool is_space(char32_t code_point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point)) == UTF8PROC_CATEGORY_ZS;
}

bool is_arabic_letter(char32_t code_point) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(code_point))->bidi_class ==
         UTF8PROC_BIDI_CLASS_AL;
}

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

GlyphRun ascii_run(std::string_view text) {
  GlyphRun run;
  for (const char c : text) {
    run.glyphs.push_back(
        {.id = static_cast<unsigned char>(c), .x = static_cast<double>(run.columns)});
    ++run.columns;
  }
  return run;
}

// Characters that are drawn together: a grapheme cluster, or a run of them in one fallback font.
struct Item {
  std::size_t begin = 0;  // of OrderedText::characters
  std::size_t end = 0;
  std::uint8_t level = 0;
  bool embedded = true;  // the embedded font has all of it
  bool wide = false;
  std::string_view script = {};  // empty for punctuation and the like
  const FontFace* face = nullptr;
};

class Typesetter {
 public:
  Typesetter(std::string_view text, FontFallback* fallback) : fallback_(fallback) {
    std::u32string characters;
    std::vector<std::size_t> ends;
    for (const std::string_view cluster : grapheme_clusters(text)) {
      for (std::size_t i = 0; i < cluster.size();) {
        const CodePoint point = decode_utf8(cluster, i);
        i += point.length;
        const bool hidden = point.value == kSymbolForSpace && !embedded_has(point.value);
        characters.push_back(hidden ? kOpenBox : point.value);
      }
      ends.push_back(characters.size());
    }
    text_ = order_text(std::move(characters));
    make_items(ends);
  }

  GlyphRun set() {
    if (fallback_ != nullptr) {
      choose_faces();
      join_items();
    }
    std::vector<std::uint8_t> levels;
    levels.reserve(items_.size());
    for (const Item& item : items_) {
      levels.push_back(item.level);
    }
    for (const std::size_t i : visual_order(levels)) {
      add(items_[i]);
    }
    if (run_.glyphs.empty() && !text_.characters.empty()) {
      run_.glyphs.push_back({.kind = Glyph::Kind::kBox, .id = text_.characters.front()});
      run_.columns = kBoxColumns;
    }
    return std::move(run_);
  }

 private:
  std::span<const char32_t> characters(const Item& item) const {
    return std::span(text_.characters).subspan(item.begin, item.end - item.begin);
  }

  void make_items(const std::vector<std::size_t>& ends) {
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      Item item = {.begin = begin, .end = end, .level = text_.levels[begin]};
      for (std::size_t i = begin; i < end; ++i) {
        const char32_t c = text_.characters[i];
        const char32_t form = text_.forms[i];
        item.embedded =
            item.embedded && (is_invisible(c) || form == kJoinedLetter || embedded_has(form));
        item.wide = item.wide || width_of(c) == 2;
        item.script = item.script.empty() ? script_of(c) : item.script;
      }
      items_.push_back(item);
      begin = end;
    }
  }

  // Letters join only within one font: a word of Arabic letters uses the embedded font as a whole
  // or not at all.
  void keep_arabic_words_together() {
    const auto is_arabic = [this](const Item& item) {
      return is_arabic_letter(text_.characters[item.begin]);
    };
    for (auto begin = items_.begin(); begin != items_.end();) {
      begin = std::find_if(begin, items_.end(), is_arabic);
      const auto end = std::find_if_not(begin, items_.end(), is_arabic);
      const bool embedded = std::all_of(begin, end, [](const Item& item) { return item.embedded; });
      std::for_each(begin, end, [embedded](Item& item) { item.embedded = embedded; });
      begin = end;
    }
  }

  void choose_faces() {
    keep_arabic_words_together();
    const FontFace* last = nullptr;
    for (Item& item : items_) {
      if (!item.embedded) {
        item.face = fallback_->face_for(characters(item), last);
        last = item.face;
      }
    }
  }

  void join_items() {
    std::vector<Item> joined;
    for (const Item& item : items_) {
      const bool extends = item.face != nullptr && !joined.empty() &&
                           joined.back().face == item.face && joined.back().level == item.level &&
                           joined.back().wide == item.wide &&
                           (joined.back().script == item.script || item.script.empty() ||
                            joined.back().script.empty());
      if (!extends) {
        joined.push_back(item);
        continue;
      }
      joined.back().end = item.end;
      joined.back().script = item.script.empty() ? joined.back().script : item.script;
    }
    items_ = std::move(joined);
  }

  void add(const Item& item) {
    if (item.face == nullptr || !add_shaped(item)) {
      add_characters(item);
    }
  }

  // Adds character by character: in the embedded font, else as boxes.
  void add_characters(const Item& item) {
    // A run of several clusters is drawn here if its font draws nothing; then it is reversed here.
    const bool reversed = item.face != nullptr && item.level % 2 == 1;
    std::optional<double> letter;
    for (std::size_t i = item.begin; i < item.end; ++i) {
      const std::size_t at = reversed ? item.end - 1 - (i - item.begin) : i;
      const char32_t form = text_.forms[at];
      const bool has = embedded_has(form);
      const char32_t c = has ? form : text_.characters[at];
      if (form == kJoinedLetter || width_of(c) == 0 || is_invisible(c)) {
        if (has && letter && !is_invisible(c)) {
          run_.glyphs.push_back({.id = c, .x = *letter});
        }
        continue;
      }
      const auto x = static_cast<double>(run_.columns);
      run_.glyphs.push_back(
          {.kind = has ? Glyph::Kind::kEmbedded : Glyph::Kind::kBox, .id = c, .x = x});
      run_.columns += has ? 1 : kBoxColumns;
      letter = has ? std::optional(x) : std::nullopt;
    }
  }

  // Adds an item in its own font. False if that draws nothing.
  bool add_shaped(const Item& item) {
    std::vector<char32_t> drawn;
    std::copy_if(characters(item).begin(), characters(item).end(), std::back_inserter(drawn),
                 [&item](char32_t c) { return is_invisible(c) || item.face->has(c); });
    const std::vector<ShapedGlyph> shaped = item.face->shape(drawn, item.level % 2 == 1);
    // The ink's box and the width of the text, in ems.
    GlyphExtents ink = {1e9, 1e9, -1e9, -1e9};
    double advance = 0.0;
    double widest = 0.0;  // of a glyph
    bool has_image = false;
    for (const ShapedGlyph& glyph : shaped) {
      advance += glyph.advance;
      const GlyphExtents box = item.face->extents(glyph.id);
      const bool is_image = item.face->image(glyph.id) != nullptr;
      if (box.empty() || (!is_image && item.face->outline(glyph.id).empty())) {
        continue;
      }
      has_image = has_image || is_image;
      widest = std::max(widest, glyph.advance);
      ink.left = std::min(ink.left, glyph.x + box.left);
      ink.right = std::max(ink.right, glyph.x + box.right);
      ink.bottom = std::min(ink.bottom, glyph.y + box.bottom);
      ink.top = std::max(ink.top, glyph.y + box.top);
    }
    if (ink.empty()) {
      if (!std::all_of(drawn.begin(), drawn.end(), is_space) || !(advance > 0.0)) {
        return false;
      }
      ink = {};
    }
    const EmbeddedMetrics& m = embedded_metrics();
    const double left = std::min(0.0, ink.left);
    const double width = std::max(advance, ink.right) - left;
    const double line = m.ascent + m.descent;
    // Ideographs are one em wide; symbols among them may be wider. Images have their own sizes.
    const double cell = has_image && widest > 0.0 ? widest : std::max(1.0, widest);
    double em = item.wide || has_image ? 2.0 / cell : m.em;
    em = std::min(em, line / std::max(ink.top - ink.bottom, 1e-3));
    if (!(width * em < kMostColumnsPerCharacter * static_cast<double>(drawn.size()))) {
      return false;
    }
    const auto columns = static_cast<std::size_t>(std::max(1.0, std::ceil(width * em - 0.05)));
    const double x = static_cast<double>(run_.columns) +
                     (static_cast<double>(columns) - width * em) / 2 - left * em;
    const double y = raised(item.wide, ink.bottom * em, ink.top * em, em);
    for (const ShapedGlyph& glyph : shaped) {
      run_.glyphs.push_back(
          {Glyph::Kind::kFace, glyph.id, item.face, x + glyph.x * em, y + glyph.y * em, em});
    }
    run_.columns += columns;
    return true;
  }

  // Returns how far to raise ink from `bottom` to `top`, so that it lies inside the line.
  static double raised(bool wide, double bottom, double top, double em) {
    const EmbeddedMetrics& m = embedded_metrics();
    // The square of an ideograph reaches from 0.12 em below the baseline to 0.88 em above it.
    const double centred = (m.ascent - m.descent) / 2 - 0.38 * em;
    const double wished = wide ? centred : 0.0;
    return std::clamp(wished, -m.descent - bottom, std::max(m.ascent - top, -m.descent - bottom));
  }

  FontFallback* fallback_;
  OrderedText text_;
  std::vector<Item> items_;  // in reading order
  GlyphRun run_;
};

}  // namespace

GlyphRun glyph_run(std::string_view text, FontFallback* fallback) {
  // A letter and its accent look better as one glyph than drawn over each other.
  return is_plain(text) ? ascii_run(text) : Typesetter(normal_form_c(text), fallback).set();
}

}  // namespace attnviz
