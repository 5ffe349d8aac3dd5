// A font file's bytes, and a first look at them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace attnviz {

/// One face of a font file (TrueType, OpenType or a collection of them), untrusted.
struct FontFile {
  std::string name;                   // the path: another name for every file
  std::string_view bytes;             // the whole file
  std::shared_ptr<const void> owner;  // keeps the bytes in place
  unsigned face = 0;                  // in a collection
};

/// A font that has the character, or nothing. The same character must always get the same answer.
using FindFont = std::function<std::optional<FontFile>(char32_t code_point)>;

/// Throws Error{kMalformed} unless the file begins like a TrueType or OpenType font whose tables
/// lie inside the file. Much may still be wrong in it: what cannot be drawn becomes a box.
void check_font_file(const FontFile& file);

}  // namespace attnviz
