#include "attnviz/text/files/stages_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"
#include "attnviz/text/tokenizers/vocabulary.h"

namespace attnviz {

namespace {

constexpr std::size_t kMostReserved = std::size_t{1} << 20;

// Files from before 2020 do not name a type, but each of these members occurs in only one of the
// models.
std::string type_of(const JsonNode& node, const PieceList& pieces) {
  if (const auto type = find_value(node, "type")) {
    return std::string(type->as_string());
  }
  if (pieces.has_scores) {
    return "Unigram";
  }
  if (node.find("max_input_chars_per_word")) {
    return "WordPiece";
  }
  return node.find("fuse_unk") || node.find("merges") ? "BPE" : "WordLevel";
}

// A prefix or suffix of characters; each character is looked up together with it.
std::string read_affix(const JsonNode& node, std::string_view key, std::string_view otherwise) {
  constexpr std::size_t kMost = 64;
  const std::string_view affix = text_or(node, key, otherwise);
  if (affix.size() > kMost) {
    node.at(key).fail(fmt::format("expected at most {} bytes, found {}", kMost, affix.size()));
  }
  return std::string(affix);
}

std::unique_ptr<TokenModel> read_bpe(const JsonNode& node, const PieceList& pieces,
                                     const std::vector<Merge>& merges, bool is_byte_level) {
  if (const auto dropout = find_value(node, "dropout"); dropout && dropout->as_number() > 0.0f) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected none, found {}: merges left out at random make other ids "
                            "each time",
                            dropout->where(), dropout->as_number()));
  }
  BpeOptions options;
  if (const auto unknown = find_value(node, "unk_token")) {
    options.unknown = unknown->as_string();
  }
  options.prefix = read_affix(node, "continuing_subword_prefix", "");
  options.suffix = read_affix(node, "end_of_word_suffix", "");
  options.fuse_unknown = flag_or(node, "fuse_unk", false);
  options.byte_fallback = flag_or(node, "byte_fallback", false);
  options.ignore_merges = flag_or(node, "ignore_merges", false);
  options.kind = is_byte_level           ? "byte-level BPE"
                 : options.byte_fallback ? "SentencePiece BPE"
                                         : "BPE";
  return make_bpe(pieces.vocabulary(node.where()), merges, options, node.where());
}

std::unique_ptr<TokenModel> read_unigram(const JsonNode& node, const PieceList& pieces) {
  if (!pieces.has_scores) {
    node.at("vocab").fail("expected a list of pieces with scores, found an object");
  }
  UnigramOptions options;
  if (const auto unknown = find_value(node, "unk_id")) {
    options.unknown = read_id(*unknown);
    if (*options.unknown >= pieces.pieces.size()) {
      unknown->fail(fmt::format("expected the place of a piece, 0 to {}, found {}",
                                static_cast<std::ptrdiff_t>(pieces.pieces.size()) - 1,
                                *options.unknown));
    }
  }
  options.byte_fallback = flag_or(node, "byte_fallback", false);
  return make_unigram(pieces.vocabulary(node.where()), pieces.scores, options);
}

std::unique_ptr<TokenModel> read_word_piece(const JsonNode& node, const PieceList& pieces) {
  WordPieceOptions options;
  options.unknown = text_or(node, "unk_token", options.unknown);
  options.prefix = read_affix(node, "continuing_subword_prefix", options.prefix);
  if (const auto longest = find_value(node, "max_input_chars_per_word")) {
    options.longest_word = longest->as_unsigned();
  }
  return make_word_piece(pieces.vocabulary(node.where()), options, node.where());
}

}  // namespace

Vocabulary PieceList::vocabulary(std::string_view where) const {
  if (pieces.empty()) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}vocab: expected at least one piece, found none", where));
  }
  std::size_t n_bytes = 0;
  for (const Piece& piece : pieces) {
    n_bytes += piece.text.size();
  }
  Vocabulary vocabulary;
  vocabulary.reserve(pieces.size(), n_bytes);
  for (const Piece& piece : pieces) {
    if (!is_utf8(piece.text)) {
      throw Error(ErrorKind::kMalformed, fmt::format("{}vocab: expected pieces in UTF-8, found {}",
                                                     where, in_quotes(piece.text)));
    }
    if (piece.text.size() > PrefixIndex::kLongestPiece) {
      throw Error(ErrorKind::kMalformed,
                  fmt::format("{}vocab: expected pieces of at most {}, found one of {}", where,
                              counted(PrefixIndex::kLongestPiece, "byte"), piece.text.size()));
    }
    vocabulary.add(piece.text, piece.id);
  }
  return vocabulary;
}

PieceList scan_pieces(JsonReader& reader) {
  PieceList list;
  bool is_first = true;
  // Reserves the largest possible number: unused memory is never touched.
  list.pieces.reserve(std::min(reader.rest().size() / 6, kMostReserved));
  if (reader.take('{')) {
    while (reader.next_item('}', is_first)) {
      const std::string_view text = reader.key();
      if (reader.peek() == '-' || reader.peek() == '"') {
        reader.fail("an id");
      }
      const std::uint32_t id = reader.whole_number();
      if (id >= Vocabulary::kMostIds) {
        reader.fail(fmt::format("an id below {} for {}", Vocabulary::kMostIds, in_quotes(text)));
      }
      list.pieces.push_back({text, id});
    }
    return list;
  }
  if (!reader.take('[')) {
    reader.fail("a vocabulary");
  }
  list.has_scores = true;
  while (reader.next_item(']', is_first)) {
    if (list.pieces.size() == Vocabulary::kMostIds) {
      reader.fail(fmt::format("at most {} pieces", Vocabulary::kMostIds));
    }
    reader.expect('[');
    const std::string_view text = reader.string();
    reader.expect(',');
    list.scores.push_back(reader.number());
    list.pieces.push_back({text, static_cast<TokenId>(list.pieces.size())});
    reader.expect(']');
  }
  return list;
}

std::vector<Merge> scan_merges(JsonReader& reader) {
  std::vector<Merge> merges;
  merges.reserve(std::min(reader.rest().size() / 6, kMostReserved));
  bool is_first = true;
  reader.expect('[');
  while (reader.next_item(']', is_first)) {
    if (reader.take('[')) {
      const std::string_view left = reader.string();
      reader.expect(',');
      merges.push_back({left, reader.string()});
      reader.expect(']');
      continue;
    }
    const std::string_view text = reader.string();
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) {
      reader.fail("two pieces with a space between them before this, not " + in_quotes(text));
    }
    merges.push_back({text.substr(0, space), text.substr(space + 1)});
  }
  return merges;
}

std::unique_ptr<TokenModel> read_model(const JsonNode& node, const PieceList& pieces,
                                       const std::vector<Merge>& merges, bool is_byte_level) {
  const std::string type = type_of(node, pieces);
  if (type == "Unigram") {
    return read_unigram(node, pieces);
  }
  if (pieces.has_scores) {
    node.at("vocab").fail("expected an object of pieces and ids, found a list");
  }
  if (type == "BPE") {
    return read_bpe(node, pieces, merges, is_byte_level);
  }
  if (type == "WordPiece") {
    return read_word_piece(node, pieces);
  }
  if (type == "WordLevel") {
    return make_word_level(pieces.vocabulary(node.where()),
                           std::string(text_or(node, "unk_token", "")));
  }
  fail_type(node.at("type"), "model", {"BPE", "Unigram", "WordLevel", "WordPiece"});
}

}  // namespace attnviz
