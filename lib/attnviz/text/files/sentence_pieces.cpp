#include "attnviz/text/files/sentence_pieces.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/text/tokenizers/byte_level.h"
#include "attnviz/text/tokenizers/prefix_index.h"
#include "attnviz/text/tokenizers/word_models.h"

namespace attnviz {

namespace {

// SentencePiece lets user-defined pieces compete with the others, by a score that nearly always
// wins: the largest one is, by a slip that became the standard, never below FLT_MIN.
void score_user_defined(std::span<const SentencePiece> pieces, std::vector<double>& scores,
                        UnigramOptions& options) {
  float least = std::numeric_limits<float>::max();
  float most = std::numeric_limits<float>::min();
  for (const SentencePiece& piece : pieces) {
    if (piece.type == PieceType::kNormal) {
      least = std::min(least, piece.score);
      most = std::max(most, piece.score);
    }
  }
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    if (pieces[id].type == PieceType::kUserDefined) {
      scores[id] = static_cast<float>(pieces[id].text.size()) * most - 0.1;
    }
  }
  options.least_score = least;
  options.sums_floats = true;
}

std::unique_ptr<TokenModel> make_model(const SentencePieces& settings, std::string_view where) {
  // Merges make neither special pieces nor bytes: in a text, their names are plain characters.
  std::vector<double> scores(settings.pieces.size(), std::numeric_limits<double>::quiet_NaN());
  std::optional<TokenId> unknown = settings.unknown;
  for (std::size_t id = 0; id < settings.pieces.size(); ++id) {
    const SentencePiece& piece = settings.pieces[id];
    if (piece.type == PieceType::kUnknown && !settings.unknown) {
      unknown = static_cast<TokenId>(id);
    } else if (piece.type == PieceType::kNormal || piece.type == PieceType::kUserDefined) {
      scores[id] = piece.score;
    }
  }
  if (settings.is_unigram) {
    UnigramOptions options{unknown, settings.byte_fallback};
    if (!settings.user_defined_in_source) {
      score_user_defined(settings.pieces, scores, options);
    }
    return make_unigram(vocabulary_of(settings.pieces, where), std::move(scores), options);
  }
  BpeOptions options;
  options.byte_fallback = settings.byte_fallback;
  options.fuse_unknown = true;
  options.kind = "SentencePiece BPE";
  if (unknown) {
    options.unknown = settings.pieces[*unknown].text;
  }
  const std::vector<float> floats(scores.begin(), scores.end());
  return make_scored_bpe(vocabulary_of(settings.pieces, where), floats, options);
}

Normalizer normalizer_of(const SentencePieces& settings) {
  KeptStrings kept;
  for (const SentencePiece& piece : settings.pieces) {
    if (piece.type == PieceType::kUserDefined && !settings.user_defined_in_source) {
      kept.strings.emplace_back(piece.text);
    }
  }
  if (settings.removes_spaces && settings.escapes_spaces) {
    kept.inner_space = kSentencePieceSpace;
  }
  SpaceNormalization spaces;
  spaces.space = settings.escapes_spaces ? kSentencePieceSpace : " ";
  spaces.removes_extra = settings.removes_spaces;
  spaces.adds_suffix = settings.adds_space && settings.space_is_suffix;
  spaces.adds_prefix = settings.adds_space && !settings.space_is_suffix;
  spaces.only_at_beginning = !settings.legacy;
  return sequence_normalizer(
      {charsmap_normalizer(settings.charsmap, settings.charsmap_where, std::move(kept)),
       space_normalizer(std::move(spaces))});
}

}  // namespace

Vocabulary vocabulary_of(std::span<const SentencePiece> pieces, std::string_view where) {
  Vocabulary vocabulary;
  vocabulary.reserve(pieces.size(), 8 * pieces.size());
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const std::string_view text = pieces[id].text;
    if (text.size() > PrefixIndex::kLongestPiece) {
      throw Error(ErrorKind::kMalformed,
                  fmt::format("{}: {}: expected at most {} bytes, found {}", where, quoted(text),
                              PrefixIndex::kLongestPiece, text.size()));
    }
    if (!vocabulary.add(text, static_cast<TokenId>(id))) {
      throw Error(
          ErrorKind::kMalformed,
          fmt::format("{}: expected different pieces, found {} twice", where, quoted(text)));
    }
  }
  return vocabulary;
}

void add_special_pieces(std::span<const SentencePiece> pieces, TokenizerParts& parts) {
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const PieceType type = pieces[id].type;
    if (type == PieceType::kControl || type == PieceType::kUnknown ||
        type == PieceType::kUserDefined) {
      AddedToken token;
      token.id = static_cast<TokenId>(id);
      token.content = pieces[id].text;
      token.special = type != PieceType::kUserDefined;
      parts.added.push_back(std::move(token));
    }
  }
}

TokenizerParts make_sentence_piece_tokenizer(const SentencePieces& settings,
                                             std::string_view where) {
  TokenizerParts parts;
  parts.where = fmt::format("{}: ", where);
  parts.model = make_model(settings, where);
  parts.normalizer = normalizer_of(settings);
  parts.decoder = Decoder({{DecoderStep::Kind::kReplace, std::string(kSentencePieceSpace), " "},
                           {DecoderStep::Kind::kByteFallback, "", ""},
                           {DecoderStep::Kind::kFuse, "", ""},
                           {DecoderStep::Kind::kStrip, " ", "",
                            settings.adds_space && !settings.space_is_suffix ? 1u : 0u,
                            settings.adds_space && settings.space_is_suffix ? 1u : 0u}});
  add_special_pieces(settings.pieces, parts);
  if (settings.is_unigram && !settings.user_defined_in_source) {
    std::erase_if(parts.added, [](const AddedToken& token) { return !token.special; });
  }
  for (AddedToken& token : parts.added) {
    if (!token.special && !settings.user_defined_in_source) {
      token.normalized = true;
      token.as_normalized = token.content;
    }
  }
  parts.special.bos = settings.bos;
  parts.special.eos = settings.eos;
  parts.special.pad = settings.pad;
  return parts;
}

}  // namespace attnviz
