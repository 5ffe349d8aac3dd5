// SentencePiece's pieces and settings, whatever file they come from, and the tokenizer they make.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/tokenizers/tokenizer_parts.h"

namespace attnviz {

inline constexpr std::string_view kSentencePieceSpace = "▁";

enum class PieceType : std::uint64_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

struct SentencePiece {
  std::string_view text;
  float score = 0.0f;
  PieceType type = PieceType::kNormal;
};

/// Views into the file.
struct SentencePieces {
  std::vector<SentencePiece> pieces;  // by id; different ones, scores that are finite
  bool is_unigram = false;            // else BPE
  bool byte_fallback = false;
  std::string_view charsmap;
  std::string charsmap_where;    // stands in front of messages about it
  bool adds_space = true;        // in front of a text
  bool legacy = true;            // … and of what follows a special token
  bool space_is_suffix = false;  // it stands behind a text instead
  bool removes_spaces = true;    // more than one, and at the ends
  bool escapes_spaces = true;
  // User-defined pieces are found in the source, before all else, as llama.cpp finds them; or in
  // the normalized text, which has them as they are, as SentencePiece does: in BPE before all else,
  // in Unigram by their scores.
  bool user_defined_in_source = true;
  std::optional<TokenId> unknown;  // else the last piece of that type
  std::optional<TokenId> bos, eos, pad;
};

/// BOS and EOS are known by id, but not added to texts. Throws what vocabulary_of throws, and
/// Error{kMalformed} for a faulty character map.
TokenizerParts make_sentence_piece_tokenizer(const SentencePieces& settings,
                                             std::string_view where);

/// Throws Error{kMalformed} `where: …` for a piece that comes twice or is too long.
Vocabulary vocabulary_of(std::span<const SentencePiece> pieces, std::string_view where);

/// Makes added tokens of pieces that are found as a whole: control pieces, unknown ones and
/// user-defined ones, the last of these not special.
void add_special_pieces(std::span<const SentencePiece> pieces, TokenizerParts& parts);

}  // namespace attnviz
