// Pieces back to text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attnviz {

struct DecoderStep {
  enum class Kind {
    kByteLevel,     // GPT-2's characters to bytes
    kByteFallback,  // <0x41> to a byte
    kMetaspace,     // `from` to a space; none at the beginning of the text when `count` is not 0
    kReplace,       // `from` to `to`
    kFuse,          // what follows looks at the text as a whole
    kStrip,         // up to `count` of `from` at the beginning, `count_end` at the end
    kWordPiece,     // pieces that begin with `from` go on, others follow a space
    kWordEnd,       // `from` at a piece's end to a space
  };

  Kind kind;
  std::string from;
  std::string to;
  std::size_t count = 0;
  std::size_t count_end = 0;
  bool cleanup = false;  // no space before punctuation (kWordPiece)
};

/// Files choose how long pieces are, and texts hold copies of them: at most 1 MiB and 256 bytes a
/// piece, of which real ones have less than ten. Throws Error{kUnsupported} when `n_bytes` in all
/// are more.
void check_piece_bytes(std::size_t n_bytes, std::size_t n_pieces, std::string_view where);

/// Throws Error{kUnsupported} when steps make a piece larger than 64 times itself and 4 KiB, or as
/// check_piece_bytes() does.
class Decoder {
 public:
  Decoder() = default;
  /// `where` stands in front of messages.
  explicit Decoder(std::vector<DecoderStep> steps, std::string where = "decoder: ")
      : steps_(std::move(steps)), where_(std::move(where)) {}

  /// What a piece says wherever it stands: raw bytes, leading space included.
  std::string piece_text(std::string_view piece) const;

  struct Piece {
    std::string text;
    bool is_literal = false;  // an added token: its characters stand for themselves
  };
  /// Makes the pieces of a whole text such that joined they are that text.
  void decode(std::vector<Piece>& pieces) const;

 private:
  std::vector<DecoderStep> steps_;
  std::string where_;
};

}  // namespace attnviz
