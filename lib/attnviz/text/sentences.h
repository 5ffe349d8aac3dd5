// A text cut into sentences.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

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

}  // namespace attnviz
