#include "attnviz/terminal/page/charset.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/document/words/token_names.h"

namespace attnviz {

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

}  // namespace attnviz
