// The stages around the model, as tokenizer.json describes them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/json_reader.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/text/tokenizers/pre_tokenizers.h"
#include "attnviz/text/tokenizers/token_decoder.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"

namespace attnviz {

/// Each reads `node`, an object with a "type". Throw Error{kMalformed} where a member is not what
/// it should be, and Error{kUnsupported} for another type, naming those that there are.
Normalizer read_normalizer(const JsonNode& node);
PreTokenizer read_pre_tokenizer(const JsonNode& node);
PostProcessor read_post_processor(const JsonNode& node);
Decoder read_decoder(const JsonNode& node);

/// What a BertNormalizer or a ByteLevel pre-tokenizer does; nullopt of another type, a sequence
/// with one, too.
std::optional<BertNormalization> read_bert_normalization(const JsonNode& node);
std::optional<bool> read_prefix_space(const JsonNode& node);

/// Whether a stage is of `type`, or a sequence with one that is.
bool has_stage(const JsonNode& node, std::string_view type);

/// Whether a Prepend or a Metaspace puts something in front of a text.
bool prepends_space(const std::optional<JsonNode>& normalizer,
                    const std::optional<JsonNode>& pre_tokenizer);

/// An id below Vocabulary::kMostIds.
TokenId read_id(const JsonNode& node);

/// Throws Error{kUnsupported} at `node`, the name of a type, which is none of `known`.
[[noreturn]] void fail_type(const JsonNode& node, std::string_view what,
                            std::vector<std::string> known);

// Lists of a tokenizer's stages, as tokenizer.json nests them.

/// The stages of a sequence, the list under `key`, which may be sequences themselves. Throws
/// Error{kMalformed} for more than 256 of them, with those within them, and for more than 16 KiB of
/// regular expressions.
std::vector<JsonNode> stages_at(const JsonNode& node, std::string_view key);

// The model's part of tokenizer.json: the vocabulary and the merges, most of the file.

/// Pieces as a file lists them; views into it.
struct PieceList {
  struct Piece {
    std::string_view text;
    TokenId id;
  };
  std::vector<Piece> pieces;
  std::vector<double> scores;  // by position, when the list has them
  bool has_scores = false;

  /// If a piece comes twice, the last one counts. Throws Error{kMalformed} if there are no pieces.
  Vocabulary vocabulary(std::string_view where) const;
};

/// Reads {"piece": id, …} or [["piece", score], …], where ids are positions.
PieceList scan_pieces(JsonReader& reader);
/// Reads ["left right", …] or [["left", "right"], …].
std::vector<Merge> scan_merges(JsonReader& reader);

/// Builds the model that `node` describes besides its vocabulary and merges. Throws
/// Error{kMalformed} or Error{kUnsupported} as read_normalizer does.
std::unique_ptr<TokenModel> read_model(const JsonNode& node, const PieceList& pieces,
                                       const std::vector<Merge>& merges, bool is_byte_level);

}  // namespace attnviz
