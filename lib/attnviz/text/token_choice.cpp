#include "attnviz/text/token_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

using Indices = std::vector<std::size_t>;

std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos
             ? std::string_view()
             : text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// A token in a message, without surrounding spaces; unchanged if it is all spaces.
std::string shown(const Token& token) {
  const std::string_view bare = without_spaces(token.text);
  return in_quotes(bare.empty() ? token.text : bare);
}

// The text without differences of case and normal form.
std::string folded(std::string_view text) {
  return normal_form_c(text, LetterCase::kFolded);
}

Indices indices_where(const TokenizedText& text,
                      const std::function<bool(const std::string& token)>& fits) {
  Indices found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (fits(text.tokens[i].text)) {
      found.push_back(i);
    }
  }
  return found;
}

// The tokens with this text, by the strictest reading that finds any.
Indices tokens_named(const TokenizedText& text, std::string_view word, bool fold = true) {
  Indices found = indices_where(text, [&](const std::string& token) { return token == word; });
  const std::string_view bare = without_spaces(word);
  if (found.empty() && !word.empty()) {
    found = indices_where(text, [&](const std::string& token) {
      return (!bare.empty() && without_spaces(token) == bare) || printable(token) == word;
    });
  }
  if (found.empty() && fold && !bare.empty()) {
    const std::string wanted = folded(bare);
    found = indices_where(
        text, [&](const std::string& token) { return folded(without_spaces(token)) == wanted; });
  }
  return found;
}

bool looks_like_an_index(std::string_view word) {
  const std::string_view digits = word.substr(word.starts_with('-') ? 1 : 0);
  return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
}

// "0, 4 and 7"; for long lists, the first ones and the last.
std::string enumerated(std::vector<std::string> items) {
  constexpr std::size_t kMost = 12;
  if (items.size() > kMost) {
    items[kMost - 1] = "…";
    items.erase(items.begin() + kMost, items.end() - 1);
  }
  return joined(items, "and");
}

std::string token_list(const TokenizedText& text) {
  std::vector<std::string> items;
  items.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    items.push_back(fmt::format("{} {}", i, shown(text.tokens[i])));
  }
  return text.size() == 1 ? "the only token is " + items.front()
                          : "the tokens are " + enumerated(items);
}

TokenChoice by_index(const TokenizedText& text, std::string_view word, std::string_view parameter) {
  const auto n = static_cast<std::int64_t>(text.size());
  const auto number = parse_number<std::int64_t>(word);
  const Indices same = tokens_named(text, word, /*fold=*/false);
  const std::string as_text =
      same.empty() ? "" : fmt::format("={} takes the token {}", word, in_quotes(word));
  if (!number || *number >= n || *number < -n) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{} {}: expected an index from 0 to {} (-1 is the last); {}{}", parameter, word,
                    n - 1, token_list(text), same.empty() ? "" : "; " + as_text));
  }
  const auto index = static_cast<std::size_t>(*number < 0 ? *number + n : *number);
  // A note is not needed if both readings are the same token.
  const bool is_clear = same.empty() || same == Indices{index};
  return {index, is_clear ? ""
                          : fmt::format("{} {}: taking the token at index {}, {}; {}", parameter,
                                        word, index, shown(text.tokens[index]), as_text)};
}

std::vector<std::string> in_words(const Indices& indices) {
  std::vector<std::string> words;
  words.reserve(indices.size());
  for (const std::size_t index : indices) {
    words.push_back(std::to_string(index));
  }
  return words;
}

// "the occurs at 0 and 4: taking "; empty for one token.
std::string several_note(const Indices& found, std::string_view word) {
  return found.size() == 1 ? std::string()
                           : fmt::format("{} occurs at {}: taking ", in_quotes(word),
                                         enumerated(in_words(found)));
}

// The name of the chosen tokens: the word, or the last token's text if that differs in case or
// normal form.
struct CalledTokens {
  CalledTokens(const TokenizedText& text, const Indices& found, std::string_view word) {
    const std::string& last = text.tokens[found.back()].text;
    const std::string_view bare = without_spaces(last);
    is_other = bare != without_spaces(word) && folded(bare) == folded(without_spaces(word));
    name = is_other ? bare : word;
  }

  bool is_other;
  std::string_view name;
};

// "the occurs at 0 and 4: taking all of them (the#1 is the first)", after any difference in
// spelling; empty if a note is not needed.
std::string choice_note(const TokenizedText& text, const Indices& found, std::string_view word,
                        const std::string& taken) {
  const CalledTokens called(text, found, word);
  std::string note = several_note(found, called.name);
  if (!note.empty()) {
    note += fmt::format("{} ({}#1 is the first)", taken, printable_message(called.name));
  } else if (called.is_other) {
    note = fmt::format("taking {}, {}", found.back(), in_quotes(called.name));
  }
  return called.is_other ? fmt::format("no token is {}: {}", in_quotes(word), note) : note;
}

[[noreturn]] void fail_unknown(const TokenizedText& text, std::string_view word,
                               std::string_view parameter) {
  std::vector<std::string> known;
  known.reserve(text.tokens.size());
  for (const Token& token : text.tokens) {
    known.push_back(printable_message(without_spaces(token.text)));
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("{}: the text has no token {}{}: {}; an index also works", parameter,
                          in_quotes(word), did_you_mean(word, known), token_list(text)));
}

// The token for "cat#2", if tokens "cat" exist.
std::optional<std::size_t> by_occurrence(const TokenizedText& text, std::string_view word,
                                         std::string_view parameter) {
  const std::size_t hash = word.rfind('#');
  if (hash == std::string_view::npos || hash == 0 || !looks_like_an_index(word.substr(hash + 1))) {
    return std::nullopt;
  }
  const std::string_view name = word.substr(0, hash);
  const Indices found = tokens_named(text, name);
  if (found.empty()) {
    fail_unknown(text, name, parameter);
  }
  const auto which = parse_number<std::size_t>(word.substr(hash + 1));
  if (!which || *which == 0 || *which > found.size()) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{} {}: {} occurs {}: expected {}", parameter, printable_message(word),
                    in_quotes(name), counted(found.size(), "time"),
                    found.size() == 1
                        ? fmt::format("{}#1", printable_message(name))
                        : fmt::format("{0}#1 to {0}#{1}", printable_message(name), found.size())));
  }
  return found[*which - 1];
}

// All matches, in order.
Indices by_text(const TokenizedText& text, std::string_view word, std::string_view parameter) {
  // A token whose own text is "cat#2" takes precedence over the second "cat".
  if (Indices found = tokens_named(text, word, /*fold=*/false); !found.empty()) {
    return found;
  }
  if (const auto found = by_occurrence(text, word, parameter)) {
    return {*found};
  }
  Indices found = tokens_named(text, word);
  if (found.empty()) {
    fail_unknown(text, word, parameter);
  }
  return found;
}

std::string_view without_equals_sign(std::string_view word) {
  return word.size() > 1 && word.starts_with('=') ? word.substr(1) : word;
}

// Whether this position lies inside a word, judged by ASCII characters only: in scripts without
// spaces, words may begin anywhere.
bool is_inside_of_word(std::string_view source, std::size_t place) {
  const auto goes_on = [&](std::size_t at) {
    const char c = source[at];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return place > 0 && place < source.size() && goes_on(place - 1) && goes_on(place);
}

}  // namespace

TokenChoice choose_token(const TokenizedText& text, std::string_view word,
                         std::string_view parameter) {
  if (looks_like_an_index(word)) {
    return by_index(text, word, parameter);
  }
  const std::string_view name = without_equals_sign(word);
  const Indices found = by_text(text, name, parameter);
  return {found.back(), choice_note(text, found, name, std::to_string(found.back()))};
}

TokenChoices choose_tokens(const TokenizedText& text, std::string_view word,
                           std::string_view parameter) {
  if (looks_like_an_index(word)) {
    TokenChoice one = by_index(text, word, parameter);
    return {{one.index}, std::move(one.note)};
  }
  const std::string_view name = without_equals_sign(word);
  Indices found = by_text(text, name, parameter);
  std::string note = choice_note(text, found, name, "all of them");
  return {std::move(found), std::move(note)};
}

TokenChoices tokens_of_words(const TokenizedText& text, std::string_view words,
                             std::string_view parameter) {
  const std::string_view wanted = without_spaces(words);
  const std::string_view source = text.source;
  Indices found;
  std::size_t token = 0;
  for (std::size_t at = wanted.empty() ? std::string_view::npos : source.find(wanted);
       at != std::string_view::npos; at = source.find(wanted, at + 1)) {
    const std::size_t end = at + wanted.size();
    if (is_inside_of_word(source, at) || is_inside_of_word(source, end)) {
      continue;
    }
    // Tokens are in the order of the text; the first one of a match may begin before it, with a
    // space.
    while (token < text.size() && text.tokens[token].end <= at) {
      ++token;
    }
    for (std::size_t i = token; i < text.size() && text.tokens[i].begin < end; ++i) {
      const bool is_new = found.empty() || found.back() < i;
      if (is_new && text.tokens[i].end > at && text.tokens[i].end > text.tokens[i].begin) {
        found.push_back(i);
      }
    }
  }
  if (found.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: the text does not say {}", parameter, in_quotes(words)));
  }
  return {found, fmt::format("{} is {} {}", in_quotes(wanted),
                             found.size() == 1 ? "token" : "tokens", enumerated(in_words(found)))};
}

namespace {

// The index where the second text of a pair begins: after the added tokens between the texts.
std::size_t second_text(const std::vector<Token>& tokens) {
  const auto is_text = [](const Token& token) { return !token.added; };
  const auto is_added = [](const Token& token) { return token.added; };
  const auto first = std::find_if(tokens.begin(), tokens.end(), is_text);
  const auto between = std::find_if(first, tokens.end(), is_added);
  return static_cast<std::size_t>(std::find_if(between, tokens.end(), is_text) - tokens.begin());
}

}  // namespace

TokenizedText truncated(TokenizedText text, std::size_t most, TruncateSide side) {
  if (text.size() <= most) {
    return text;
  }
  // The indices of the removable tokens of each text.
  const std::size_t second = second_text(text.tokens);
  std::array<std::vector<std::size_t>, 2> places;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!text.tokens[i].added) {
      places[i < second ? 0 : 1].push_back(i);
    }
  }
  std::array<std::size_t, 2> kept = {places[0].size(), places[1].size()};
  const std::size_t added = text.size() - kept[0] - kept[1];
  if (added > most) {
    throw Error(ErrorKind::kUsage, fmt::format("the tokenizer adds {}, more than the {} that fit",
                                               counted(added, "token"), most));
  }
  const std::size_t room = most - added;
  while (kept[0] + kept[1] > room) {
    --kept[kept[0] > kept[1] ? 0 : 1];
  }
  std::vector<bool> leaves(text.size(), false);
  for (std::size_t part = 0; part < places.size(); ++part) {
    const std::size_t gone = places[part].size() - kept[part];
    const std::size_t first = side == TruncateSide::kLeft ? 0 : kept[part];
    for (std::size_t i = first; i < first + gone; ++i) {
      leaves[places[part][i]] = true;
    }
  }
  std::vector<Token> tokens;
  tokens.reserve(most);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!leaves[i]) {
      tokens.push_back(std::move(text.tokens[i]));
    }
  }
  text.tokens = std::move(tokens);
  return text;
}

}  // namespace attnviz
