#include "outputs/formats/formats.h"

#include <algorithm>
#include <array>

#include "outputs/formats/writers.h"

namespace attnviz::app {

namespace {

constexpr double kNumberAsText = 14.0;

constexpr std::array kFormats = {
    Format{.word = "png",
           .media_type = "image/png",
           .content = Content::kFigure,
           .is_text = false,
           .attention = write_attention_png,
           .inspection = write_inspection_png,
           .cells = png_cells},
    Format{.word = "json",
           .media_type = "application/json",
           .content = Content::kDocument,
           .is_text = true,
           .attention = write_attention_json,
           .inspection = write_inspection_json,
           .begin_rows = begin_json_rows,
           .row_bytes = 2.0 * kNumberAsText},  // made ready, and on the way
    Format{.word = "npy",
           .media_type = "application/octet-stream",
           .content = Content::kNumbers,
           .is_text = false,
           .attention = write_attention_npy,
           .begin_rows = begin_npy_rows,
           .check_rows = check_npy_rows,
           .row_bytes = sizeof(float)},
    Format{.word = "txt",
           .media_type = "text/plain",
           .content = Content::kScreen,
           .is_text = true,
           .attention = write_attention_text,
           .inspection = write_inspection_text,
           .cells = text_cells},
};

}  // namespace

std::span<const Format> all_formats() noexcept {
  return kFormats;
}

std::vector<Choice<const Format*>> formats_of(Result result) {
  std::vector<Choice<const Format*>> formats;
  for (const Format& format : kFormats) {
    if (format.takes(result)) {
      formats.push_back({format.word, &format});
    }
  }
  return formats;
}

const Format* find_format(std::string_view word) noexcept {
  const auto* const found =
      std::ranges::find_if(kFormats, [word](const Format& format) { return format.word == word; });
  return found == kFormats.end() ? nullptr : found;
}

}  // namespace attnviz::app
