// The model's part of tokenizer.json: the vocabulary and the merges, most of the file.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "attnviz/formats/json_reader.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"
#include "attnviz/text/tokenizers/word_models.h"

namespace attnviz {

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
