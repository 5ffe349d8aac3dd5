#include "attnviz/text/units.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/tokenizer.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

// Marks that need white space after them, and marks that do not.
constexpr std::u32string_view kEnds = U".!?…‼⁇⁈⁉؟۔।॥։။።";
constexpr std::u32string_view kWideEnds = U"。！？｡．";
constexpr std::u32string_view kClosing = U"\"')]}”’»›」』）】》〉］｝*_`";

bool is_one_of(std::u32string_view signs, char32_t point) {
  return signs.find(point) != std::u32string_view::npos;
}

std::size_t skip_blanks(std::string_view line, std::size_t at = 0) {
  return std::min(line.find_first_not_of(" \t>", at), line.size());
}

// The length of the mark of a list item: "- ", "12. "; 0 if the line is not one.
std::size_t item_mark(std::string_view line) {
  const std::size_t begin = skip_blanks(line);
  std::size_t i = begin;
  if (i < line.size() && (line[i] == '-' || line[i] == '*' || line[i] == '+')) {
    ++i;
  } else {
    while (i < line.size() && i - begin < 9 && line[i] >= '0' && line[i] <= '9') {
      ++i;
    }
    if (i == begin || i == line.size() || (line[i] != '.' && line[i] != ')')) {
      return 0;
    }
    ++i;
  }
  return i < line.size() && (line[i] == ' ' || line[i] == '\t') ? i : 0;
}

bool is_heading(std::string_view line) {
  const std::size_t begin = skip_blanks(line);
  const std::size_t end = std::min(line.find_first_not_of('#', begin), line.size());
  return end > begin && end - begin <= 6 && (end == line.size() || line[end] == ' ');
}

bool is_row(std::string_view line) {
  return line.substr(skip_blanks(line)).starts_with('|');
}

std::size_t skip_white_space(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const CodePoint point = decode_utf8(text, at);
    if (!point.valid || !is_white_space(point.value)) {
      break;
    }
    at += point.length;
  }
  return at;
}

class Cutter {
 public:
  Cutter(std::string_view text, std::size_t most_words) : text_(text), most_words_(most_words) {}

  std::vector<Sentence> cut() {
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      add_line(begin, end);
      begin = end + 1;
    }
    end_block(text_.size());
    return std::move(found_);
  }

 private:
  void add_line(std::size_t begin, std::size_t end) {
    const std::string_view line = text_.substr(begin, end - begin);
    const bool is_blank = skip_white_space(line, 0) == line.size();
    const bool stands_alone = is_heading(line) || is_row(line);
    const std::size_t mark = item_mark(line);
    if (is_blank || stands_alone || mark > 0) {
      end_block(begin);
    }
    if (mark > 0) {
      searched_from_ = begin + mark;
    }
    if (stands_alone) {
      add(begin, end, true);
      block_ = end;
    }
  }

  // The block of lines up to `end` is complete.
  void end_block(std::size_t end) {
    bool begins_line = true;
    std::size_t begin = block_;
    for (std::size_t i = std::max(block_, searched_from_); i < end;) {
      const Marks marks = marks_at(i, end);
      i = std::max(marks.end, i + decode_utf8(text_, i).length);
      if (marks.end_sentence) {
        add(begin, i, begins_line);
        begins_line = false;
        begin = i;
      }
    }
    add(begin, end, begins_line);
    block_ = end;
  }

  // Marks and the closing characters after them.
  struct Marks {
    std::size_t end = 0;  // without marks: where they would begin
    bool end_sentence = false;
  };

  Marks marks_at(std::size_t at, std::size_t end) const {
    bool is_wide = false;
    bool is_stop = true;  // all of them are full stops
    std::size_t i = at;
    for (bool closing = false; i < end;) {
      const CodePoint point = decode_utf8(text_, i);
      const bool is_end = is_one_of(kEnds, point.value);
      const bool is_wide_end = is_one_of(kWideEnds, point.value);
      closing = closing || !(is_end || is_wide_end);
      if (!point.valid || (closing && (i == at || !is_one_of(kClosing, point.value)))) {
        break;
      }
      is_wide = is_wide || is_wide_end;
      is_stop = is_stop && (point.value == U'.' || !is_end);
      i += point.length;
    }
    if (i == at) {
      return {i, false};
    }
    const std::size_t next = skip_white_space(text_, i);
    if (next >= end || is_wide) {
      return {i, true};
    }
    const CodePoint point = decode_utf8(text_, next);
    return {i, next > i && !(is_stop && point.valid && is_lower_case(point.value))};
  }

  void add(std::size_t begin, std::size_t end, bool begins_line) {
    begin = skip_white_space(text_.substr(0, end), begin);
    for (std::size_t words = 1; begin < end; ++words) {
      std::size_t last = begin;  // after the last character that is not white space
      std::size_t i = begin;
      for (std::size_t n_words = 0; i < end && (most_words_ == 0 || n_words < most_words_);
           ++n_words) {
        while (i < end && skip_white_space(text_, i) == i) {
          i += decode_utf8(text_, i).length;
        }
        last = std::min(i, end);
        i = skip_white_space(text_.substr(0, end), i);
      }
      found_.push_back({begin, last, begins_line && words == 1});
      begin = i;
    }
  }

  std::string_view text_;
  std::size_t most_words_;
  std::size_t block_ = 0;          // where the open block begins
  std::size_t searched_from_ = 0;  // earlier marks do not end a sentence
  std::vector<Sentence> found_;
};

}  // namespace

std::vector<Sentence> sentences(std::string_view text, std::size_t most_words) {
  return Cutter(text, most_words).cut();
}

void TextPlace::move_to(std::size_t byte) {
  for (; byte_ < byte; ++byte_) {
    const bool begins_character = (static_cast<unsigned char>(text_[byte_]) & 0xC0u) != 0x80u;
    const bool ends_line = text_[byte_] == '\n';
    line_ += ends_line ? 1 : 0;
    column_ = ends_line ? 1 : column_ + (begins_character ? 1 : 0);
  }
}

std::vector<std::size_t> sentence_numbers(const TokenizedText& text) {
  const std::vector<Sentence> all = sentences(text.source);
  std::vector<std::size_t> numbers;
  std::size_t at = 0;
  std::size_t word = 0;  // the first character from the token's beginning that is not white space
  for (const Token& token : text.tokens) {
    if (word <= token.begin) {
      word = text.source.find_first_not_of(" \t\r\n", token.begin);
    }
    while (at + 1 < all.size() && token.end > token.begin && word >= all[at + 1].begin) {
      ++at;
    }
    numbers.push_back(at);
  }
  return numbers;
}

namespace {

// Where units begin, in order: a token belongs to the last unit that begins at or before its first
// character.
using Begins = std::vector<std::size_t>;

Begins line_begins(std::string_view source) {
  Begins begins = {0};
  for (std::size_t at = 0; (at = source.find('\n', at)) != std::string_view::npos;) {
    begins.push_back(++at);
  }
  return begins;
}

Begins sentence_begins(std::string_view source) {
  Begins begins;
  for (const Sentence& sentence : sentences(source)) {
    begins.push_back(sentence.begin);
  }
  return begins;
}

// White space before a sentence is not part of it, but pieces may carry it.
std::size_t first_sign(std::string_view source, const Token& token) {
  const std::string_view range = source.substr(token.begin, token.end - token.begin);
  const std::size_t sign = range.find_first_not_of(" \t\r\n");
  return token.begin + (sign == std::string_view::npos ? 0 : sign);
}

std::vector<std::size_t> unit_numbers(const TokenizedText& text, const Begins& begins,
                                      bool skips_spaces) {
  const auto turns = turn_of_tokens(text);
  const auto unit_of = [&](const Token& token) {
    return std::ranges::upper_bound(begins,
                                    skips_spaces ? first_sign(text.source, token) : token.begin);
  };
  const auto is_alone = [](const Token& token) { return token.special || token.added; };
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Token& token = text.tokens[i];
    const bool goes_on = i > 0 && !is_alone(token) && !is_alone(text.tokens[i - 1]) &&
                         unit_of(token) == unit_of(text.tokens[i - 1]) && turns[i] == turns[i - 1];
    numbers.push_back(i == 0 ? 0 : numbers.back() + (goes_on ? 0 : 1));
  }
  return numbers;
}

std::vector<std::size_t> turn_numbers(const TokenizedText& text) {
  if (text.turns.empty()) {
    throw Error(ErrorKind::kUsage, "turns: the text is not a chat", "fold");
  }
  std::vector<std::size_t> numbers(text.size());
  std::size_t number = 0;
  for (const TokenTurn& turn : token_turns(text)) {
    std::fill(numbers.begin() + static_cast<std::ptrdiff_t>(turn.begin),
              numbers.begin() + static_cast<std::ptrdiff_t>(turn.end), number++);
  }
  return numbers;
}

}  // namespace

std::vector<std::optional<std::size_t>> turn_of_tokens(const TokenizedText& text) {
  std::vector<std::optional<std::size_t>> turns(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Token& token = text.tokens[i];
    const auto found = std::ranges::upper_bound(text.turns, token.begin, {}, &ChatTurn::end);
    if (found != text.turns.end() && found->begin <= token.begin && !token.added) {
      turns[i] = static_cast<std::size_t>(found - text.turns.begin());
    }
  }
  return turns;
}

std::vector<TokenTurn> token_turns(const TokenizedText& text) {
  std::vector<TokenTurn> all;
  if (text.turns.empty()) {
    return all;
  }
  const auto turns = turn_of_tokens(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool goes_on = i > 0 && turns[i] == turns[i - 1] &&
                         text.tokens[i].generated == text.tokens[i - 1].generated;
    if (!goes_on) {
      all.push_back({turns[i] ? std::optional(text.turns[*turns[i]].role) : std::nullopt, i, i});
    }
    all.back().end = i + 1;
  }
  return all;
}

std::vector<std::string> turn_names(const TokenizedText& text) {
  std::map<std::string_view, std::size_t> times;
  std::vector<std::string> names;
  for (const ChatTurn& turn : text.turns) {
    const std::size_t time = ++times[turn.role];
    names.push_back(time == 1 ? turn.role : fmt::format("{}#{}", turn.role, time));
  }
  return names;
}

FoldedText folded(const TokenizedText& text, Fold by) {
  std::vector<std::size_t> numbers;
  switch (by) {
    case Fold::kWords:
      numbers = word_numbers(text);
      break;
    case Fold::kLines:
      numbers = unit_numbers(text, line_begins(text.source), false);
      break;
    case Fold::kSentences:
      numbers = unit_numbers(text, sentence_begins(text.source), true);
      break;
    case Fold::kTurns:
      numbers = turn_numbers(text);
      break;
  }
  TokenizedText merged = merged_words(text, numbers);
  if (by == Fold::kTurns) {
    const auto turns = turn_of_tokens(merged);
    const std::vector<std::string> names = turn_names(text);
    for (std::size_t i = 0; i < merged.size(); ++i) {
      if (turns[i]) {
        merged.tokens[i].text = names[*turns[i]];
        merged.tokens[i].special = false;
      }
    }
  }
  return {by, std::move(numbers), std::move(merged)};
}

namespace {

// The position of the first character that is not white space; nullopt if all are.
std::optional<std::size_t> first_sign(const TokenizedText& text, const Token& token) {
  const std::string_view source = text.source;
  for (std::size_t i = token.begin; i < token.end;) {
    const CodePoint point = decode_utf8(source, i);
    if (!point.valid || !is_white_space(point.value)) {
      return i;
    }
    i += point.length;
  }
  return std::nullopt;
}

// Whether pieces of this tokenizer carry the white space before them, as in GPT-2 and Llama.
bool carries_spaces(const TokenizedText& text) {
  return std::any_of(text.tokens.begin(), text.tokens.end(), [&text](const Token& token) {
    const auto sign = token.special ? std::nullopt : first_sign(text, token);
    return sign && *sign > token.begin;
  });
}

}  // namespace

std::vector<std::size_t> word_numbers(const TokenizedText& text) {
  const TokenizedText words = make_tokenizer("words")->tokenize(text.source);
  std::vector<std::size_t> numbers;
  numbers.reserve(text.size());
  const bool joins_spaces = carries_spaces(text);
  const Token* space = nullptr;     // the previous token, if it is a single space
  std::optional<std::size_t> last;  // its word
  std::size_t number = 0;
  for (const Token& token : text.tokens) {
    const auto place = token.special ? std::nullopt : first_sign(text, token);
    std::optional<std::size_t> word;
    if (place) {
      // The last word that begins at or before the position; a piece may begin inside a word.
      const auto after = std::upper_bound(
          words.tokens.begin(), words.tokens.end(), *place,
          [](std::size_t at, const Token& candidate) { return at < candidate.begin; });
      if (after != words.tokens.begin()) {
        word = static_cast<std::size_t>(after - words.tokens.begin()) - 1;
      }
    }
    const bool is_its_space = space != nullptr && place == token.begin && space->end == token.begin;
    if (!numbers.empty() && !(word && word == last) && !is_its_space) {
      ++number;
    }
    numbers.push_back(number);
    last = word;
    space = joins_spaces && !token.special && token.text == " " ? &token : nullptr;
  }
  return numbers;
}

TokenizedText merged_words(const TokenizedText& text, std::span<const std::size_t> numbers) {
  TokenizedText merged{text.source, {}, text.turns};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Token& token = text.tokens[i];
    if (i == 0 || numbers[i] != numbers[i - 1]) {
      merged.tokens.push_back(token);
      continue;
    }
    Token& word = merged.tokens.back();
    word.end = std::max(word.end, token.end);
    word.generated = word.generated || token.generated;
    word.text = text.source.substr(word.begin, word.end - word.begin);
  }
  return merged;
}

}  // namespace attnviz
