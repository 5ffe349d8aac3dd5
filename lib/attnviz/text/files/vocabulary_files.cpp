#include "attnviz/text/files/tokenizer_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/file_kind.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/json_reader.h"
#include "attnviz/text/files/stages_json.h"
#include "attnviz/text/tokenizers/byte_level.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"
#include "attnviz/text/tokenizers/vocabulary.h"

namespace attnviz {

namespace {

// Calls `use(line, number)` for each line, numbered from 1, without its end.
template <class Use>
void each_line(const NamedBytes& file, const Use& use) {
  refuse_other_kind(file.bytes, file.name);  // a web page also consists of lines
  std::string_view left = file.bytes;
  for (std::size_t number = 1; !left.empty(); ++number) {
    const std::size_t end = left.find('\n');
    std::string_view line = left.substr(0, end);
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (!is_utf8(line)) {
      throw Error(ErrorKind::kMalformed, fmt::format("{}: line {}: expected UTF-8, found {}",
                                                     file.name, number, in_quotes(line)));
    }
    use(line, number);
  }
}

std::vector<Merge> read_merges(const NamedBytes& file) {
  std::vector<Merge> merges;
  each_line(file, [&](std::string_view line, std::size_t number) {
    if (line.empty() || (number == 1 && line.starts_with("#version"))) {
      return;
    }
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
      throw Error(
          ErrorKind::kMalformed,
          fmt::format("{}: line {}: expected two pieces with a space between them, found {}",
                      file.name, number, in_quotes(line)));
    }
    merges.push_back({line.substr(0, space), line.substr(space + 1)});
  });
  return merges;
}

void add_special(TokenizerParts& parts, std::string_view name) {
  if (const auto id = parts.model->vocabulary().find(name)) {
    AddedToken token;
    token.id = *id;
    token.content = name;
    token.special = true;
    parts.added.push_back(std::move(token));
  }
}

}  // namespace

TokenizerParts read_gpt2_files(const NamedBytes& vocabulary, const NamedBytes& merges,
                               bool add_prefix_space) {
  JsonReader reader(vocabulary.bytes, vocabulary.name);
  if (reader.peek() != '{') {
    reader.fail("an object of pieces and ids");
  }
  const PieceList pieces = scan_pieces(reader);
  reader.expect_end();
  BpeOptions options;
  options.kind = "byte-level BPE";
  TokenizerParts parts;
  parts.model = make_bpe(pieces.vocabulary(fmt::format("{}: ", vocabulary.name)),
                         read_merges(merges), options, fmt::format("{}: ", merges.name));
  use_byte_level_words(parts, *find_split_pattern("gpt-2"));
  if (add_prefix_space) {
    parts.pre_tokenizer = byte_level(/*add_prefix_space=*/true, /*use_regex=*/true);
  }
  for (const char* name : {"<|endoftext|>", "<s>", "<pad>", "</s>", "<unk>", "<mask>"}) {
    add_special(parts, name);
  }
  return parts;
}

void use_byte_level_words(TokenizerParts& parts, const SplitPattern& pattern) {
  parts.pre_tokenizer = byte_level_words(pattern);
  parts.decoder = Decoder({{DecoderStep::Kind::kByteLevel, "", ""}});
  parts.takes_any_byte = true;
}

void use_bert_words(TokenizerParts& parts, const BertNormalization& normalization) {
  parts.normalizer = bert_normalizer(normalization);
  parts.pre_tokenizer = bert_cut();
}

void use_qwen2_words(TokenizerParts& parts) {
  parts.normalizer = unicode_normalizer(UnicodeForm::kNfc);
  parts.pre_tokenizer = byte_level_words(*find_split_pattern("qwen2"));
}

TokenizerParts read_bert_vocabulary(const NamedBytes& vocabulary,
                                    const BertNormalization& normalization,
                                    std::string_view unknown) {
  Vocabulary pieces;
  each_line(vocabulary, [&](std::string_view line, std::size_t number) {
    // An empty line counts, so that the pieces after it keep their ids.
    pieces.add(line, static_cast<TokenId>(number - 1));
  });
  TokenizerParts parts;
  WordPieceOptions options;
  options.unknown = unknown;
  parts.model = make_word_piece(std::move(pieces), options, fmt::format("{}: ", vocabulary.name));
  use_bert_words(parts, normalization);
  DecoderStep join{DecoderStep::Kind::kWordPiece, "##", ""};
  join.cleanup = true;
  parts.decoder = Decoder({join});
  for (const char* name : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
    add_special(parts, name);
  }
  const auto cls = parts.model->vocabulary().find("[CLS]");
  const auto sep = parts.model->vocabulary().find("[SEP]");
  if (cls && sep) {
    parts.post = bert_post_processor(*cls, *sep);
  }
  return parts;
}

namespace {

// SentencePiece lets user-defined pieces compete with the others by a score that nearly always
// wins. By a slip that became the standard, the largest score used for it is never below FLT_MIN.
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
  // Merges produce neither special pieces nor bytes: in a text, their names are ordinary
  // characters.
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
                  fmt::format("{}: {}: expected at most {} bytes, found {}", where, in_quotes(text),
                              PrefixIndex::kLongestPiece, text.size()));
    }
    if (!vocabulary.add(text, static_cast<TokenId>(id))) {
      throw Error(
          ErrorKind::kMalformed,
          fmt::format("{}: expected different pieces, found {} twice", where, in_quotes(text)));
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
