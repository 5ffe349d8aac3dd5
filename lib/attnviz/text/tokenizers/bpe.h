// Byte-pair encoding: the neighbours that were merged earliest in training are merged first.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attnviz/text/tokenizers/token_model.h"

namespace attnviz {

struct BpeOptions {
  std::optional<std::string> unknown;  // the piece's name
  std::string prefix;                  // of pieces that do not begin a word ("##")
  std::string suffix;                  // of pieces that end one ("</w>")
  bool fuse_unknown = false;           // neighbouring unknown characters are one token
  bool byte_fallback = false;          // unknown characters become <0x00> … <0xFF>
  bool ignore_merges = false;          // a word of the vocabulary is one token
  std::string_view kind = "BPE";
};

struct Merge {
  std::string_view left;
  std::string_view right;
};

/// Merges in order of rank; what they make must be in the vocabulary. Throws Error{kMalformed}
/// `where: merges[3]: …` for one that is not. The unknown piece may be missing: then a text that
/// needs it throws. Source: Sennrich et al. 2016, algorithm 1.
std::unique_ptr<TokenModel> make_bpe(Vocabulary vocabulary, std::span<const Merge> merges,
                                     const BpeOptions& options, std::string_view where);

/// The same with merges as SentencePiece has them: any two pieces that make a third, the one with
/// the highest score first. `scores` are by id; NaN for pieces that merges do not make.
std::unique_ptr<TokenModel> make_scored_bpe(Vocabulary vocabulary, std::span<const float> scores,
                                            const BpeOptions& options);

}  // namespace attnviz
