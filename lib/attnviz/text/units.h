// The units of a text: words, lines, sentences and turns; and tokens merged by unit.
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
  bool begins_line = false;  // of a paragraph, heading, list item or table row

  bool operator==(const Sentence&) const = default;
};

/// The sentences, in order. A sentence ends
///   at . ! ? … and similar marks of other scripts, including closing quotes and brackets after
///   them, if white space or the end of the text follows (after 。！？ and other wide marks
///   anywhere), but not at a full stop before a word in lower case, nor at the number of a list
///   item; at a blank line, and before and after a heading, a list item or a table row in Markdown.
///   Other line ends count as white space.
/// Abbreviations before a capital letter ("Dr. Who") are not recognised: they end a sentence. With
/// `most_words` above 0, longer sentences are cut at white space after that number of words.
std::vector<Sentence> sentences(std::string_view text, std::size_t most_words = 0);

/// The sentence of each token, numbered from 0; tokens between sentences belong to the one before.
std::vector<std::size_t> sentence_numbers(const TokenizedText& text);

/// The line and column of a byte, moving forwards through a text that must outlive this object.
class TextPlace {
 public:
  explicit TextPlace(std::string_view text) : text_(text) {}

  /// Precondition: the byte is in the text or at its end, and not before the current one.
  void move_to(std::size_t byte);

  std::size_t line() const noexcept { return line_; }      // from 1 on
  std::size_t column() const noexcept { return column_; }  // in code points, from 1 on

 private:
  std::string_view text_;
  std::size_t byte_ = 0;
  std::size_t line_ = 1;
  std::size_t column_ = 1;
};

// Tokens of one word, line, sentence or turn, merged.

enum class Fold { kWords, kLines, kSentences, kTurns };

inline constexpr std::array kFolds = {Choice{"words", Fold::kWords}, Choice{"lines", Fold::kLines},
                                      Choice{"sentences", Fold::kSentences},
                                      Choice{"turns", Fold::kTurns}};

/// The turn in which each token's range begins, [size()]. Nothing for tokens that the tokenizer
/// added, and for text of the template between turns.
std::vector<std::optional<std::size_t>> turn_of_tokens(const TokenizedText& text);

/// Tokens [begin, end) of one turn. Without a role: tokens between turns.
struct TokenTurn {
  std::optional<std::string> role;
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const TokenTurn&) const = default;
};

/// Turns that cover all tokens. Tokens that the model generated are separate. Empty for a text
/// without turns.
std::vector<TokenTurn> token_turns(const TokenizedText& text);

/// The roles of the turns. If a role has several turns, all but the first are numbered: "user",
/// "assistant", "user#2".
std::vector<std::string> turn_names(const TokenizedText& text);

/// One token for each unit. Its text is that of the source, or the name of the turn; its id is that
/// of the first token.
struct FoldedText {
  Fold by = Fold::kWords;
  std::vector<std::size_t> numbers;  // for each token its unit, from 0 without gaps
  TokenizedText text;
};

/// Neighbours are merged
///
/// words      as in word_numbers();
/// lines      between line ends of the source, which end their line;
/// sentences  as in sentences(), each with the white space before it;
/// turns      as in token_turns().
///
/// Special tokens stay separate, except in turns; lines and sentences end with their turn. Throws
/// Error{kUsage} for turns of a text without turns.
FoldedText folded(const TokenizedText& text, Fold by);

/// The word of each token, [size()], numbered from 0 without gaps.
///
/// Neighbours belong to one word if their texts, without leading white space, begin in the same
/// Unicode word of the source (UAX 29; "don't" is one, and so is "3.14"). Special tokens, white
/// space and punctuation marks are words of their own. But if other pieces carry the space before
/// them, a piece that is a single space belongs to the word after it.
std::vector<std::size_t> word_numbers(const TokenizedText& text);

/// One token per word: the piece itself or, if it has several, its text in the source; with the id
/// of the first; generated if any piece is. Precondition: `numbers` are those of the text's tokens.
TokenizedText merged_words(const TokenizedText& text, std::span<const std::size_t> numbers);

}  // namespace attnviz
