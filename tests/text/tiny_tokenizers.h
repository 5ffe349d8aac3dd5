// Tokenizers small enough to compute by hand.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "attnviz/core/utf8.h"
#include "attnviz/text/files/tokenizer_files.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz::test {

inline ModelTokenizer tokenizer_of(std::string_view json) {
  TokenizerParts parts = read_tokenizer_json(json, "tiny.json");
  find_special_ids(parts);
  return ModelTokenizer(std::move(parts));
}

/// A field of a protocol buffer with up to 127 bytes, or with one small number.
inline std::string field(int number, std::string_view bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} +
         std::string(bytes);
}
inline std::string field(int number, char value) {
  return {static_cast<char>(number << 3), value};
}

/// "3=ab[0,2) 1=<s>[2,2)!": ids, pieces and ranges; ! marks special tokens, ' those of segment 1.
inline std::string described(const TokenizedText& text) {
  std::string out;
  for (const Token& token : text.tokens) {
    out += fmt::format("{}{}={}[{},{}){}{}", out.empty() ? "" : " ", token.id,
                       valid_utf8(token.text), token.begin, token.end, token.special ? "!" : "",
                       token.segment == 1 ? "'" : "");
  }
  return out;
}

}  // namespace attnviz::test
