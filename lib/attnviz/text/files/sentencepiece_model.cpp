#include "attnviz/text/files/sentencepiece_model.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/text/files/protobuf_reader.h"
#include "attnviz/text/files/sentence_pieces.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

// The file's numbers of model types.
constexpr std::uint64_t kUnigram = 1;
constexpr std::uint64_t kBpe = 2;

// The settings as the file tells them, with its defaults.
struct Trainer {
  std::uint64_t model_type = kUnigram;
  std::uint64_t bos_id = 1;
  std::uint64_t eos_id = 2;
  std::uint64_t pad_id = UINT64_MAX;
};

SentencePiece read_piece(std::string_view bytes, std::string_view name) {
  SentencePiece piece;
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
  if (!std::isfinite(piece.score)) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: {}: expected a finite score, found {}",
                                                   name, quoted(piece.text), piece.score));
  }
  return piece;
}

void read_trainer(std::string_view bytes, std::string_view name, Trainer& trainer,
                  SentencePieces& settings) {
  ProtobufField field;
  for (ProtobufReader reader(bytes, name); reader.next(field);) {
    switch (field.number) {
      case 3:
        trainer.model_type = field.value;
        break;
      case 35:
        settings.byte_fallback = field.value != 0;
        break;
      case 41:
        trainer.bos_id = field.value;
        break;
      case 42:
        trainer.eos_id = field.value;
        break;
      case 43:
        trainer.pad_id = field.value;
        break;
      default:
        break;
    }
  }
}

void read_normalizer_settings(std::string_view bytes, std::string_view name,
                              SentencePieces& settings) {
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

SentencePieces read_settings(std::string_view bytes, std::string_view name) {
  SentencePieces settings;
  Trainer trainer;
  ProtobufField field;
  for (ProtobufReader reader(bytes, name); reader.next(field);) {
    if (field.number == 1 && field.is_bytes) {
      if (settings.pieces.size() == Vocabulary::kMostIds) {
        throw Error(ErrorKind::kMalformed, fmt::format("{}: expected at most {} pieces, found more",
                                                       name, Vocabulary::kMostIds));
      }
      settings.pieces.push_back(read_piece(field.bytes, name));
    } else if (field.number == 2 && field.is_bytes) {
      read_trainer(field.bytes, name, trainer, settings);
    } else if (field.number == 3 && field.is_bytes) {
      read_normalizer_settings(field.bytes, name, settings);
    }
  }
  if (settings.pieces.empty()) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: expected SentencePiece's pieces, found none", name));
  }
  if (trainer.model_type != kUnigram && trainer.model_type != kBpe) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: SentencePiece's model type {} is not supported; there are 1 "
                            "(Unigram) and 2 (BPE)",
                            name, trainer.model_type));
  }
  settings.is_unigram = trainer.model_type == kUnigram;
  const auto id_below = [&](std::uint64_t id) {
    return id < settings.pieces.size() ? std::optional(static_cast<TokenId>(id)) : std::nullopt;
  };
  settings.bos = id_below(trainer.bos_id);
  settings.eos = id_below(trainer.eos_id);
  settings.pad = id_below(trainer.pad_id);
  return settings;
}

}  // namespace

TokenizerParts read_sentencepiece_model(std::string_view bytes, std::string_view name,
                                        bool legacy) {
  SentencePieces settings = read_settings(bytes, name);
  settings.legacy = legacy;
  settings.charsmap_where = fmt::format("{}: precompiled_charsmap: ", name);
  return make_sentence_piece_tokenizer(settings, name);
}

}  // namespace attnviz
