#include "attnviz/core/normal_form.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

utf8proc_propval_t combining_class(utf8proc_int32_t point) {
  return utf8proc_get_property(point)->combining_class;
}

// Marks of one character in the order of their classes.
void order_marks(std::vector<utf8proc_int32_t>& points) {
  const auto is_mark = [](utf8proc_int32_t point) { return combining_class(point) != 0; };
  for (auto end = points.begin(); end != points.end();) {
    const auto begin = std::find_if(end, points.end(), is_mark);
    end = std::find_if_not(begin, points.end(), is_mark);
    std::stable_sort(begin, end, [](utf8proc_int32_t a, utf8proc_int32_t b) {
      return combining_class(a) < combining_class(b);
    });
  }
}

}  // namespace

std::string normal_form_c(std::string_view text, LetterCase letter_case) {
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE |
                                     (letter_case == LetterCase::kFolded ? UTF8PROC_CASEFOLD : 0));
  std::vector<utf8proc_int32_t> points;
  points.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = decode_utf8(text, i);
    // A character decomposes to at most 18 others.
    std::array<utf8proc_int32_t, 18> parts{};
    int boundary_class = 0;
    const utf8proc_ssize_t n_parts =
        point.valid ? utf8proc_decompose_char(static_cast<utf8proc_int32_t>(point.value),
                                              parts.data(), parts.size(), options, &boundary_class)
                    : -1;
    if (n_parts < 0 || static_cast<std::size_t>(n_parts) > parts.size()) {
      return std::string(text);
    }
    points.insert(points.end(), parts.begin(), parts.begin() + n_parts);
    i += point.length;
  }
  order_marks(points);
  const utf8proc_ssize_t n_left = utf8proc_normalize_utf32(
      points.data(), static_cast<utf8proc_ssize_t>(points.size()), options);
  std::string out;
  for (utf8proc_ssize_t i = 0; i < n_left; ++i) {
    append_utf8(out, static_cast<char32_t>(points[static_cast<std::size_t>(i)]));
  }
  return out;
}

}  // namespace attnviz
