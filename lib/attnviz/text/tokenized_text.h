// A text cut into tokens, each with its id and its place in the source. Which tokens are no plain
// words of the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attnviz {

using TokenId = std::uint32_t;

struct Token {
  TokenId id = 0;
  std::string text;         // the piece, raw bytes: may be invalid UTF-8
  std::size_t begin = 0;    // byte range [begin, end) in the source; empty where a tokenizer added
  std::size_t end = 0;      // what the text does not say
  bool special = false;     // one of the vocabulary's special tokens; `text` is then its name
  std::size_t segment = 0;  // 0, or 1 in the second text of a pair
  bool added = false;       // by the tokenizer: the text does not say it
  bool generated = false;   // by the model, after the text

  bool operator==(const Token&) const = default;
};

/// What one message of a chat became: bytes [begin, end) of the source.
struct ChatTurn {
  std::size_t message = 0;  // its index; what stands in two places has two turns
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string role = {};
};

/// A text and its tokens, in the order of the source.
///
/// Example:
///     attnviz::TokenizedText text{"The cat", {}};
///     text.tokens.push_back({.id = 7, .text = "cat", .begin = 4, .end = 7});
///     if (text.pieces().front() != "cat") return 1;
struct TokenizedText {
  std::string source;
  std::vector<Token> tokens;
  std::vector<ChatTurn> turns = {};     // of a chat, in order and disjoint; what is in none is the
                                        // template's own
  std::vector<std::string> notes = {};  // what was done to it that a reader must know, a line each

  std::size_t size() const noexcept { return tokens.size(); }

  /// The tokens' ids, [size()].
  std::vector<TokenId> ids() const {
    std::vector<TokenId> all;
    all.reserve(tokens.size());
    for (const Token& token : tokens) {
      all.push_back(token.id);
    }
    return all;
  }

  /// The tokens' texts, [size()]; views into `tokens`.
  std::vector<std::string_view> pieces() const {
    std::vector<std::string_view> views;
    views.reserve(tokens.size());
    for (const Token& token : tokens) {
      views.push_back(token.text);
    }
    return views;
  }
};

/// Indices of tokens, in rising order.
struct TokenMarks {
  std::vector<std::size_t> special;    // of the vocabulary's special tokens
  std::vector<std::size_t> added;      // by the tokenizer
  std::vector<std::size_t> generated;  // by the model
  std::vector<std::size_t> second;     // of the second text of a pair

  bool operator==(const TokenMarks&) const = default;
};

TokenMarks token_marks(const TokenizedText& text);

}  // namespace attnviz
