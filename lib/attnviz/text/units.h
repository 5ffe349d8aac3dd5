// The units of a text: words, lines, sentences and turns, and tokens brought together by them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Bytes [begin, end) of a text, without white space at either end; not empty.
struct Sentence {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool begins_line = false;  // of a paragraph, a heading, an item of a list or a row of a table

  bool operator==(const Sentence&) const = default;
};

/// The sentences, in order. One ends
///   at . ! ? … and their like in other scripts, and closing quotes and brackets behind them, where
///   white space or the text's end follows (after 。！？ and other wide marks anywhere), but not at
///   a full stop before a word in lower case, nor at the number of an item of a list; at a blank
///   line, and before and after a heading, an item of a list and a row of a table as Markdown has
///   them. Other line ends are white space.
/// Abbreviations before a capital letter ("Dr. Who") are not known: they end one. With `most_words`
/// above 0, longer sentences are cut behind so many words, between white space.
std::vector<Sentence> sentences(std::string_view text, std::size_t most_words = 0);

/// The sentence of each token, numbered from 0; what stands between sentences belongs to the one
/// before it.
std::vector<std::size_t> sentence_numbers(const TokenizedText& text);

/// The line and the column of a byte, which moves on through a text that must outlive this.
class TextPlace {
 public:
  explicit TextPlace(std::string_view text) : text_(text) {}

  /// Precondition: the byte is the text's, or its end, and not before the one where this is.
  void move_to(std::size_t byte);

  std::size_t line() const noexcept { return line_; }      // from 1 on
  std::size_t column() const noexcept { return column_; }  // in characters (code points) from 1 on

 private:
  std::string_view text_;
  std::size_t byte_ = 0;
  std::size_t line_ = 1;
  std::size_t column_ = 1;
};

// Tokens of one word, line, sentence or turn, brought together. Tokens that are pieces of one word,
// brought together.

enum class Fold { kWords, kLines, kSentences, kTurns };

inline constexpr std::array kFolds = {Choice{"words", Fold::kWords}, Choice{"lines", Fold::kLines},
                                      Choice{"sentences", Fold::kSentences},
                                      Choice{"turns", Fold::kTurns}};

/// The turn of each token, [size()]: that in which its range begins. None of what a tokenizer
/// added, and of what a template has between turns.
std::vector<std::optional<std::size_t>> turn_of_tokens(const TokenizedText& text);

/// Tokens [begin, end) of one turn; without a role: of none, between turns.
struct TokenTurn {
  std::optional<std::string> role;
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const TokenTurn&) const = default;
};

/// They cover all tokens. What the model has written is apart. Empty for a text without turns.
std::vector<TokenTurn> token_turns(const TokenizedText& text);

/// Roles of the turns; of several turns of one role all but the first with their number:
/// "user", "assistant", "user#2".
std::vector<std::string> turn_names(const TokenizedText& text);

/// One token for all of a unit: its text what stands in the source, of a turn its name; its id that
/// of the first.
struct FoldedText {
  Fold by = Fold::kWords;
  std::vector<std::size_t> numbers;  // of each token, from 0 without gaps: the unit
  TokenizedText text;
};

/// Neighbours come together
///
/// words      as word_numbers() has them;
/// lines      between line ends of the source, which end their line;
/// sentences  as sentences() has them, white space before one with it;
/// turns      as token_turns() has them.
///
/// Special tokens stay alone, but in turns; lines and sentences end with their turn. Throws
/// Error{kUsage} for turns of a text that has none.
FoldedText folded(const TokenizedText& text, Fold by);

/// The word of each token, [size()], numbered from 0 without gaps.
///
/// Neighbours are of one word when what they say, leading white space aside, begins in the same
/// Unicode word of the source (UAX 29; "don't" is one, "3.14" too). Special tokens, white space and
/// punctuation marks are words of their own; but where other pieces carry the space before them, a
/// piece that is one space belongs to the word behind it.
std::vector<std::size_t> word_numbers(const TokenizedText& text);

/// One token a word: the piece itself, or, of several, what stands in the source; the id of the
/// first; generated when a piece is. Precondition: `numbers` are those of the text's tokens.
TokenizedText merged_words(const TokenizedText& text, std::span<const std::size_t> numbers);

}  // namespace attnviz
