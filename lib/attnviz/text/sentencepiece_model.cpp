#include "attnviz/text/sentencepiece_model.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/text/bpe.h"
#include "attnviz/text/charsmap.h"
#include "attnviz/text/prefix_index.h"
#include "attnviz/text/protobuf_reader.h"
#include "attnviz/text/unicode_classes.h"
#include "attnviz/text/unigram.h"

namespace attnviz {

namespace {

constexpr std::string_view kSpace = "▁";

enum class PieceType : std::uint64_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

struct Piece {
  std::string_view text;
  float score = 0.0f;
  PieceType type = PieceType::kNormal;
};

struct Settings {
  std::vector<Piece> pieces;
  std::uint64_t model_type = 1;
  std::uint64_t bos_id = 1;
  std::uint64_t eos_id = 2;
  std::uint64_t pad_id = UINT64_MAX;
  bool byte_fallback = false;
  std::string_view charsmap;
  bool adds_space = true;      // in front of a text
  bool removes_spaces = true;  // more than one, and at the ends
  bool escapes_spaces = true;
};

Piece read_piece(std::string_view bytes, std::string_view name) {
  Piece piece;
  ProtobufField field;
  for (ProtobufReader reader(bytes, name); reader.next(field);) {
    if (field.number == 1 && field.is_bytes) {
      piece.text = field.bytes;
    } else if (field.number == 2) {
      piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
    } else if (field.number == 3) {
      piece.type = static_cast<PieceType>(field.value);
    }
  }
  if (piece.text.empty() || !is_utf8(piece.text)) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: expected a piece in UTF-8, found {}", name, quoted(piece.text)));
  }
  if (piece.text.size() > PrefixIndex::kLongestPiece) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: {}: expected at most {} bytes, found {}", name, quoted(piece.text),
                            PrefixIndex::kLongestPiece, piece.text.size()));
  }
  if (!std::isfinite(piece.score)) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: {}: expected a finite score, found {}",
                                                   name, quoted(piece.text), piece.score));
  }
  return piece;
}

void read_trainer(std::string_view bytes, std::string_view name, Settings& settings) {
  ProtobufField field;
  for (ProtobufReader reader(bytes, name); reader.next(field);) {
    switch (field.number) {
      case 3:
        settings.model_type = field.value;
        break;
      case 35:
        settings.byte_fallback = field.value != 0;
        break;
      case 41:
        settings.bos_id = field.value;
        break;
      case 42:
        settings.eos_id = field.value;
        break;
      case 43:
        settings.pad_id = field.value;
        break;
      default:
        break;
    }
  }
}

void read_normalizer_settings(std::string_view bytes, std::string_view name, Settings& settings) {
  ProtobufField field;
  for (ProtobufReader reader(bytes, name); reader.next(field);) {
    if (field.number == 2) {
      settings.charsmap = field.bytes;
    } else if (field.number == 3) {
      settings.adds_space = field.value != 0;
    } else if (field.number == 4) {
      settings.removes_spaces = field.value != 0;
    } else if (field.number == 5) {
      settings.escapes_spaces = field.value != 0;
    }
  }
}

Settings read_settings(std::string_view bytes, std::string_view name) {
  Settings settings;
  ProtobufField field;
  for (ProtobufReader reader(bytes, name); reader.next(field);) {
    if (field.number == 1 && field.is_bytes) {
      if (settings.pieces.size() == Vocabulary::kMostIds) {
        throw Error(ErrorKind::kMalformed, fmt::format("{}: expected at most {} pieces, found more",
                                                       name, Vocabulary::kMostIds));
      }
      settings.pieces.push_back(read_piece(field.bytes, name));
    } else if (field.number == 2 && field.is_bytes) {
      read_trainer(field.bytes, name, settings);
    } else if (field.number == 3 && field.is_bytes) {
      read_normalizer_settings(field.bytes, name, settings);
    }
  }
  if (settings.pieces.empty()) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: expected SentencePiece's pieces, found none", name));
  }
  return settings;
}

Vocabulary vocabulary_of(const Settings& settings, std::string_view name) {
  Vocabulary vocabulary;
  vocabulary.reserve(settings.pieces.size(), 8 * settings.pieces.size());
  for (std::size_t id = 0; id < settings.pieces.size(); ++id) {
    if (!vocabulary.add(settings.pieces[id].text, static_cast<TokenId>(id))) {
      throw Error(ErrorKind::kMalformed,
                  fmt::format("{}: expected different pieces, found {} twice", name,
                              quoted(settings.pieces[id].text)));
    }
  }
  return vocabulary;
}

std::unique_ptr<TokenModel> make_model(const Settings& settings, std::string_view name) {
  BpeOptions options;
  options.byte_fallback = settings.byte_fallback;
  options.fuse_unknown = true;
  options.kind = "SentencePiece BPE";
  UnigramOptions unigram;
  unigram.byte_fallback = settings.byte_fallback;
  std::vector<double> scores(settings.pieces.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t id = 0; id < settings.pieces.size(); ++id) {
    const Piece& piece = settings.pieces[id];
    if (piece.type == PieceType::kUnknown) {
      options.unknown = piece.text;
      unigram.unknown = static_cast<TokenId>(id);
    } else if (piece.type == PieceType::kNormal || piece.type == PieceType::kUserDefined) {
      scores[id] = piece.score;
    }
  }
  constexpr std::uint64_t kUnigram = 1;
  constexpr std::uint64_t kBpe = 2;
  if (settings.model_type == kUnigram) {
    return make_unigram(vocabulary_of(settings, name), std::move(scores), unigram);
  }
  if (settings.model_type == kBpe) {
    const std::vector<float> floats(scores.begin(), scores.end());
    return make_scored_bpe(vocabulary_of(settings, name), floats, options);
  }
  throw Error(ErrorKind::kUnsupported,
              fmt::format("{}: SentencePiece's model type {} is not supported; there are 1 "
                          "(Unigram) and 2 (BPE)",
                          name, settings.model_type));
}

Normalizer normalizer_of(const Settings& settings, std::string_view name, bool legacy) {
  std::vector<Normalizer> stages;
  if (!settings.charsmap.empty()) {
    stages.push_back(
        charsmap_normalizer(settings.charsmap, fmt::format("{}: precompiled_charsmap: ", name)));
  }
  if (settings.removes_spaces) {
    stages.push_back(strip_normalizer(true, true));
    stages.push_back(replace_normalizer(Regex(" {2,}", ""), " "));
  }
  const std::string space(settings.escapes_spaces ? kSpace : " ");
  if (settings.adds_space) {
    stages.push_back(prepend_normalizer(space, /*only_at_beginning=*/!legacy));
  }
  stages.push_back(replace_normalizer(" ", space));
  return sequence_normalizer(std::move(stages));
}

}  // namespace

TokenizerParts read_sentencepiece_model(std::string_view bytes, std::string_view name,
                                        bool legacy) {
  const Settings settings = read_settings(bytes, name);
  TokenizerParts parts;
  parts.model = make_model(settings, name);
  parts.normalizer = normalizer_of(settings, name, legacy);
  parts.decoder = Decoder({{DecoderStep::Kind::kReplace, std::string(kSpace), " "},
                           {DecoderStep::Kind::kByteFallback, "", ""},
                           {DecoderStep::Kind::kFuse, "", ""},
                           {DecoderStep::Kind::kStrip, " ", "", settings.adds_space ? 1u : 0u}});
  for (std::size_t id = 0; id < settings.pieces.size(); ++id) {
    const Piece& piece = settings.pieces[id];
    if (piece.type == PieceType::kControl || piece.type == PieceType::kUnknown ||
        piece.type == PieceType::kUserDefined) {
      AddedToken token;
      token.id = static_cast<TokenId>(id);
      token.content = piece.text;
      token.special = piece.type != PieceType::kUserDefined;
      parts.added.push_back(std::move(token));
    }
  }
  const auto id_below = [&](std::uint64_t id) {
    return id < settings.pieces.size() ? std::optional(static_cast<TokenId>(id)) : std::nullopt;
  };
  parts.special.bos = id_below(settings.bos_id);
  parts.special.eos = id_below(settings.eos_id);
  parts.special.pad = id_below(settings.pad_id);
  return parts;
}

}  // namespace attnviz
