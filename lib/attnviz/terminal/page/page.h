// A page for a terminal: lines of spans that say what they look like. Views make pages; the escape
// codes are known to to_ansi alone.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// A colour as terminals of one depth have it.
struct PaletteColor {
  int index = 0;  // of 256 colours; of 16 the code of a background, 40 to 47 and 100 to 107
  Rgb rgb;        // what it looks like

  bool operator==(const PaletteColor&) const = default;
};

/// How signs look. On a fill without an ink they are black or white, whichever contrasts more.
struct Style {
  std::optional<PaletteColor> ink{};
  std::optional<PaletteColor> fill{};
  bool bold = false;
  bool dim = false;

  bool operator==(const Style&) const = default;
};

inline constexpr Style kBold{.bold = true};
inline constexpr Style kDim{.dim = true};

/// Printable text without line ends, in one style.
struct Span {
  std::string text;
  Style style{};
};

/// What stands beside each other.
struct Line {
  std::vector<Span> spans;

  Line() = default;
  explicit Line(std::string_view text, const Style& style = {}) { put(text, style); }

  void put(std::string_view text, const Style& style = {});
  void put(Line line);
  /// Blank columns.
  void space(std::size_t columns) { put(std::string(columns, ' ')); }
  /// `text`, and blank columns behind it up to a width of `columns`.
  void put_padded(std::string_view text, std::size_t columns, const Style& style = {});

  /// Columns of a terminal.
  std::size_t width() const;
};

struct Page {
  std::vector<Line> lines;

  void add(Line line) { lines.push_back(std::move(line)); }
  void add(std::string_view text, const Style& style = {}) { lines.emplace_back(text, style); }
  void add(Page page);
  void blank() { lines.emplace_back(); }
};

/// Lines ending in '\n', without the blank spans at their ends that nothing fills. Every styled run
/// ends in a reset, so that a cut line does not bleed. `depth` is the one that the page's colours
/// were chosen for; with ColorDepth::kNone it is to_plain().
std::string to_ansi(const Page& page, ColorDepth depth);

/// The same without any style.
std::string to_plain(const Page& page);

}  // namespace attnviz
