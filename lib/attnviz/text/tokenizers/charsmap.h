// SentencePiece's normalisation table: a double-array trie of what to replace, and by what.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/tokenizers/normalizers.h"

namespace attnviz {

/// The normalizer that replaces, from left to right, the longest string that the table has, of up
/// to 64 bytes.
/// `bytes` as SentencePiece writes them: the trie's size in bytes (32 bits), its units (32 bits
/// each, of darts-clone's layout), then the replacements, each ended by a NUL byte.
/// Throws Error{kMalformed}; `where` stands in front of the message. A trie that leads outside
/// itself matches nothing there. Strings of `as_they_are` are not replaced, nor is what is in them.
Normalizer charsmap_normalizer(std::string_view bytes, std::string_view where,
                               std::vector<std::string> as_they_are = {});

/// The bytes that `text` encodes by RFC 4648, section 4. Throws Error{kMalformed} as above.
std::string decoded_base64(std::string_view text, std::string_view where);

}  // namespace attnviz
