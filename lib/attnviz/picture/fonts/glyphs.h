// Glyphs: their outlines and ink, and the lines and boxes of a text that are made of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// Closed polygons, y upwards, in columns of the embedded font from the glyph's origin. Filled
/// where they wind around a point more often one way than the other.
using Outline = std::vector<std::vector<PixelPoint>>;

/// The curve from the last point of `contour` over one or two control points to the last of
/// `controls`, as short lines.
void add_curve(std::vector<PixelPoint>& contour, std::initializer_list<PixelPoint> controls);

/// The embedded font's measures, in columns (the width of each of its glyphs).
struct EmbeddedMetrics {
  double em = 0.0;
  double ascent = 0.0;   // of a line, above the baseline
  double descent = 0.0;  // below it, positive
  double digit_height = 0.0;
};
const EmbeddedMetrics& embedded_metrics() noexcept;

/// Whether the embedded font can draw the character; false too for what is no character.
bool embedded_has(char32_t code_point) noexcept;

/// Precondition: embedded_has(code_point).
Outline embedded_outline(char32_t code_point);

/// A box of two columns with the code point in hexadecimal, in two rows of two or three digits.
Outline code_point_box(char32_t code_point);

/// How much ink falls on each pixel: 0 none, 255 full. Over the ink, in colours of its own, what
/// colour fonts draw.
struct InkMap {
  int left = 0;  // of the first pixel, from the text's origin
  int top = 0;
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> ink;    // [height, width]
  std::vector<std::uint8_t> image;  // [height, width, 4] RGB times alpha, alpha; empty: none
};

/// The ink of an outline in pixels, y upwards, at (x, y) pixels right of and below the origin.
InkMap fill_outline(const Outline& outline, double x, double y);

// A text as the glyphs that draw it, in whole columns of the embedded font.

/// Printable labels show a space as ␠, which many fonts lack; ␣ says the same.
inline constexpr char32_t kSymbolForSpace = 0x2420;
inline constexpr char32_t kOpenBox = 0x2423;

class FontFace;
class FontFallback;

/// One glyph to draw.
struct Glyph {
  enum class Kind { kEmbedded, kBox, kFace };

  Kind kind = Kind::kEmbedded;
  std::uint32_t id = 0;            // a code point; in a face, its own number
  const FontFace* face = nullptr;  // kFace only
  double x = 0.0;                  // the origin, in columns from the left end of the text
  double y = 0.0;                  // above the baseline, in columns
  double em = 0.0;                 // kFace only: size in columns
};

struct GlyphRun {
  std::vector<Glyph> glyphs;  // from left to right
  std::size_t columns = 0;
};

/// `text` (valid UTF-8, composed to NFC first) from left to right as it is read; right-to-left
/// words in their own order, Arabic letters joined. Clusters that the embedded font lacks are set
/// in a fallback font where there is one (`fallback` may be null): wide characters take two
/// columns, other texts what they need. Else each character is a box of two columns, and joiners,
/// variation selectors and marks leave no glyph, unless the text holds nothing else.
GlyphRun glyph_run(std::string_view text, FontFallback* fallback);

// The box of a text: a line of the embedded font's columns, level or turned. What Unicode says
// about a text: the order of right-to-left words, scripts.

/// A font size is given as the width of a column in whole pixels (5 to 9 at 96 dpi), so that level
/// text sits on whole pixels. A line is about twice as high.
int line_height(int column_width) noexcept;

/// From the top of a line to its baseline.
int baseline(int column_width) noexcept;

/// The pixel `along` to the right and `down` from the origin, as the reader of the text sees it.
PixelPoint turned(double along, double down, TextAngle angle) noexcept;

/// The corners of a text's box (columns x line height), turned around its top left corner `origin`:
/// top left, top right, bottom right, bottom left, as the reader of the text would call them.
std::array<PixelPoint, 4> text_corners(PixelPoint origin, std::size_t columns, int column_width,
                                       TextAngle angle) noexcept;

/// A text in the order of its characters, and what its directions make of it.
struct OrderedText {
  std::u32string characters;
  /// As long: Arabic letters in the forms that join them and mirrored brackets, for a font that is
  /// drawn character by character. U+FEFF stands where a letter became part of the one before.
  std::u32string forms;
  std::vector<std::uint8_t> levels;  // odd: right to left
};

/// Levels and forms of one line. Its direction is that of its first letter.
///
/// Source  Unicode Bidirectional Algorithm (UAX 9), as FriBidi has it.
OrderedText order_text(std::u32string characters);

/// A sentence with right-to-left characters gets each quoted part (`"…"`) in an isolate (U+2068 …
/// U+2069), so that what stands around it keeps its order; a last quote without a partner stays as
/// it is. Other sentences are returned unchanged.
std::string isolate_quotes(std::string_view sentence);

/// Ends on each line the isolate that is open there, and begins it again on the next, after the
/// lines were made of one sentence.
void balance_isolates(std::vector<std::string>& lines);

/// The indices of items with these levels from left to right (rule L2 of UAX 9).
std::vector<std::size_t> visual_order(std::span<const std::uint8_t> levels);

/// The script that a character belongs to ("Arabic", "Han"); empty for what all scripts share, such
/// as punctuation, accents and emoji.
std::string_view script_of(char32_t code_point) noexcept;

}  // namespace attnviz
