// The unigram language model: the most probable way to cut a word into pieces.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "attnviz/text/tokenizers/token_model.h"

namespace attnviz {

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

}  // namespace attnviz
