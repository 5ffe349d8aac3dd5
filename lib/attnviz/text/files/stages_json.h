// The stages around the model, as described by tokenizer.json.
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

/// Each reads `node`, an object with a "type". They throw Error{kMalformed} for a member of the
/// wrong form, and Error{kUnsupported} for an unknown type, listing the known ones.
Normalizer read_normalizer(const JsonNode& node);
PreTokenizer read_pre_tokenizer(const JsonNode& node);
PostProcessor read_post_processor(const JsonNode& node);
Decoder read_decoder(const JsonNode& node);

/// The settings of a BertNormalizer or of a ByteLevel pre-tokenizer, also within a sequence;
/// nullopt for other types.
std::optional<BertNormalization> read_bert_normalization(const JsonNode& node);
std::optional<bool> read_prefix_space(const JsonNode& node);

/// Whether a stage is of `type`, or a sequence that contains one.
bool has_stage(const JsonNode& node, std::string_view type);

/// Whether a Prepend or a Metaspace adds a prefix to a text.
bool prepends_space(const std::optional<JsonNode>& normalizer,
                    const std::optional<JsonNode>& pre_tokenizer);

/// An id below Vocabulary::kMostIds.
TokenId read_id(const JsonNode& node);

/// Throws Error{kUnsupported} at `node`, the name of a type that is not one of `known`.
[[noreturn]] void fail_type(const JsonNode& node, std::string_view what,
                            std::vector<std::string> known);

// Lists of a tokenizer's stages, nested as in tokenizer.json.

/// The stages of a sequence: the list under `key`, whose items may be sequences, too. Throws
/// Error{kMalformed} for more than 256 stages, including nested ones, and for more than 16 KiB of
/// regular expressions.
std::vector<JsonNode> stages_at(const JsonNode& node, std::string_view key);

// The model's part of tokenizer.json: the vocabulary and the merges, which are most of the file.

/// The pieces in a file's list; views into the file.
struct PieceList {
  struct Piece {
    std::string_view text;
    TokenId id;
  };
  std::vector<Piece> pieces;
  std::vector<double> scores;  // by position, if the list has them
  bool has_scores = false;

  /// The last of several equal pieces counts. Throws Error{kMalformed} if the list is empty, and
  /// for a piece that is too long or not UTF-8.
  Vocabulary vocabulary(std::string_view where) const;
};

/// Reads {"piece": id, …} or [["piece", score], …], where ids are positions.
PieceList scan_pieces(JsonReader& reader);
/// Reads ["left right", …] or [["left", "right"], …].
std::vector<Merge> scan_merges(JsonReader& reader);

/// Builds the model that `node` describes apart from its vocabulary and merges. Throws
/// Error{kMalformed} or Error{kUnsupported} as read_normalizer does.
std::unique_ptr<TokenModel> read_model(const JsonNode& node, const PieceList& pieces,
                                       const std::vector<Merge>& merges, bool is_byte_level);

}  // namespace attnviz
