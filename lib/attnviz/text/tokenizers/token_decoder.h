// From pieces back to text.
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
    kMetaspace,     // `from` to a space; none at the beginning of the text if `count` is not 0
    kReplace,       // `from` to `to`
    kFuse,          // later steps treat the text as a whole
    kStrip,         // up to `count` of `from` at the beginning, `count_end` at the end
    kWordPiece,     // pieces that begin with `from` continue a word, others follow a space
    kWordEnd,       // `from` at the end of a piece to a space
  };

  Kind kind;
  std::string from;
  std::string to;
  std::size_t count = 0;
  std::size_t count_end = 0;
  bool cleanup = false;  // no space before punctuation (kWordPiece)
};

/// Files choose the length of pieces, and texts contain copies of them: at most 1 MiB plus 256
/// bytes per piece, of which real ones have fewer than ten. Throws Error{kUnsupported} if `n_bytes`
/// in total exceed this.
void check_piece_bytes(std::size_t n_bytes, std::size_t n_pieces, std::string_view where);

/// Throws Error{kUnsupported} if steps make a piece larger than 64 times its size plus 4 KiB, or as
/// check_piece_bytes() does.
class Decoder {
 public:
  Decoder() = default;
  /// `where` is a prefix of messages.
  explicit Decoder(std::vector<DecoderStep> steps, std::string where = "decoder: ")
      : steps_(std::move(steps)), where_(std::move(where)) {}

  /// The text of a piece at any position: raw bytes, including a leading space.
  std::string piece_text(std::string_view piece) const;

  struct Piece {
    std::string text;
    bool is_literal = false;  // an added token: its characters stand for themselves
  };
  /// Changes the pieces of a whole text so that they give the text when joined.
  void decode(std::vector<Piece>& pieces) const;

 private:
  std::vector<DecoderStep> steps_;
  std::string where_;
};

}  // namespace attnviz
