#include "attnviz/text/sentences.h"

#include <algorithm>
#include <string_view>

#include "attnviz/core/utf8.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

// Marks that need white space behind them, and those that need none.
constexpr std::u32string_view kEnds = U".!?…‼⁇⁈⁉؟۔।॥։။።";
constexpr std::u32string_view kWideEnds = U"。！？｡．";
constexpr std::u32string_view kClosing = U"\"')]}”’»›」』）】》〉］｝*_`";

bool is_one_of(std::u32string_view signs, char32_t point) {
  return signs.find(point) != std::u32string_view::npos;
}

std::size_t skip_blanks(std::string_view line, std::size_t at = 0) {
  return std::min(line.find_first_not_of(" \t>", at), line.size());
}

// The bytes before the text of a list's item: "- ", "12. "; 0: it is none.
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

  // The block of lines up to `end` is whole.
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

  // Marks and what closes behind them.
  struct Marks {
    std::size_t end = 0;  // no marks: where they would begin
    bool end_sentence = false;
  };

  Marks marks_at(std::size_t at, std::size_t end) const {
    bool is_wide = false;
    bool is_stop = true;  // nothing but full stops
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
      std::size_t last = begin;  // behind what is no white space
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
  std::size_t searched_from_ = 0;  // marks before are none that end a sentence
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
  std::size_t word = 0;  // the first at or behind a token's beginning that is no white space
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

}  // namespace attnviz
