#include "attnviz/picture/fonts/font_face.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/utf8.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "attnviz/picture/fonts/harfbuzz-inl.h"

namespace attnviz {

const FontSet& FontSet::embedded() {
  static const FontSet set;
  return set;
}

FontSet::FontSet() = default;

FontSet::FontSet(std::vector<FontFile> given, FindFont find)
    : fallback_(std::make_unique<FontFallback>(std::move(given), std::move(find))) {}

FontSet::~FontSet() = default;

GlyphRun FontSet::run(std::string_view text) const {
  return glyph_run(text, fallback_.get());
}

std::size_t FontSet::columns(std::string_view text) const {
  return run(text).columns;
}

// All of a short text, or enough of a long one to be wider than `columns`: text that will not be
// visible is not set, and fonts are not searched for it.
std::string_view FontSet::beginning(std::string_view text, std::size_t columns) const {
  std::size_t n_clusters = 64 + 4 * columns;
  if (text.size() <= n_clusters) {
    return text;
  }
  const std::vector<std::string_view> clusters = grapheme_clusters(text);
  for (; n_clusters < clusters.size(); n_clusters *= 2) {
    const auto bytes = static_cast<std::size_t>(clusters[n_clusters].data() - text.data());
    if (this->columns(text.substr(0, bytes)) > columns) {
      return text.substr(0, bytes);
    }
  }
  return text;
}

// Returns the end of the longest run of whole clusters that fits; 0 when the first is too wide.
std::size_t FontSet::fitting_bytes(std::string_view text, std::size_t columns) const {
  text = beginning(text, columns);
  std::vector<std::size_t> ends;
  std::size_t end = 0;
  for (const std::string_view cluster : grapheme_clusters(text)) {
    ends.push_back(end += cluster.size());
  }
  const auto too_far = std::partition_point(ends.begin(), ends.end(), [&](std::size_t bytes) {
    return this->columns(text.substr(0, bytes)) <= columns;
  });
  return too_far == ends.begin() ? 0 : *std::prev(too_far);
}

std::string FontSet::ended_by_ellipsis(std::string_view text, std::size_t columns) const {
  return std::string(text.substr(0, fitting_bytes(text, columns - 1))).append("…");
}

// Returns the bytes of `text` on one line, which ends before a space if possible.
std::size_t FontSet::line_bytes(std::string_view text, std::size_t columns) const {
  const std::size_t fitting = fitting_bytes(text, columns);
  if (fitting == text.size() || text[fitting] == ' ') {
    return fitting;
  }
  const std::size_t space = text.substr(0, fitting).rfind(' ');
  if (space != std::string_view::npos && space > 0) {
    return space;
  }
  return fitting > 0 ? fitting : grapheme_clusters(text).front().size();
}

std::string FontSet::shorten(std::string_view text, std::size_t columns) const {
  text = beginning(text, columns);
  return this->columns(text) <= columns ? std::string(text) : ended_by_ellipsis(text, columns);
}

std::vector<std::string> FontSet::wrap(std::string_view text, std::size_t columns,
                                       std::size_t max_lines) const {
  std::vector<std::string> lines;
  text = text.substr(0, text.find_last_not_of(" \n") + 1);
  while (!text.empty()) {
    const std::size_t feed = std::min(text.find('\n'), text.size());
    const std::string_view paragraph = text.substr(0, feed);
    const std::size_t bytes = paragraph.empty() ? 0 : line_bytes(paragraph, columns);
    std::string_view rest = text.substr(bytes);
    if (lines.size() + 1 == max_lines && !rest.empty()) {
      lines.push_back(ended_by_ellipsis(paragraph, columns));
      break;
    }
    const std::string_view line = text.substr(0, bytes);
    lines.emplace_back(line.substr(0, line.find_last_not_of(' ') + 1));
    while (!rest.empty() && rest.front() == ' ') {
      rest.remove_prefix(1);
    }
    if (!rest.empty() && rest.front() == '\n') {
      rest.remove_prefix(1);
    }
    text = rest;
  }
  return lines;
}

bool can_draw_other_fonts() noexcept {
  try {
    return harfbuzz() != nullptr;
  } catch (const Error&) {
    return true;  // it is present; errors in it are reported when it is used
  }
}

namespace {

bool covers(const FontFace* face, std::span<const char32_t> cluster) {
  return face != nullptr && std::all_of(cluster.begin(), cluster.end(), [face](char32_t c) {
           return is_invisible(c) || face->has(c);
         });
}

}  // namespace

bool is_invisible(char32_t code_point) noexcept {
  const bool selects = (code_point >= 0xFE00 && code_point <= 0xFE0F) ||
                       (code_point >= 0xE0100 && code_point <= 0xE01EF);
  return selects ||
         utf8proc_category(static_cast<utf8proc_int32_t>(code_point)) == UTF8PROC_CATEGORY_CF;
}

FontFallback::FontFallback(std::vector<FontFile> given, FindFont find)
    : given_(std::move(given)), find_(std::move(find)) {}

const FontFace* FontFallback::open(const FontFile& file) {
  const auto [place, is_new] = open_.try_emplace({file.name, file.face});
  if (is_new) {
    place->second = FontFace::open(file);
  }
  return place->second.get();
}

const FontFace* FontFallback::given(std::span<const char32_t> cluster) {
  for (const FontFile& file : given_) {
    if (const FontFace* face = open(file); covers(face, cluster)) {
      return face;
    }
  }
  return nullptr;
}

// Finding is slow: each character is looked up once, and not at all when the font of its script has
// the cluster.
const FontFace* FontFallback::found(std::span<const char32_t> cluster) {
  const auto lacking = std::find_if(cluster.begin(), cluster.end(), [](char32_t c) {
    return !is_invisible(c) && !embedded_has(c);
  });
  if (lacking == cluster.end() || !find_) {
    return nullptr;
  }
  const std::string_view script = script_of(*lacking);
  const FontFace*& of_script = by_script_[script];
  if (!script.empty() && covers(of_script, cluster)) {
    return of_script;
  }
  const auto [place, is_new] = found_.try_emplace(*lacking, nullptr);
  if (is_new) {
    const auto file = find_(*lacking);
    place->second = file ? open(*file) : nullptr;
  }
  of_script = of_script == nullptr ? place->second : of_script;
  return place->second;
}

const FontFace* FontFallback::face_for(std::span<const char32_t> cluster, const FontFace* last) {
  if (const FontFace* face = given(cluster)) {
    return face;
  }
  if (covers(last, cluster)) {
    return last;
  }
  if (const FontFace* face = found(cluster); covers(face, cluster)) {
    return face;
  }
  // A letter without its accent is better than a box.
  const std::span<const char32_t> letter = cluster.first(1);
  if (embedded_has(letter.front())) {
    return nullptr;
  }
  if (const FontFace* face = given(letter)) {
    return face;
  }
  const FontFace* face = found(letter);
  return covers(face, letter) ? face : nullptr;
}

}  // namespace attnviz
