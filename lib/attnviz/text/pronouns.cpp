#include "attnviz/text/pronouns.h"

#include <algorithm>
#include <iterator>

#include "attnviz/core/utf8.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

constexpr std::string_view kPronouns[] = {"it", "he", "she", "they", "him", "her", "them"};

// In order.
constexpr std::string_view kFunctionWords[] = {
    "a",      "about",  "after", "again", "also",  "although", "always",  "am",      "an",
    "and",    "any",    "are",   "as",    "at",    "be",       "because", "been",    "before",
    "behind", "being",  "below", "but",   "by",    "can",      "cannot",  "could",   "did",
    "do",     "does",   "down",  "each",  "even",  "ever",     "every",   "for",     "from",
    "had",    "has",    "have",  "he",    "her",   "hers",     "him",     "his",     "how",
    "i",      "if",     "in",    "into",  "is",    "it",       "its",     "just",    "may",
    "me",     "might",  "mine",  "must",  "my",    "near",     "never",   "no",      "nor",
    "not",    "now",    "of",    "off",   "often", "on",       "only",    "or",      "our",
    "ours",   "out",    "over",  "shall", "she",   "should",   "since",   "so",      "some",
    "such",   "than",   "that",  "the",   "their", "theirs",   "them",    "then",    "there",
    "they",   "though", "to",    "too",   "under", "unless",   "until",   "up",      "us",
    "very",   "was",    "we",    "were",  "what",  "when",     "where",   "whether", "which",
    "while",  "who",    "whom",  "whose", "why",   "will",     "with",    "without", "would",
    "you",    "your",   "yours"};
static_assert(std::ranges::is_sorted(kFunctionWords));

// In lower case, up to an apostrophe: "it" of " It's". Empty for what is no UTF-8.
std::string bare_word(std::string_view word) {
  constexpr char32_t kApostrophe = 0x2019;
  word = without_spaces_before(word);
  std::string lower;
  for (std::size_t i = 0; i < word.size() && word[i] != '\'';) {
    const CodePoint point = decode_utf8(word, i);
    if (point.valid && point.value == kApostrophe) {
      break;
    }
    if (!point.valid) {
      return {};
    }
    append_lower(lower, point.value);
    i += point.length;
  }
  return lower;
}

}  // namespace

std::string_view without_spaces_before(std::string_view token) {
  constexpr std::string_view kSpaces[] = {" ", "\u2581", "\u0120"};
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (const std::string_view space : kSpaces) {
      if (token.size() > space.size() && token.starts_with(space)) {
        token.remove_prefix(space.size());
        is_done = false;
      }
    }
  }
  return token;
}

std::string pronoun_of(std::string_view word) {
  std::string lower = bare_word(word);
  const bool is_one =
      std::find(std::begin(kPronouns), std::end(kPronouns), lower) != std::end(kPronouns);
  return is_one ? lower : std::string();
}

bool is_content_word(std::string_view word) {
  const std::string lower = bare_word(word);
  const bool is_negated = word.ends_with("n't") || word.ends_with("n\u2019t");
  return has_letter(lower) && !is_negated &&
         !std::binary_search(std::begin(kFunctionWords), std::end(kFunctionWords), lower);
}

}  // namespace attnviz
