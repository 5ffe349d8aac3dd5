// Models of tokens: how a word is cut into pieces.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/tokenizers/tokenizer_parts.h"

namespace attnviz {

struct WordPieceOptions {
  std::string unknown = "[UNK]";
  std::string begin;               // of pieces that begin a word
  std::string prefix = "##";       // of pieces that do not begin a word
  std::size_t longest_word = 100;  // characters; longer ones are unknown
};

/// From the left the longest piece that fits (of up to 256 bytes), again and again; a word that
/// cannot be cut so is one unknown token. Its piece may be missing: then such a word throws
/// Error{kMalformed} `where: unk_token: …`. Source: Devlin et al. 2019; Wu et al. 2016.
std::unique_ptr<TokenModel> make_word_piece(Vocabulary vocabulary, const WordPieceOptions& options,
                                            std::string_view where);

/// A word is a piece or unknown; unknown words are left out when there is no piece for them.
std::unique_ptr<TokenModel> make_word_level(Vocabulary vocabulary, const std::string& unknown);

struct UnigramOptions {
  std::optional<TokenId> unknown;
  bool byte_fallback = false;              // unknown characters become <0x00> … <0xFF>
  std::optional<double> least_score = {};  // where it is not that of all pieces
  bool sums_floats = false;  // what two ways sum to is compared as SentencePiece rounds it
};

/// `scores` are log-probabilities by id, NaN for pieces that only stand for themselves (special
/// ones). Unknown characters, joined to one token where they are neighbours, score 10 below the
/// least. Source: Kudo 2018, section 3.2; Viterbi's algorithm.
std::unique_ptr<TokenModel> make_unigram(Vocabulary vocabulary, std::vector<double> scores,
                                         const UnigramOptions& options);

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
