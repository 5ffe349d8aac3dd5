#include "attnviz/picture/fonts/font_fallback.h"

#include <utf8proc.h>

#include <algorithm>

#include "attnviz/picture/fonts/glyph_outline.h"
#include "attnviz/picture/fonts/text_order.h"

namespace attnviz {

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

// Finding takes long: a character is asked for once, and not at all when the font of its script has
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
