#include "attnviz/render/cell_painter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

using std::string_view_literals::operator""sv;

// From about zero to one end of the scale. A blank is a masked cell.
constexpr std::array kAsciiRamp = {"."sv, ":"sv, "-"sv, "="sv, "+"sv, "*"sv, "#"sv, "%"sv, "@"sv};
constexpr std::array kShadeRamp = {"·"sv, "░"sv, "▒"sv, "▓"sv, "█"sv};
constexpr std::string_view kDim = "2";
constexpr std::size_t kScaleWidth = 16;
constexpr std::size_t kLeastValueCell = 4;  // a colour cell that shows its value: " .46"

std::span<const std::string_view> ramp_of(TerminalStyle style) {
  return style == TerminalStyle::kAscii ? std::span<const std::string_view>(kAsciiRamp)
                                        : std::span<const std::string_view>(kShadeRamp);
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += text;
  }
  return out;
}

std::size_t value_columns(const TerminalOptions& options, float low, float high,
                          std::size_t cell_width) {
  const std::size_t room = cell_width - 1;
  // Over colours two decimals are enough: the colour says the rest.
  return options.style == TerminalStyle::kNumbers ? room
                                                  : std::min(room, number_width(low, high, 2));
}

}  // namespace

CellPainter::CellPainter(const TerminalOptions& options, const ColorScale& scale,
                         std::size_t cell_width)
    : options_(options),
      scale_(scale),
      width_(cell_width),
      format_(scale.low, scale.high, value_columns(options, scale.low, scale.high, cell_width)),
      blank_masked_(!colored() && options.style != TerminalStyle::kNumbers) {}

std::string CellPainter::glyph(const CellNumber& cell) const {
  if (std::isnan(cell.value)) {
    return "?";
  }
  const std::span<const std::string_view> ramp = ramp_of(options_.style);
  const auto levels = static_cast<float>(ramp.size());
  const float level =
      std::clamp(std::floor(scale_.position(cell.shown) * levels), 0.0f, levels - 1.0f);
  return std::string(ramp[static_cast<std::size_t>(level)]);
}

TerminalColor CellPainter::color(const CellNumber& cell) const {
  return terminal_color(scale_.colormap, scale_.position(cell.shown), options_.color);
}

void CellPainter::swatch(AnsiLine& line, float t, std::string_view text) const {
  const TerminalColor color = terminal_color(scale_.colormap, t, options_.color);
  const bool blank = text.find_first_not_of(' ') == std::string_view::npos;
  line.put(text, blank ? color.background : color.background + ";" + color.text_on_it);
}

void CellPainter::cell(AnsiLine& line, CellValue value, bool show_value) {
  saw_nan_ = saw_nan_ || (value && std::isnan(value->value));
  if (options_.style == TerminalStyle::kNumbers) {
    line.put(pad_left(value ? format_.text(value->value) : "·", width_));
  } else if (!colored()) {
    const std::size_t filled = width_ > 2 ? width_ - 1 : width_;  // a space tells cells apart
    line.put(value ? repeated(glyph(*value), filled) : std::string(filled, ' '));
    line.put(std::string(width_ - filled, ' '));
  } else if (!value) {
    const std::size_t before = width_ / 2;
    line.put(std::string(before, ' '));
    line.put(show_value ? "·" : " ", show_value ? kDim : ""sv);
    line.put(std::string(width_ - before - 1, ' '));
  } else {
    const bool has_room = width_ >= kLeastValueCell;
    const std::string text = show_value && has_room ? format_.text(value->value) : "";
    const std::size_t before = (width_ - text.size() + 1) / 2;
    swatch(line, scale_.position(value->shown), pad_right(std::string(before, ' ') + text, width_));
  }
}

void CellPainter::two_cells(AnsiLine& line, CellValue upper, CellValue lower) {
  saw_nan_ = saw_nan_ || (upper && std::isnan(upper->value)) || (lower && std::isnan(lower->value));
  blank_masked_ = true;
  if (!upper && !lower) {
    line.put(" ");
    return;
  }
  if (upper && lower) {
    line.put("▀", color(*upper).foreground + ";" + color(*lower).background);
  } else if (upper) {
    line.put("▀", color(*upper).foreground);
  } else {
    line.put("▄", color(*lower).foreground);
  }
}

std::vector<InlineItem> CellPainter::legend(bool has_masked, std::size_t columns) const {
  std::vector<InlineItem> items;
  const std::string low = fmt::format("{:.4g}", scale_.low);
  const std::string high = fmt::format("{:.4g}", scale_.high);
  const std::size_t ends = low.size() + high.size() + 2;
  const std::span<const std::string_view> ramp = ramp_of(options_.style);
  AnsiLine line;
  std::size_t width = 0;
  const auto take = [&items, &line, &width] { items.push_back({line.finish(), width}); };
  if (options_.style == TerminalStyle::kNumbers) {
    line.put("values " + low + " to " + high);
    width = ends + 9;
  } else if (colored()) {
    const std::size_t bar = std::min(kScaleWidth, columns - std::min(columns - 1, ends));
    line.put(low + " ");
    for (std::size_t i = 0; i < bar; ++i) {
      swatch(line, (static_cast<float>(i) + 0.5f) / static_cast<float>(bar), " ");
    }
    line.put(" " + high);
    width = ends + bar;
  } else {
    line.put(low + " ");
    for (const std::string_view step : ramp) {
      line.put(step);
    }
    line.put(" " + high);
    width = ends + ramp.size();
  }
  take();
  if (has_masked) {
    if (!blank_masked_) {
      line.put("·", colored() ? kDim : ""sv);
      line.put(" = masked");
      width = 10;
    } else {
      line.put("blank = masked");
      width = 14;
    }
    take();
  }
  if (saw_nan_) {
    if (colored()) {
      swatch(line, std::numeric_limits<float>::quiet_NaN(), "  ");
    } else {
      line.put(options_.style == TerminalStyle::kNumbers ? "nan" : "?");
    }
    line.put(" = NaN");
    width = 9;
    take();
  }
  return items;
}

}  // namespace attnviz
