// Glyphs: their outlines and ink, and the lines and text boxes that consist of them.
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

/// Closed polygons, y upwards, in columns of the embedded font from the glyph's origin. A point is
/// filled if they wind around it more often one way than the other.
using Outline = std::vector<std::vector<PixelPoint>>;

/// Appends a curve from the last point of `contour`, with one or two control points, to the last of
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

/// Whether the embedded font can draw the character; false for invalid code points, too.
bool embedded_has(char32_t code_point) noexcept;

/// Precondition: embedded_has(code_point).
Outline embedded_outline(char32_t code_point);

/// A box of two columns with the code point in hexadecimal, in two rows of two or three digits.
Outline code_point_box(char32_t code_point);

/// The amount of ink on each pixel: 0 none, 255 full. Over the ink lies the image of a colour font,
/// in its own colours.
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

// The glyphs that draw a text, in whole columns of the embedded font.

/// Printable labels show a space as ␠, which many fonts lack; ␣ is drawn instead.
inline constexpr char32_t kSymbolForSpace = 0x2420;
inline constexpr char32_t kOpenBox = 0x2423;

class FontFace;
class FontFallback;

/// One glyph to draw.
struct Glyph {
  enum class Kind { kEmbedded, kBox, kFace };

  Kind kind = Kind::kEmbedded;
  std::uint32_t id = 0;            // a code point; for kFace the face's own number
  const FontFace* face = nullptr;  // kFace only
  double x = 0.0;                  // the origin, in columns from the left end of the text
  double y = 0.0;                  // above the baseline, in columns
  double em = 0.0;                 // kFace only: size in columns
};

struct GlyphRun {
  std::vector<Glyph> glyphs;  // from left to right
  std::size_t columns = 0;
};

/// Typesets `text` (valid UTF-8, first composed to NFC) in visual order from left to right;
/// right-to-left words in their own order, Arabic letters joined. Clusters that the embedded font
/// lacks are set in a fallback font if there is one (`fallback` may be null): wide characters take
/// two columns, other texts what they need. Without one, each character is a box of two columns,
/// and joiners, variation selectors and marks leave no glyph, unless the text consists only of
/// them.
GlyphRun glyph_run(std::string_view text, FontFallback* fallback);

// The box of a text: a line of the embedded font's columns, level or turned. Unicode properties of
// a text: the order of right-to-left words, scripts.

/// A font size is given as the width of a column in whole pixels (5 to 9 at 96 dpi), so that level
/// text sits on whole pixels. A line is about twice as high.
int line_height(int column_width) noexcept;

/// From the top of a line to its baseline.
int baseline(int column_width) noexcept;

/// The pixel `along` to the right and `down` from the origin, as seen by a reader of the text.
PixelPoint turned(double along, double down, TextAngle angle) noexcept;

/// The corners of a text's box (columns x line height), turned around its top left corner `origin`:
/// top left, top right, bottom right, bottom left, as seen by a reader of the text.
std::array<PixelPoint, 4> text_corners(PixelPoint origin, std::size_t columns, int column_width,
                                       TextAngle angle) noexcept;

/// The characters of a text, and how their directions affect them.
struct OrderedText {
  std::u32string characters;
  /// Of the same length: Arabic letters in their joined forms, and mirrored brackets, for a font
  /// that is drawn character by character. U+FEFF marks a letter that has merged with the one
  /// before.
  std::u32string forms;
  std::vector<std::uint8_t> levels;  // odd: right to left
};

/// Returns levels and forms of one line. Its direction is that of its first letter.
///
/// Source  Unicode Bidirectional Algorithm (UAX 9), as implemented by FriBidi.
OrderedText order_text(std::u32string characters);

/// In a sentence with right-to-left characters, puts each quoted part (`"…"`) in an isolate (U+2068
/// … U+2069), so that the text around it keeps its order; a last quote without a partner is left
/// alone. Returns other sentences unchanged.
std::string isolate_quotes(std::string_view sentence);

/// Closes open isolates at the end of each line and reopens them on the next, after one sentence
/// was broken into lines.
void balance_isolates(std::vector<std::string>& lines);

/// The indices of items with these levels from left to right (rule L2 of UAX 9).
std::vector<std::size_t> visual_order(std::span<const std::uint8_t> levels);

/// Returns the script of a character ("Arabic", "Han"); empty for characters that all scripts
/// share, such as punctuation, accents and emoji.
std::string_view script_of(char32_t code_point) noexcept;

}  // namespace attnviz
