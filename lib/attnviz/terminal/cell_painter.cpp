#include "attnviz/terminal/cell_painter.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

using std::string_view_literals::operator""sv;

// From about zero to one end of the scale. Blank is a masked cell. The dots belong to WGL4, which
// all terminal fonts have, and are one column wide.
constexpr std::array kAsciiRamp = {"."sv, ":"sv, "-"sv, "="sv, "+"sv, "*"sv, "#"sv, "%"sv, "@"sv};
constexpr std::array kShadeRamp = {"·"sv, "░"sv, "▒"sv, "▓"sv, "█"sv};
constexpr std::array kDotRamp = {"·"sv, "◦"sv, "•"sv, "○"sv, "●"sv};
constexpr std::array kSignedDotRamp = {"○"sv, "◦"sv, "·"sv, "•"sv, "●"sv};
// For scales around zero, where signs of equal size would not show the sign of a value.
constexpr std::array kSignedRamp = {"="sv, "-"sv, "·"sv, "+"sv, "#"sv};
constexpr std::array kSignedAsciiRamp = {"="sv, "-"sv, "."sv, "+"sv, "#"sv};
constexpr std::size_t kScaleWidth = 16;
constexpr std::size_t kTickedWidth = 45;    // a multiple of the ramps' nine and five steps
constexpr std::size_t kTickColumns = 7;     // one number below the scale
constexpr std::size_t kLeastValueCell = 4;  // narrowest colour cell with a value: " .46"

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
  // On colours two decimals are enough.
  return options.style == TerminalStyle::kNumbers ? room
                                                  : std::min(room, number_width(low, high, 2));
}

// Names of scales that need one.
constexpr std::array kScaleNames = {Choice{"sqrt scale", ScaleKind::kSqrt},
                                    Choice{"log scale", ScaleKind::kLog},
                                    Choice{"share of the row's largest", ScaleKind::kRowMax}};

}  // namespace

CellPainter::CellPainter(const TerminalOptions& options, const ColorScale& scale,
                         std::size_t cell_width)
    : options_(options),
      charset_(options.style),
      scale_(scale),
      palette_(scale.colormap, options.color),
      width_(cell_width),
      format_(scale.low, scale.high, value_columns(options, scale.low, scale.high, cell_width)),
      blank_masked_(!blocks() && options.style != TerminalStyle::kNumbers) {}

std::span<const std::string_view> CellPainter::ramp() const {
  const bool has_halves = scale_.colormap.diverging();
  switch (options_.style) {
    case TerminalStyle::kAscii:
    case TerminalStyle::kArcsAscii:
      return has_halves ? std::span<const std::string_view>(kSignedAsciiRamp) : kAsciiRamp;
    case TerminalStyle::kDots:
      return has_halves ? kSignedDotRamp : kDotRamp;
    default:
      return has_halves ? kSignedRamp : kShadeRamp;
  }
}

std::string_view CellPainter::sign(float t) const {
  if (std::isnan(t)) {
    return "?";
  }
  const auto levels = static_cast<float>(ramp().size());
  return ramp()[static_cast<std::size_t>(std::clamp(std::floor(t * levels), 0.0f, levels - 1.0f))];
}

// Signs are coloured only if their shape leaves room for it: a ramp of characters needs no colour.
// With 16 colours numbers differ in weight.
Style CellPainter::ink(float t) const {
  if (options_.style == TerminalStyle::kNumbers && options_.color == ColorDepth::k16) {
    constexpr float kWeak = 0.1f;
    return t >= 0.5f ? kBold : t < kWeak ? kDim : Style();
  }
  const bool inked =
      options_.style == TerminalStyle::kNumbers || options_.style == TerminalStyle::kDots;
  return inked ? Style{.ink = palette_.ink(t)} : Style();
}

void CellPainter::take(CellValue value) {
  if (value) {
    saw_nan_ = saw_nan_ || std::isnan(value->value);
    open_.take(scale_, value->shown);
  }
}

void CellPainter::cell(Line& line, CellValue value, bool show_value) {
  take(value);
  const float t = value ? scale_.position(value->shown) : 0.0f;
  if (options_.style == TerminalStyle::kNumbers) {
    const std::string text = value ? format_.text(value->value) : charset_.masked();
    line.space(width_ - std::min(width_, display_width(text)));
    line.put(text, value ? ink(t) : kDim);
  } else if (options_.style == TerminalStyle::kMask) {
    line.put_padded(value ? "#" : charset_.masked(), width_);
  } else if (options_.style == TerminalStyle::kDots) {
    line.put_padded(value && show_value ? sign(t) : " ", width_, ink(t));
  } else if (!blocks()) {
    const std::size_t filled = width_ > 2 ? width_ - 1 : width_;  // a space separates cells
    line.put(value ? repeated(sign(t), filled) : "");
    line.space(value ? width_ - filled : width_);
  } else if (!value) {
    const std::size_t before = width_ / 2;
    line.space(before);
    line.put_padded(show_value ? charset_.masked() : "", width_ - before, kDim);
  } else {
    const bool has_room = width_ >= kLeastValueCell && options_.values;
    const std::string text = show_value && has_room ? format_.text(value->value) : "";
    const std::size_t before = (width_ - text.size() + 1) / 2;
    line.put(pad_right(std::string(before, ' ') + text, width_), fill(t));
  }
}

void CellPainter::two_cells(Line& line, CellValue upper, CellValue lower) {
  take(upper);
  take(lower);
  blank_masked_ = true;
  const auto color = [this](const CellValue& value) {
    return palette_.color(scale_.position(value->shown));
  };
  if (!upper && !lower) {
    line.put(" ");
  } else if (upper && lower) {
    line.put("▀", {.ink = color(upper), .fill = color(lower)});
  } else if (upper) {
    line.put("▀", {.ink = color(upper)});
  } else {
    line.put("▄", {.ink = color(lower)});
  }
}

// Draws the scale from its low end to its high end, in exactly `columns` columns.
void CellPainter::bar(Line& line, std::size_t columns) const {
  for (std::size_t i = 0; i < columns; ++i) {
    const float t = (static_cast<float>(i) + 0.5f) / static_cast<float>(columns);
    if (blocks()) {
      line.put(" ", fill(t));
    } else {
      line.put(sign(t), ink(t));
    }
  }
}

std::optional<Line> CellPainter::scale_item(std::size_t columns) const {
  const auto [low, high] = end_labels(scale_, open_, charset_.is_ascii());
  if (options_.style == TerminalStyle::kMask) {
    return Line("# = visible");
  }
  if (options_.style == TerminalStyle::kNumbers) {
    // Colours show shares; the numbers are weights.
    return scale_.kind == ScaleKind::kRowMax ? std::nullopt
                                             : std::optional(Line("values " + low + " to " + high));
  }
  if (ticked()) {
    return std::nullopt;
  }
  const std::size_t ends = display_width(low) + display_width(high) + 2;
  const std::size_t width =
      blocks() ? std::min(kScaleWidth, columns - std::min(columns - 1, ends)) : ramp().size();
  Line line(low + " ");
  bar(line, width);
  line.put(" " + high);
  return line;
}

Line CellPainter::masked_item(const std::string& name) const {
  Line line;
  if (blank_masked_ && options_.style != TerminalStyle::kMask) {
    line.put("blank");
  } else {
    line.put(charset_.masked(), options_.style == TerminalStyle::kMask ? Style() : kDim);
  }
  line.put(" = " + name);
  return line;
}

Line CellPainter::nan_item() const {
  Line line;
  if (blocks()) {
    line.put("  ", fill(std::numeric_limits<float>::quiet_NaN()));
  } else {
    line.put(options_.style == TerminalStyle::kNumbers ? "nan" : "?");
  }
  line.put(" = NaN");
  return line;
}

std::vector<Line> CellPainter::legend(const std::string& masked_name, std::string_view value_name,
                                      std::size_t columns) const {
  std::vector<Line> items;
  if (const auto scale = scale_item(columns)) {
    items.push_back(*scale);
  }
  const bool has_shares = value_name.starts_with("share of");
  // Numbers are shares as well, if the values themselves are shares.
  const bool shows_kind = options_.style != TerminalStyle::kMask &&
                          (options_.style != TerminalStyle::kNumbers || colored() ||
                           (has_shares && scale_.kind != ScaleKind::kRowMax));
  if (const std::string_view kind = has_shares ? value_name : word_for(kScaleNames, scale_.kind);
      shows_kind && !kind.empty()) {
    items.emplace_back(fit_width(kind, columns, ""));
  }
  if (!masked_name.empty()) {
    items.push_back(masked_item(masked_name));
  }
  if (saw_nan_ && options_.style != TerminalStyle::kMask) {
    items.push_back(nan_item());
  }
  return items;
}

Page CellPainter::ticked_scale(std::size_t columns) const {
  if (!ticked()) {
    return {};
  }
  const std::size_t width = std::min(kTickedWidth, columns);
  Page page;
  Line line;
  bar(line, width);
  page.add(std::move(line));
  std::string numbers;
  const std::vector<ColorTick> ticks = color_ticks(
      scale_, std::max<std::size_t>(2, width / kTickColumns), open_, charset_.is_ascii());
  const std::size_t last = width - std::min(width, display_width(ticks.back().label));
  for (const ColorTick& tick : ticks) {
    const auto at = static_cast<std::size_t>(tick.position * static_cast<double>(width));
    const std::size_t wide = display_width(tick.label);
    const std::size_t used = display_width(numbers);
    const bool is_last = &tick == &ticks.back();
    const std::size_t begin = is_last ? last : at - std::min(at, wide / 2);
    const bool fits = begin >= used + (used == 0 ? 0 : 1) && (is_last || begin + wide < last);
    if (fits) {
      numbers = pad_right(numbers, begin) + tick.label;
    }
  }
  page.add(numbers);
  return page;
}

}  // namespace attnviz
