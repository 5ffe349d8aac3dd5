// Bytes written as printable characters, the alphabet of GPT-2's vocabulary.
#pragma once

#include <string>
#include <string_view>

namespace attnviz {

/// The character that stands for a byte: itself when it is printable in Latin-1, otherwise one
/// from U+0100 on (a space is Ġ). UTF-8 of 1 or 2 bytes.
/// Source: bytes_to_unicode, Radford et al. 2019.
std::string_view byte_level_character(unsigned char byte) noexcept;

/// The bytes that `piece` stands for, or `piece` itself when it holds another character.
std::string byte_level_decoded(std::string_view piece);

}  // namespace attnviz
