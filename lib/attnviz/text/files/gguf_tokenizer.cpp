#include "attnviz/text/files/tokenizer_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/base64.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/text/tokenizers/byte_level.h"
#include "attnviz/text/tokenizers/pre_tokenizers.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"

namespace attnviz {

namespace {

constexpr std::string_view kModel = "tokenizer.ggml.model";
constexpr std::string_view kPre = "tokenizer.ggml.pre";
constexpr std::string_view kTokens = "tokenizer.ggml.tokens";
constexpr std::string_view kScores = "tokenizer.ggml.scores";
constexpr std::string_view kTypes = "tokenizer.ggml.token_type";
constexpr std::string_view kMerges = "tokenizer.ggml.merges";
constexpr std::string_view kCharsmap = "tokenizer.ggml.precompiled_charsmap";

std::string where(const GgufMetadata& metadata, std::string_view key) {
  return fmt::format("{}: {}", metadata.gguf().file(), key);
}

// Special tokens, as named in keys.
constexpr std::pair<std::string_view, std::optional<TokenId> SpecialIds::*> kRoles[] = {
    {"bos", &SpecialIds::bos},       {"eos", &SpecialIds::eos},       {"padding", &SpecialIds::pad},
    {"unknown", &SpecialIds::unk},   {"seperator", &SpecialIds::sep},  // as the format spells it
    {"separator", &SpecialIds::sep}, {"cls", &SpecialIds::cls},       {"mask", &SpecialIds::mask}};

std::string id_key(std::string_view role) {
  return fmt::format("tokenizer.ggml.{}_token_id", role);
}

// The pieces by id, with the file's data for each.
struct Pieces {
  std::vector<SentencePiece> list;
  std::deque<std::string> names;  // of pieces without a text; others are views into the file
};

// The id of a special token; nothing if the file does not give one, or one outside the vocabulary.
std::optional<TokenId> special_id(const GgufMetadata& metadata, const Pieces& pieces,
                                  std::string_view role) {
  const auto id = metadata.id(id_key(role));
  return id && *id < pieces.list.size() ? id : std::nullopt;
}

// The usual id, if the vocabulary has it.
std::optional<TokenId> id_below(TokenId id, const Pieces& pieces) {
  return id < pieces.list.size() ? std::optional(id) : std::nullopt;
}

// The piece for text that the vocabulary lacks, if the file names one.
std::optional<std::string> unknown_piece(const GgufMetadata& metadata, const Pieces& pieces) {
  const auto id = special_id(metadata, pieces, "unknown");
  return id ? std::optional(std::string(pieces.list[*id].text)) : std::nullopt;
}

// For files without types: recognises bytes by their names, and special pieces by their ids.
void guess_types(const GgufMetadata& metadata, Pieces& pieces) {
  for (SentencePiece& piece : pieces.list) {
    if (piece.text.size() == 6 && piece.text.starts_with("<0x") && piece.text.ends_with('>')) {
      piece.type = PieceType::kByte;
    }
  }
  for (const auto& [role, type] :
       {std::pair("bos", PieceType::kControl), std::pair("eos", PieceType::kControl),
        std::pair("unknown", PieceType::kUnknown)}) {
    if (const auto id = special_id(metadata, pieces, role)) {
      pieces.list[*id].type = type;
    }
  }
}

void read_types(const GgufMetadata& metadata, Pieces& pieces) {
  if (!metadata.has(kTypes)) {
    guess_types(metadata, pieces);
    return;
  }
  const std::vector<double> numbers = metadata.numbers(kTypes);
  if (numbers.size() < pieces.list.size()) {
    metadata.fail(kTypes, fmt::format("expected {}, as there are tokens, found {}",
                                      counted(pieces.list.size(), "type"), numbers.size()));
  }
  for (std::size_t id = 0; id < pieces.list.size(); ++id) {
    // 0 is "undefined": an ordinary piece.
    if (!(numbers[id] >= 0 && numbers[id] <= 6)) {
      metadata.fail(kTypes, fmt::format("expected types from 1 (normal) to 6 (byte), found {} of "
                                        "token {}",
                                        numbers[id], id));
    }
    SentencePiece& piece = pieces.list[id];
    piece.type = numbers[id] < 1 ? PieceType::kNormal
                                 : static_cast<PieceType>(static_cast<std::uint64_t>(numbers[id]));
  }
}

// Pieces with well-known names are matched as a whole, although some converters mark them as
// normal.
void make_named_special(std::span<const std::string_view> texts, Pieces& pieces) {
  for (const GgufNamedToken& token : gguf_named_tokens(texts)) {
    SentencePiece& piece = pieces.list[token.id];
    if (piece.type == PieceType::kNormal) {
      piece.type = PieceType::kControl;
    }
  }
}

Pieces read_pieces(const GgufMetadata& metadata) {
  std::vector<std::string_view> texts = metadata.strings(kTokens);
  texts.resize(std::min(texts.size(), metadata.dialect().most_tokens));
  if (texts.empty()) {
    metadata.fail(kTokens, "expected the vocabulary's pieces, found none");
  }
  if (texts.size() > Vocabulary::kMostIds) {
    metadata.fail(kTokens, fmt::format("expected at most {} pieces, found {}", Vocabulary::kMostIds,
                                       texts.size()));
  }
  Pieces pieces;
  pieces.list.reserve(texts.size());
  for (const std::string_view text : texts) {
    pieces.list.push_back({text});
    if (text.empty()) {
      const std::size_t id = pieces.list.size() - 1;
      pieces.list.back().text = pieces.names.emplace_back(fmt::format("[EMPTY_{}]", id));
    }
  }
  read_types(metadata, pieces);
  make_named_special(texts, pieces);
  return pieces;
}

void read_scores(const GgufMetadata& metadata, std::vector<SentencePiece>& pieces) {
  if (!metadata.has(kScores)) {
    return;
  }
  const std::vector<double> numbers = metadata.numbers(kScores);
  if (numbers.size() < pieces.size()) {
    metadata.fail(kScores, fmt::format("expected {}, as there are tokens, found {}",
                                       counted(pieces.size(), "score"), numbers.size()));
  }
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    pieces[id].score = static_cast<float>(numbers[id]);
    if (!std::isfinite(pieces[id].score)) {
      metadata.fail(kScores,
                    fmt::format("expected finite scores, found {} of token {}", numbers[id], id));
    }
  }
}

Vocabulary vocabulary_of(const GgufMetadata& metadata, const Pieces& pieces) {
  return vocabulary_of(pieces.list, where(metadata, kTokens));
}

// Ids by role: those in the file, else those already known, else by their usual names.
void set_special_ids(const GgufMetadata& metadata, const Pieces& pieces, TokenizerParts& parts) {
  for (const auto& [role, id] : kRoles) {
    if (const auto said = special_id(metadata, pieces, role)) {
      parts.special.*id = said;
    }
  }
  find_special_ids(parts);
}

// Adds BOS and EOS around a text, as the file says or by the model's default. If both are added,
// encoders take pairs of texts as RoBERTa does.
void add_surrounding(const GgufMetadata& metadata, bool adds_bos, bool adds_eos,
                     TokenizerParts& parts, bool is_encoder = false) {
  const auto tokens = [&](std::string_view role, bool by_default, std::optional<TokenId> id) {
    const std::string key = fmt::format("tokenizer.ggml.add_{}_token", role);
    const auto asked = metadata.flag(key);
    if (asked.value_or(false) && !id) {
      const auto said = metadata.id(id_key(role));
      metadata.fail(key, said ? fmt::format("true, but the vocabulary has no token {}", *said)
                              : "true, but there is no " + id_key(role));
    }
    return id && asked.value_or(by_default) ? std::vector{*id} : std::vector<TokenId>();
  };
  const std::vector<TokenId> first = tokens("bos", adds_bos, parts.special.bos);
  const std::vector<TokenId> last = tokens("eos", adds_eos, parts.special.eos);
  parts.post = is_encoder && !first.empty() && !last.empty()
                   ? roberta_post_processor(first.front(), last.front())
                   : surrounding(first, last);
}

// The settings of SentencePiece that BPE and Unigram share.
SentencePieces sentence_pieces(const GgufMetadata& metadata, const Pieces& pieces,
                               TokenId usual_unknown) {
  SentencePieces settings;
  settings.pieces = pieces.list;
  read_scores(metadata, settings.pieces);
  const bool has_unknown = std::ranges::any_of(settings.pieces, [](const SentencePiece& piece) {
    return piece.type == PieceType::kUnknown;
  });
  settings.unknown = special_id(metadata, pieces, "unknown");
  if (!settings.unknown && !has_unknown) {
    settings.unknown = id_below(usual_unknown, pieces);
  }
  if (settings.unknown && settings.pieces[*settings.unknown].type == PieceType::kNormal) {
    settings.pieces[*settings.unknown].type = PieceType::kUnknown;
  }
  return settings;
}

// Phi-3's special tokens take the spaces after them, which its files do not say.
void strip_after_special(const GgufMetadata& metadata, TokenizerParts& parts) {
  const std::string name = ascii_lower(metadata.text_or("general.name", ""));
  if (name.find("phi-3") == std::string::npos && name.find("phi3") == std::string::npos) {
    return;
  }
  for (AddedToken& token : parts.added) {
    token.rstrip =
        token.content != "<unk>" && token.content != "<s>" && token.content != "<|endoftext|>";
  }
}

TokenizerParts read_llama(const GgufMetadata& metadata, const Pieces& pieces) {
  SentencePieces settings = sentence_pieces(metadata, pieces, /*usual_unknown=*/0);
  settings.byte_fallback = true;
  settings.adds_space = metadata.flag_or("tokenizer.ggml.add_space_prefix", true);
  settings.removes_spaces = false;
  TokenizerParts parts = make_sentence_piece_tokenizer(settings, where(metadata, kTokens));
  strip_after_special(metadata, parts);
  parts.special.bos = id_below(1, pieces);
  parts.special.eos = id_below(2, pieces);
  set_special_ids(metadata, pieces, parts);
  add_surrounding(metadata, /*adds_bos=*/true, /*adds_eos=*/false, parts);
  return parts;
}

// Bytes as numbers or, as Ollama writes them, as one string for each character of their Base64.
std::string read_charsmap(const GgufMetadata& metadata) {
  std::string bytes;
  const GgufValue* const value = metadata.find(kCharsmap);
  if (value != nullptr && value->element_type() == GgufType::kString) {
    for (const std::string_view text : metadata.strings(kCharsmap)) {
      bytes += text;
    }
    return decoded_base64(bytes, where(metadata, kCharsmap) + ": ");
  }
  for (const double byte : metadata.numbers(kCharsmap)) {
    if (!(byte >= -128 && byte <= 255)) {
      metadata.fail(kCharsmap, fmt::format("expected bytes, found {}", byte));
    }
    bytes += static_cast<char>(static_cast<int>(byte));
  }
  return bytes;
}

TokenizerParts read_t5(const GgufMetadata& metadata, const Pieces& pieces) {
  SentencePieces settings = sentence_pieces(metadata, pieces, /*usual_unknown=*/2);
  settings.is_unigram = true;
  const std::string charsmap = read_charsmap(metadata);
  settings.charsmap = charsmap;
  settings.charsmap_where = where(metadata, kCharsmap) + ": ";
  settings.adds_space = metadata.flag_or("tokenizer.ggml.add_space_prefix", false);
  settings.removes_spaces = metadata.flag_or("tokenizer.ggml.remove_extra_whitespaces", false);
  TokenizerParts parts = make_sentence_piece_tokenizer(settings, where(metadata, kTokens));
  parts.special.eos = id_below(1, pieces);
  set_special_ids(metadata, pieces, parts);
  add_surrounding(metadata, /*adds_bos=*/false, /*adds_eos=*/true, parts, /*is_encoder=*/true);
  return parts;
}

std::vector<Merge> read_merges(const GgufMetadata& metadata) {
  if (!metadata.has(kMerges)) {
    metadata.fail(kMerges, "expected the merges of a \"gpt2\" tokenizer, found none");
  }
  const std::vector<std::string_view> lines = metadata.strings(kMerges);
  std::vector<Merge> merges;
  merges.reserve(lines.size());
  for (const std::string_view line : lines) {
    const std::size_t space = line.find(' ', 1);
    if (space == std::string_view::npos) {
      metadata.fail(kMerges, fmt::format("expected two pieces with a space between them, found {}",
                                         in_quotes(line)));
    }
    merges.push_back({line.substr(0, space), line.substr(space + 1)});
  }
  return merges;
}

std::unique_ptr<TokenModel> ranked_bpe(const GgufMetadata& metadata, const Pieces& pieces,
                                       const BpeOptions& options) {
  return make_bpe(vocabulary_of(metadata, pieces), read_merges(metadata), options,
                  where(metadata, "tokenizer.ggml."));
}

const SplitPattern& split_pattern(const GgufMetadata& metadata) {
  const std::string_view said = metadata.text_or(kPre, "");
  const std::string_view name = said.empty() ? "default" : said;
  const SplitPattern* pattern = find_split_pattern(name);
  if (pattern == nullptr) {
    const std::vector<std::string> known = split_pattern_names();
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: this way of cutting texts into words is not supported: {}{}; "
                            "there are {}",
                            where(metadata, kPre), in_quotes(name), did_you_mean(name, known),
                            joined(known, "and")));
  }
  return *pattern;
}

TokenizerParts read_gpt2(const GgufMetadata& metadata, const Pieces& pieces) {
  const SplitPattern& pattern = split_pattern(metadata);
  BpeOptions options;
  options.ignore_merges = pattern.ignore_merges;
  options.kind = "byte-level BPE";
  options.unknown = unknown_piece(metadata, pieces);
  TokenizerParts parts;
  parts.model = ranked_bpe(metadata, pieces, options);
  use_byte_level_words(parts, pattern);
  add_special_pieces(pieces.list, parts);
  set_special_ids(metadata, pieces, parts);
  constexpr std::string_view kEncoders[] = {"roberta-bpe", "jina-v1-en", "jina-v2-code"};
  add_surrounding(metadata, pattern.adds_bos, /*adds_eos=*/false, parts,
                  std::ranges::find(kEncoders, metadata.text_or(kPre, "")) != std::end(kEncoders));
  return parts;
}

// Gemma 4: ranked merges as in GPT-2, over characters and ▁ for spaces; texts are cut at line ends,
// and text without a piece becomes bytes. Texts begin with BOS, regardless of the file.
TokenizerParts read_gemma4(const GgufMetadata& metadata, const Pieces& pieces) {
  if (metadata.text_or(kPre, "gemma4") != "gemma4") {
    metadata.fail(kPre, "expected gemma4, as the model says");
  }
  BpeOptions options;
  options.byte_fallback = true;
  options.kind = "SentencePiece BPE";
  options.unknown = unknown_piece(metadata, pieces);
  TokenizerParts parts;
  parts.model = ranked_bpe(metadata, pieces, options);
  const std::string space(kSentencePieceSpace);
  parts.normalizer = replace_normalizer(" ", space);
  parts.pre_tokenizer = class_cut([](char32_t point) { return point == U'\n' ? 1 : 2; });
  parts.decoder = Decoder({{DecoderStep::Kind::kReplace, space, " "},
                           {DecoderStep::Kind::kByteFallback, "", ""},
                           {DecoderStep::Kind::kFuse, "", ""}});
  add_special_pieces(pieces.list, parts);
  set_special_ids(metadata, pieces, parts);
  add_surrounding(metadata, /*adds_bos=*/true, /*adds_eos=*/false, parts);
  if (parts.post.single.size() == 1 && parts.special.bos) {
    parts.post = surrounding({*parts.special.bos}, {});
  }
  return parts;
}

TokenizerParts read_bert(const GgufMetadata& metadata, const Pieces& pieces) {
  WordPieceOptions options;
  options.begin = kSentencePieceSpace;
  options.prefix = "";
  options.unknown = unknown_piece(metadata, pieces).value_or(options.unknown);
  BertNormalization normalization;
  normalization.lowercase = metadata.flag_or("tokenizer.ggml.normalizer.lowercase", true);
  normalization.strip_accents =
      metadata.flag_or("tokenizer.ggml.normalizer.strip_accents", normalization.lowercase);
  TokenizerParts parts;
  parts.model =
      make_word_piece(vocabulary_of(metadata, pieces), options, where(metadata, "tokenizer.ggml."));
  use_bert_words(parts, normalization);
  parts.decoder = Decoder({{DecoderStep::Kind::kReplace, options.begin, " "},
                           {DecoderStep::Kind::kFuse, "", ""},
                           {DecoderStep::Kind::kStrip, " ", "", 1}});
  add_special_pieces(pieces.list, parts);
  const auto bos = special_id(metadata, pieces, "bos");
  parts.special.cls = bos ? bos : id_below(101, pieces);
  parts.special.sep = id_below(102, pieces);
  set_special_ids(metadata, pieces, parts);
  if (parts.special.cls && parts.special.sep) {
    parts.post = bert_post_processor(*parts.special.cls, *parts.special.sep);
  }
  return parts;
}

}  // namespace

TokenizerParts read_gguf_tokenizer(const GgufMetadata& metadata) {
  if (!metadata.has(kModel)) {
    throw Error(ErrorKind::kIo, fmt::format("{}: expected a tokenizer, found no {}",
                                            metadata.gguf().file(), kModel));
  }
  const std::string_view model = metadata.text(kModel);
  constexpr std::pair<std::string_view, TokenizerParts (*)(const GgufMetadata&, const Pieces&)>
      kReaders[] = {{"llama", read_llama},
                    {"gpt2", read_gpt2},
                    {"gemma4", read_gemma4},
                    {"bert", read_bert},
                    {"t5", read_t5}};
  for (const auto& [name, read] : kReaders) {
    if (model == name) {
      const Pieces pieces = read_pieces(metadata);
      TokenizerParts parts = read(metadata, pieces);
      UnreadKeys unread = unread_tokenizer_keys(metadata);
      parts.ignored_keys = std::move(unread.ignorable);
      parts.unknown_keys = std::move(unread.unknown);
      for (const auto& one : kRoles) {
        const std::string key = id_key(one.first);
        if (const auto id = metadata.id(key); id && *id >= pieces.list.size()) {
          parts.ignored_keys.push_back({key, "no token has this id"});
        }
      }
      return parts;
    }
  }
  throw Error(ErrorKind::kUnsupported,
              fmt::format("{}: this tokenizer is not supported: {}; there are llama, gpt2, "
                          "gemma4, bert and t5",
                          where(metadata, kModel), in_quotes(model)));
}

}  // namespace attnviz
