#include "attnviz/text/fold.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/sentences.h"
#include "attnviz/text/tokenizer.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

// Where units begin, in order: a token is of the last one that begins at its first sign or before.
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

// White space before a sentence is no part of it, but pieces may carry it.
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
    throw Error(ErrorKind::kUsage, "turns: the text is no chat, and has none", "fold");
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

// The place of the first character that is no white space; nullopt when there is none.
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

// Whether pieces of this tokenizer carry the white space before them, as those of GPT-2 and Llama.
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
  const Token* space = nullptr;     // the token before, if it is one space and no more
  std::optional<std::size_t> last;  // its word
  std::size_t number = 0;
  for (const Token& token : text.tokens) {
    const auto place = token.special ? std::nullopt : first_sign(text, token);
    std::optional<std::size_t> word;
    if (place) {
      // The last word that begins at the place or before it; a piece may begin inside of one.
      const auto behind = std::upper_bound(
          words.tokens.begin(), words.tokens.end(), *place,
          [](std::size_t at, const Token& candidate) { return at < candidate.begin; });
      if (behind != words.tokens.begin()) {
        word = static_cast<std::size_t>(behind - words.tokens.begin()) - 1;
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
