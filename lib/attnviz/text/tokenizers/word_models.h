// Models that look whole words up: WordPiece, which cuts what it does not know, and WordLevel.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "attnviz/text/tokenizers/token_model.h"

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

}  // namespace attnviz
