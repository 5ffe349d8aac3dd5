// A text as the glyphs that draw it, in whole columns of the embedded font.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace attnviz {

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

}  // namespace attnviz
