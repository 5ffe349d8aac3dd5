#include "attnviz/text/tokenizers/byte_level.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

constexpr std::size_t kBytes = 256;
// The last character is U+0143: U+0100 + the 68 bytes that are not printable in Latin-1.
constexpr std::size_t kCharacters = 0x144;

constexpr bool is_printable(std::size_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Character {
  std::array<char, 2> bytes{};
  std::size_t size = 0;
};

constexpr Character encoded(std::size_t point) {
  if (point < 0x80) {
    return {{static_cast<char>(point), 0}, 1};
  }
  return {{static_cast<char>(0xC0 | (point >> 6)), static_cast<char>(0x80 | (point & 0x3F))}, 2};
}

struct Alphabet {
  std::array<Character, kBytes> characters{};
  std::array<std::int16_t, kCharacters> bytes{};
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  alphabet.bytes.fill(-1);
  std::size_t next = 0x100;
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    const std::size_t point = is_printable(byte) ? byte : next++;
    alphabet.characters[byte] = encoded(point);
    alphabet.bytes[point] = static_cast<std::int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

std::string_view byte_level_character(unsigned char byte) noexcept {
  const Character& character = kAlphabet.characters[byte];
  return {character.bytes.data(), character.size};
}

std::string byte_level_decoded(std::string_view piece) {
  std::string bytes;
  for (std::size_t i = 0; i < piece.size();) {
    const CodePoint point = decode_utf8(piece, i);
    const std::size_t value = point.valid ? point.value : kCharacters;
    if (value >= kCharacters || kAlphabet.bytes[value] < 0) {
      return std::string(piece);
    }
    bytes += static_cast<char>(kAlphabet.bytes[value]);
    i += point.length;
  }
  return bytes;
}

}  // namespace attnviz
