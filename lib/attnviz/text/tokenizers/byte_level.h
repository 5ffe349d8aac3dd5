// Bytes written as printable characters, the alphabet of GPT-2's vocabulary. SentencePiece's
// normalisation table: a double-array trie of what to replace, and by what.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/tokenizers/pre_tokenizers.h"

namespace attnviz {

/// The character that stands for a byte: itself when it is printable in Latin-1, otherwise one
/// from U+0100 on (a space is Ġ). UTF-8 of 1 or 2 bytes.
/// Source: bytes_to_unicode, Radford et al. 2019.
std::string_view byte_level_character(unsigned char byte) noexcept;

/// The bytes that `piece` stands for, or `piece` itself when it holds another character.
std::string byte_level_decoded(std::string_view piece);

/// Strings of a text that its table does not touch.
struct KeptStrings {
  std::vector<std::string> strings;  // of those that begin alike the longest
  /// Stands in the place of a string's spaces, so that nobody takes them for extra ones; but for
  /// its last character, and for the first ones behind a space. Empty: spaces stay.
  std::string inner_space;
};

/// The normalizer that replaces, from left to right, the longest string that the table has, of up
/// to 64 bytes.
/// `bytes` as SentencePiece writes them: the trie's size in bytes (32 bits), its units (32 bits
/// each, of darts-clone's layout), then the replacements, each ended by a NUL byte.
/// Throws Error{kMalformed}; `where` stands in front of the message. A trie that leads outside
/// itself matches nothing there. Without bytes nothing is replaced but the spaces of kept strings.
Normalizer charsmap_normalizer(std::string_view bytes, std::string_view where,
                               KeptStrings kept = {});

}  // namespace attnviz
