#include "attnviz/picture/fonts/font_face.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>

#include "attnviz/core/error.h"

namespace attnviz {

namespace {

constexpr std::size_t kDirectoryHeader = 12;
constexpr std::size_t kTableRecord = 16;

[[noreturn]] void malformed(const FontFile& file, std::string_view found) {
  throw Error(ErrorKind::kMalformed,
              fmt::format("{}: expected a TrueType or OpenType font, found {}", file.name, found));
}

// Big-endian. Precondition: inside the file.
std::uint32_t u32(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (const char c : bytes.substr(at, 4)) {
    value = value << 8 | static_cast<unsigned char>(c);
  }
  return value;
}

bool has(std::string_view bytes, std::size_t offset, std::size_t length) {
  return offset <= bytes.size() && length <= bytes.size() - offset;
}

// The table directory of the face.
std::size_t directory(const FontFile& file) {
  if (!file.bytes.starts_with("ttcf")) {
    return 0;
  }
  const std::size_t entry = kDirectoryHeader + 4 * static_cast<std::size_t>(file.face);
  if (!has(file.bytes, entry, 4)) {
    malformed(file, "a font collection that is cut off");
  }
  return u32(file.bytes, entry);
}

}  // namespace

void check_font_file(const FontFile& file) {
  const std::string_view bytes = file.bytes;
  if (bytes.starts_with("wOFF") || bytes.starts_with("wOF2")) {
    malformed(file, "a packed web font; unpack it to .ttf or .otf");
  }
  const std::size_t start = directory(file);
  if (!has(bytes, start, kDirectoryHeader)) {
    malformed(file, fmt::format("{} bytes of something else", bytes.size()));
  }
  const std::string_view version = bytes.substr(start, 4);
  if (version != std::string_view("\0\1\0\0", 4) && version != "OTTO" && version != "true") {
    malformed(file, "something else");
  }
  const std::size_t n_tables = u32(bytes, start + 4) >> 16;
  bool maps_characters = false;
  for (std::size_t i = 0; i < n_tables; ++i) {
    const std::size_t record = start + kDirectoryHeader + i * kTableRecord;
    if (!has(bytes, record, kTableRecord) ||
        !has(bytes, u32(bytes, record + 8), u32(bytes, record + 12))) {
      malformed(file, "one that is cut off");
    }
    maps_characters = maps_characters || bytes.substr(record, 4) == "cmap";
  }
  if (!maps_characters) {
    malformed(file, "one that maps no characters");
  }
}

}  // namespace attnviz
