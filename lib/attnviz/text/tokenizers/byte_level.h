// Bytes written as printable characters, the alphabet of GPT-2's vocabulary. SentencePiece's
// normalisation table: a double-array trie of strings and their replacements.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/tokenizers/pre_tokenizers.h"

namespace attnviz {

/// The character that stands for a byte: the same one if it is printable in Latin-1, otherwise one
/// from U+0100 on (a space is Ġ). UTF-8 of 1 or 2 bytes.
/// Source: bytes_to_unicode, Radford et al. 2019.
std::string_view byte_level_character(unsigned char byte) noexcept;

/// The bytes that `piece` stands for, or `piece` itself if it contains another character.
std::string byte_level_decoded(std::string_view piece);

/// Strings in a text that the table does not change.
struct KeptStrings {
  std::vector<std::string> strings;  // the longest match counts
  /// Replaces a string's spaces, so that they do not count as extra ones; not its last character,
  /// nor the first spaces after another space. Empty: spaces stay.
  std::string inner_space;
};

/// The normalizer that replaces strings from left to right, each time the longest in the table (up
/// to 64 bytes).
/// `bytes` as SentencePiece writes them: the trie's size in bytes (32 bits), its units (32 bits
/// each, in darts-clone's layout), then the replacements, each ended by a NUL byte.
/// Throws Error{kMalformed}; `where` is a prefix of the message. A trie that leads outside itself
/// does not match there. Without bytes only the spaces of kept strings are replaced.
Normalizer charsmap_normalizer(std::string_view bytes, std::string_view where,
                               KeptStrings kept = {});

}  // namespace attnviz
