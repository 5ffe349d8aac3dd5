#include "attnviz/picture/fonts/glyphs.h"

#include <fribidi/fribidi.h>
#include <unictype.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <numbers>
#include <numeric>
#include <utility>

#include "attnviz/core/utf8.h"

namespace attnviz {

int baseline(int column_width) noexcept {
  return static_cast<int>(std::lround(embedded_metrics().ascent * column_width));
}

PixelPoint turned(double along, double down, TextAngle angle) noexcept {
  constexpr double kSlope = 1.0 / std::numbers::sqrt2;
  const double cosine = angle == TextAngle::kLevel ? 1.0 : angle == TextAngle::kUp ? 0.0 : kSlope;
  const double sine = angle == TextAngle::kLevel ? 0.0 : angle == TextAngle::kUp ? 1.0 : kSlope;
  return {along * cosine + down * sine, -along * sine + down * cosine};
}

int line_height(int column_width) noexcept {
  const double descent = embedded_metrics().descent * column_width;
  return baseline(column_width) + static_cast<int>(std::ceil(descent));
}

std::array<PixelPoint, 4> text_corners(PixelPoint origin, std::size_t columns, int column_width,
                                       TextAngle angle) noexcept {
  const double width = static_cast<double>(columns) * column_width;
  const double height = line_height(column_width);
  std::array<PixelPoint, 4> corners = {turned(0, 0, angle), turned(width, 0, angle),
                                       turned(width, height, angle), turned(0, height, angle)};
  for (PixelPoint& corner : corners) {
    corner.x += origin.x;
    corner.y += origin.y;
  }
  return corners;
}

namespace {

bool reads_right_to_left(char32_t code_point) {
  return FRIBIDI_IS_RTL(fribidi_get_bidi_type(static_cast<FriBidiChar>(code_point))) != 0;
}

}  // namespace

OrderedText order_text(std::u32string characters) {
  OrderedText ordered;
  ordered.forms = characters;
  ordered.levels.assign(characters.size(), 0);
  ordered.characters = std::move(characters);
  const std::u32string& text = ordered.characters;
  if (std::none_of(text.begin(), text.end(), reads_right_to_left)) {
    return ordered;
  }
  const auto size = static_cast<FriBidiStrIndex>(text.size());
  std::vector<FriBidiChar> forms(text.begin(), text.end());
  std::vector<FriBidiCharType> types(text.size());
  std::vector<FriBidiBracketType> brackets(text.size());
  std::vector<FriBidiLevel> levels(text.size());
  fribidi_get_bidi_types(forms.data(), size, types.data());
  fribidi_get_bracket_types(forms.data(), size, types.data(), brackets.data());
  FriBidiParType direction = FRIBIDI_PAR_ON;
  if (fribidi_get_par_embedding_levels_ex(types.data(), brackets.data(), size, &direction,
                                          levels.data()) == 0) {
    throw std::bad_alloc();
  }
  std::vector<FriBidiArabicProp> joining(text.size());
  fribidi_get_joining_types(forms.data(), size, joining.data());
  fribidi_join_arabic(types.data(), size, levels.data(), joining.data());
  fribidi_shape(FRIBIDI_FLAGS_ARABIC | FRIBIDI_FLAG_SHAPE_MIRRORING, levels.data(), size,
                joining.data(), forms.data());
  ordered.forms.assign(forms.begin(), forms.end());
  std::transform(levels.begin(), levels.end(), ordered.levels.begin(), [](FriBidiLevel level) {
    return static_cast<std::uint8_t>(std::max<int>(level, 0));
  });
  return ordered;
}

std::string isolate_quotes(std::string_view sentence) {
  const auto has_right_to_left = [sentence] {
    for (std::size_t i = 0; i < sentence.size();) {
      const CodePoint point = decode_utf8(sentence, i);
      if (reads_right_to_left(point.value)) {
        return true;
      }
      i += point.length;
    }
    return false;
  };
  std::string isolated;
  if (!has_right_to_left()) {
    return isolated = sentence;
  }
  std::size_t begin = 0;  // start of the text not yet isolated
  for (;;) {
    const std::size_t open = sentence.find('"', begin);
    std::size_t close = open == std::string_view::npos ? open : open + 1;
    while (close < sentence.size() && sentence[close] != '"') {
      close += sentence[close] == '\\' ? 2U : 1U;  // as escaped by quoted()
    }
    if (close >= sentence.size()) {  // npos, too
      return isolated += sentence.substr(begin);
    }
    isolated += sentence.substr(begin, open + 1 - begin);
    isolated += "\u2068";
    isolated += sentence.substr(open + 1, close - open - 1);
    isolated += "\u2069\"";
    begin = close + 1;
  }
}

void balance_isolates(std::vector<std::string>& lines) {
  constexpr std::string_view kBegin = "\u2068";
  constexpr std::string_view kEnd = "\u2069";
  bool is_open = false;
  for (std::string& line : lines) {
    const bool was_open = is_open;
    const std::size_t begin = line.rfind(kBegin);
    const std::size_t end = line.rfind(kEnd);
    if (begin != std::string::npos || end != std::string::npos) {
      is_open = end == std::string::npos || (begin != std::string::npos && begin > end);
    }
    line.insert(0, was_open ? kBegin : "");
    line += is_open ? kEnd : "";
  }
}

std::vector<std::size_t> visual_order(std::span<const std::uint8_t> levels) {
  std::vector<std::size_t> order(levels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const int highest = levels.empty() ? 0 : *std::max_element(levels.begin(), levels.end());
  for (int level = highest; level > 0; --level) {
    const auto is_inside = [&](std::size_t item) { return levels[item] >= level; };
    for (auto begin = order.begin(); begin != order.end();) {
      begin = std::find_if(begin, order.end(), is_inside);
      const auto end = std::find_if_not(begin, order.end(), is_inside);
      std::reverse(begin, end);
      begin = end;
    }
  }
  return order;
}

std::string_view script_of(char32_t code_point) noexcept {
  const uc_script_t* script = uc_script(code_point);
  const std::string_view name = script == nullptr ? "Common" : script->name;
  return name == "Common" || name == "Inherited" ? std::string_view() : name;
}

}  // namespace attnviz
