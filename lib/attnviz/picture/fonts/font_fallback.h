// Fonts for what the embedded one lacks: given ones first, then whatever is found by character.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/picture/fonts/font_face.h"
#include "attnviz/picture/fonts/font_file.h"

namespace attnviz {

/// Whether a character only acts on its neighbours, such as joiners and variation selectors.
bool is_invisible(char32_t code_point) noexcept;

class FontFallback {
 public:
  FontFallback(std::vector<FontFile> given, FindFont find);

  /// A font with every visible character of a cluster of which the embedded font lacks some; else
  /// one with the first character at least; else null. `last` is the answer for the cluster before:
  /// texts keep their font where they can, and so do scripts. Faces stay open as long as this
  /// lives.
  const FontFace* face_for(std::span<const char32_t> cluster, const FontFace* last);

 private:
  const FontFace* open(const FontFile& file);
  const FontFace* given(std::span<const char32_t> cluster);
  const FontFace* found(std::span<const char32_t> cluster);

  std::vector<FontFile> given_;
  FindFont find_;
  // By file name and face. A file's address would not do: what is no longer mapped leaves its own
  // to the next file.
  std::map<std::pair<std::string, unsigned>, std::unique_ptr<FontFace>> open_;
  std::map<char32_t, const FontFace*> found_;
  std::map<std::string_view, const FontFace*> by_script_;
};

}  // namespace attnviz
