#include "attnviz/terminal/page/page.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>
#include <string>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/words/words.h"

namespace attnviz {

namespace {

// The SGR parameters of a colour: 38 for signs, 48 for their background.
std::string color_code(const PaletteColor& color, bool is_background, ColorDepth depth) {
  const int kind = is_background ? 48 : 38;
  switch (depth) {
    case ColorDepth::kTrueColor:
      return fmt::format("{};2;{};{};{}", kind, color.rgb.r, color.rgb.g, color.rgb.b);
    case ColorDepth::k256:
      return fmt::format("{};5;{}", kind, color.index);
    default:
      return fmt::format("{}", is_background ? color.index : color.index - 10);
  }
}

// With more than 16 colours the black and white of the cube, because themes redefine the first 16.
const char* code_of_text_on(Rgb fill, ColorDepth depth) {
  if (depth == ColorDepth::k16) {
    return dark_text_on(fill) ? "30" : "97";
  }
  return dark_text_on(fill) ? "38;5;16" : "38;5;231";
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(' ') == std::string_view::npos;
}

std::string codes_of(const Span& span, ColorDepth depth) {
  const Style& style = span.style;
  std::string codes;
  if (depth == ColorDepth::kNone) {
    return codes;
  }
  const auto add = [&codes](std::string_view code) {
    codes.append(codes.empty() ? "" : ";").append(code);
  };
  if (style.bold) {
    add("1");
  }
  if (style.dim) {
    add("2");
  }
  if (style.ink) {
    add(color_code(*style.ink, /*is_background=*/false, depth));
  }
  if (style.fill) {
    add(color_code(*style.fill, /*is_background=*/true, depth));
    if (!style.ink && !is_blank(span.text)) {
      add(code_of_text_on(style.fill->rgb, depth));
    }
  }
  return codes;
}

void append_line(std::string& out, const Line& line, ColorDepth depth) {
  std::size_t n_spans = line.spans.size();
  while (n_spans > 0 && is_blank(line.spans[n_spans - 1].text) &&
         codes_of(line.spans[n_spans - 1], depth).empty()) {
    --n_spans;
  }
  std::string current;
  for (const Span& span : std::span(line.spans).first(n_spans)) {
    std::string codes = codes_of(span, depth);
    if (codes != current) {
      out += codes.empty() ? "\x1b[0m" : current.empty() ? "\x1b[" : "\x1b[0;";
      out.append(codes).append(codes.empty() ? "" : "m");
      current = std::move(codes);
    }
    out += span.text;
  }
  out += current.empty() ? "\n" : "\x1b[0m\n";
}

}  // namespace

void Line::put(std::string_view text, const Style& style) {
  if (text.empty()) {
    return;
  }
  // Merges plain text, so that a row of a large matrix is one span, not three per number. Trailing
  // blanks stay separate until more text follows: at the end of a line they are dropped.
  const auto plain_end = [this] { return !spans.empty() && spans.back().style == Style{}; };
  if (style == Style{} && plain_end() && is_blank(spans.back().text)) {
    const std::string blanks = std::move(spans.back().text);
    spans.pop_back();
    if (!is_blank(text) && plain_end()) {
      spans.back().text.append(blanks).append(text);
    } else {
      spans.push_back({blanks + std::string(text), style});
    }
    return;
  }
  spans.push_back({std::string(text), style});
}

void Line::put(Line line) {
  spans.insert(spans.end(), std::make_move_iterator(line.spans.begin()),
               std::make_move_iterator(line.spans.end()));
}

void Line::put_padded(std::string_view text, std::size_t columns, const Style& style) {
  put(text, style);
  const std::size_t width = display_width(text);
  space(columns > width ? columns - width : 0);
}

std::size_t Line::width() const {
  std::size_t columns = 0;
  for (const Span& span : spans) {
    columns += display_width(span.text);
  }
  return columns;
}

void Page::add(Page page) {
  lines.insert(lines.end(), std::make_move_iterator(page.lines.begin()),
               std::make_move_iterator(page.lines.end()));
}

std::string to_ansi(const Page& page, ColorDepth depth) {
  std::string out;
  for (const Line& line : page.lines) {
    append_line(out, line, depth);
  }
  return out;
}

std::string to_plain(const Page& page) {
  return to_ansi(page, ColorDepth::kNone);
}

std::string Charset::label(std::string_view text) const {
  return is_ascii_ ? printable_ascii(text) : printable(text);
}

std::string Charset::sentence(std::string_view text) const {
  return safe_message(is_ascii_ ? in_ascii(text) : std::string(text), is_ascii_);
}

std::string Charset::formula(std::string_view text) const {
  return is_ascii_ ? in_ascii(text) : std::string(text);
}

std::string Charset::fitted(std::string_view text, std::size_t columns) const {
  return fit_width(text, columns, ellipsis());
}

std::string Charset::bar(double share, std::size_t columns) const {
  constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const std::size_t steps = is_ascii_ ? 1 : kEighths.size();
  if (!(share > 0.0) || columns == 0) {
    return {};
  }
  const double exact = std::min(share, 1.0) * static_cast<double>(columns * steps);
  const auto filled = static_cast<std::size_t>(std::lround(exact));
  if (filled == 0) {
    return is_ascii_ ? "|" : "▏";
  }
  std::string out;
  for (std::size_t i = 0; i < filled / steps; ++i) {
    out += is_ascii_ ? "#" : "█";
  }
  out += is_ascii_ ? "" : kEighths[filled % steps];
  return out;
}

std::string Charset::bar_to_left(double share, std::size_t columns) const {
  if (!(share > 0.0) || columns == 0) {
    return std::string(columns, ' ');
  }
  const std::size_t steps = is_ascii_ ? 1 : 2;
  const double exact = std::min(share, 1.0) * static_cast<double>(columns * steps);
  const auto filled = static_cast<std::size_t>(std::lround(exact));
  const bool is_sliver = filled == 0;
  const bool has_half = filled % steps != 0;
  const std::size_t whole = filled / steps;
  std::string out(columns - whole - (is_sliver || has_half ? 1 : 0), ' ');
  if (is_sliver) {
    out += is_ascii_ ? "-" : "▕";
  } else if (has_half) {
    out += "▐";
  }
  for (std::size_t i = 0; i < whole; ++i) {
    out += is_ascii_ ? "#" : "█";
  }
  return out;
}

namespace {

constexpr std::uint8_t kDotBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

}  // namespace

BrailleCanvas::BrailleCanvas(std::size_t columns, std::size_t rows)
    : columns_(columns), rows_(rows), cells_(columns * rows) {}

void BrailleCanvas::line(DotPoint from, DotPoint to, std::size_t period, bool thick,
                         const Style& style) {
  const auto across = static_cast<double>(to.x) - static_cast<double>(from.x);
  const auto down = static_cast<double>(to.y) - static_cast<double>(from.y);
  const double n_steps = std::max({std::abs(across), std::abs(down), 1.0});
  const bool is_steep = std::abs(down) > std::abs(across);
  for (std::size_t step = 0; step <= static_cast<std::size_t>(n_steps); step += period) {
    const double along = static_cast<double>(step) / n_steps;
    const auto x =
        static_cast<std::size_t>(std::lround(static_cast<double>(from.x) + along * across));
    const auto y =
        static_cast<std::size_t>(std::lround(static_cast<double>(from.y) + along * down));
    dot(x, y, style);
    if (thick) {
      dot(is_steep ? x + 1 : x, is_steep ? y : y + 1, style);
    }
  }
}

Line BrailleCanvas::row(std::size_t row) const {
  constexpr char32_t kNoDots = 0x2800;
  Line line;
  for (std::size_t column = 0; column < columns_; ++column) {
    const Cell& cell = cells_[row * columns_ + column];
    if (cell.dots == 0) {
      line.space(1);
      continue;
    }
    std::string sign;
    append_utf8(sign, kNoDots + cell.dots);
    line.put(sign, cell.style);
  }
  return line;
}

void BrailleCanvas::dot(std::size_t x, std::size_t y, const Style& style) {
  if (x >= 2 * columns_ || y >= 4 * rows_) {
    return;
  }
  Cell& cell = cells_[y / 4 * columns_ + x / 2];
  cell.dots = static_cast<std::uint8_t>(cell.dots | kDotBits[y % 4][x % 2]);
  cell.style = style;
}

}  // namespace attnviz
