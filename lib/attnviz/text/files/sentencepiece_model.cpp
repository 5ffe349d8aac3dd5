#include "attnviz/text/files/tokenizer_files.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/file_kind.h"
#include "attnviz/core/message.h"
#include "attnviz/core/stored_matrix.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/json_reader.h"
#include "attnviz/text/files/stages_json.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"

namespace attnviz {

namespace {

struct ProtobufField {
  std::uint64_t number = 0;
  std::uint64_t value = 0;  // of a number; the bits of a float
  std::string_view bytes;   // of a string or a message
  bool is_bytes = false;
};

// Reads the fields of a protocol buffer one by one, within bounds.
class ProtobufReader {
 public:
  // The bytes must outlive the reader. `name` is a prefix of every message.
  ProtobufReader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  // Reads the next field into `field`; returns false at the end. Throws Error{kMalformed} for a
  // broken encoding.
  bool next(ProtobufField& field);

 private:
  std::uint64_t varint();
  std::uint64_t fixed(std::size_t n_bytes);
  [[noreturn]] void fail(std::string_view problem) const;

  std::string_view bytes_;
  std::string_view name_;
  std::size_t at_ = 0;
};

void ProtobufReader::fail(std::string_view problem) const {
  refuse_other_kind(bytes_, name_, FileKind::kSentencePiece);
  throw Error(ErrorKind::kMalformed, fmt::format("{}: byte {} of a message of {}: {}", name_, at_,
                                                 bytes_.size(), problem));
}

std::uint64_t ProtobufReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ == bytes_.size()) {
      fail("expected the rest of a number, found the end");
    }
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      return value;
    }
  }
  fail("expected a number of up to 64 bits, found a longer one");
}

std::uint64_t ProtobufReader::fixed(std::size_t n_bytes) {
  if (bytes_.size() - at_ < n_bytes) {
    fail(fmt::format("expected {} bytes, found the end", n_bytes));
  }
  const char* const at = bytes_.data() + std::exchange(at_, at_ + n_bytes);
  return n_bytes == 4 ? load_number<std::uint32_t>(at) : load_number<std::uint64_t>(at);
}

bool ProtobufReader::next(ProtobufField& field) {
  if (at_ == bytes_.size()) {
    return false;
  }
  const std::uint64_t tag = varint();
  field = {tag >> 3, 0, {}, false};
  if (field.number == 0) {
    fail("expected a field from 1 on, found field 0");
  }
  switch (tag & 7) {
    case 0:
      field.value = varint();
      break;
    case 1:
      field.value = fixed(8);
      break;
    case 2: {
      const std::uint64_t size = varint();
      if (size > bytes_.size() - at_) {
        fail(fmt::format("expected {} bytes of field {}, found {}", size, field.number,
                         bytes_.size() - at_));
      }
      field.bytes = bytes_.substr(at_, size);
      field.is_bytes = true;
      at_ += size;
      break;
    }
    case 5:
      field.value = fixed(4);
      break;
    default:
      fail(fmt::format("expected an encoding of 0, 1, 2 or 5, found {}", tag & 7));
  }
  return true;
}

// The file's numbers of model types.
constexpr std::uint64_t kUnigram = 1;
constexpr std::uint64_t kBpe = 2;

// The settings in the file, with its defaults.
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
    throw Error(ErrorKind::kMalformed, fmt::format("{}: expected a piece in UTF-8, found {}", name,
                                                   in_quotes(piece.text)));
  }
  if (!std::isfinite(piece.score)) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: {}: expected a finite score, found {}",
                                                   name, in_quotes(piece.text), piece.score));
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
      case 24:
        settings.space_is_suffix = field.value != 0;
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

TokenizerParts read_sentencepiece_model(std::string_view bytes, std::string_view name, bool legacy,
                                        bool may_add_space) {
  SentencePieces settings = read_settings(bytes, name);
  settings.legacy = legacy;
  settings.adds_space = settings.adds_space && may_add_space;
  settings.user_defined_in_source = false;
  settings.charsmap_where = fmt::format("{}: precompiled_charsmap: ", name);
  return make_sentence_piece_tokenizer(settings, name);
}

TokenizerParts read_t5_model(std::string_view bytes, std::string_view name, std::size_t n_extra) {
  TokenizerParts parts = read_sentencepiece_model(bytes, name, /*legacy=*/true);
  const std::size_t n_pieces = parts.model->vocabulary().size();
  constexpr std::size_t kMostExtra = std::size_t{1} << 16;
  if (n_extra > kMostExtra) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: expected at most {} extra_ids, found {}",
                                                   name, kMostExtra, n_extra));
  }
  for (std::size_t i = 0; i < n_extra; ++i) {
    AddedToken token;
    token.id = static_cast<TokenId>(n_pieces + n_extra - 1 - i);
    token.content = fmt::format("<extra_id_{}>", i);
    token.special = true;
    parts.added.push_back(std::move(token));
  }
  if (parts.special.eos) {
    parts.post = surrounding({}, {*parts.special.eos});
  }
  return parts;
}

TokenizerParts read_marian_model(const NamedBytes& model, const NamedBytes& vocabulary) {
  SentencePieces settings = read_settings(model.bytes, model.name);
  JsonReader reader(vocabulary.bytes, vocabulary.name);
  if (reader.peek() != '{') {
    reader.fail("an object of pieces and ids");
  }
  const std::string where = fmt::format("{}: ", vocabulary.name);
  const PieceList list = scan_pieces(reader);
  const Vocabulary ids = list.vocabulary(where);
  const Vocabulary known = vocabulary_of(settings.pieces, model.name);
  const std::vector<SentencePiece> pieces = std::exchange(settings.pieces, {});
  for (std::size_t id = 0; id < ids.size(); ++id) {
    const std::string_view text = ids.piece(static_cast<TokenId>(id));
    if (text.empty()) {
      throw Error(ErrorKind::kMalformed,
                  fmt::format("{}expected a piece for each id, found none for {}", where, id));
    }
    const std::optional<TokenId> found = known.find(text);
    SentencePiece piece{text, 0.0f, PieceType::kUnused};
    if (text == "<unk>") {
      piece.type = PieceType::kUnknown;
    } else if (text == "</s>" || text == "<pad>" || text == "<s>") {
      piece.type = PieceType::kControl;
    } else if (text.starts_with(">>") && text.ends_with("<<")) {
      piece.type = PieceType::kUserDefined;
    } else if (found) {
      piece = pieces[*found];
    }
    settings.pieces.push_back(piece);
  }
  settings.bos = std::nullopt;
  settings.eos = ids.find("</s>");
  settings.pad = ids.find("<pad>");
  settings.charsmap_where = fmt::format("{}: precompiled_charsmap: ", model.name);
  TokenizerParts parts = make_sentence_piece_tokenizer(settings, model.name);
  if (settings.eos) {
    parts.post = surrounding({}, {*settings.eos});
  }
  return parts;
}

}  // namespace attnviz
