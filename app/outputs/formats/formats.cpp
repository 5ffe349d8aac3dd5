#include "outputs/formats/formats.h"

#include <algorithm>
#include <array>

namespace attnviz::app {

std::span<const Format> all_formats() {
  static const std::array formats = {png_format(), svg_format(), html_format(), json_format(),
                                     npy_format(), csv_format(), text_format()};
  return formats;
}

std::vector<Choice<const Format*>> formats_of(Result result) {
  std::vector<Choice<const Format*>> formats;
  for (const Format& format : all_formats()) {
    if (format.takes(result)) {
      formats.push_back({format.word, &format});
    }
  }
  return formats;
}

const Format* find_format(std::string_view word) {
  const auto found = std::ranges::find(all_formats(), word, &Format::word);
  return found == all_formats().end() ? nullptr : &*found;
}

}  // namespace attnviz::app
