#include "attnviz/analysis/pronouns.h"

#include <algorithm>
#include <iterator>

#include "attnviz/core/utf8.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

constexpr std::string_view kPronouns[] = {"it", "he", "she", "they", "him", "her", "them"};

// In order.
constexpr std::string_view kFunctionWords[] = {
    "a",          "about",  "above",    "across",     "after",   "again",   "against", "all",
    "along",      "also",   "although", "always",     "am",      "an",      "and",     "another",
    "any",        "anyone", "anything", "are",        "around",  "as",      "at",      "be",
    "because",    "been",   "before",   "behind",     "being",   "below",   "between", "beyond",
    "both",       "but",    "by",       "can",        "cannot",  "could",   "did",     "do",
    "does",       "down",   "during",   "each",       "even",    "ever",    "every",   "everyone",
    "everything", "few",    "for",      "from",       "had",     "has",     "have",    "he",
    "her",        "hers",   "herself",  "him",        "himself", "his",     "how",     "i",
    "if",         "in",     "into",     "is",         "it",      "its",     "itself",  "just",
    "least",      "less",   "many",     "may",        "me",      "might",   "mine",    "more",
    "most",       "much",   "must",     "my",         "myself",  "near",    "never",   "no",
    "nobody",     "nor",    "not",      "nothing",    "now",     "of",      "off",     "often",
    "on",         "once",   "only",     "or",         "other",   "our",     "ours",    "ourselves",
    "out",        "over",   "own",      "same",       "shall",   "she",     "should",  "since",
    "so",         "some",   "someone",  "something",  "such",    "than",    "that",    "the",
    "their",      "theirs", "them",     "themselves", "then",    "there",   "these",   "they",
    "this",       "those",  "though",   "through",    "to",      "too",     "toward",  "towards",
    "under",      "unless", "until",    "up",         "upon",    "us",      "very",    "was",
    "we",         "were",   "what",     "when",       "where",   "whether", "which",   "while",
    "who",        "whom",   "whose",    "why",        "will",    "with",    "within",  "without",
    "would",      "you",    "your",     "yours",      "yourself"};
static_assert(std::ranges::is_sorted(kFunctionWords));

constexpr std::string_view kSpaces[] = {" ", "\u2581", "\u0120"};
constexpr std::string_view kLineEnd = "\u010a";  // of byte-level tokenizers

// In lower case, up to an apostrophe, without punctuation around it: "it" of " It's" and of "(it,".
// Empty for what is no UTF-8.
std::string bare_word(std::string_view word) {
  constexpr char32_t kApostrophe = 0x2019;
  word = without_spaces_before(word);
  std::string lower;
  std::size_t end = 0;  // of the last that is no punctuation
  for (std::size_t i = 0; i < word.size() && word[i] != '\'';) {
    const CodePoint point = decode_utf8(word, i);
    if (point.valid && point.value == kApostrophe) {
      break;
    }
    if (!point.valid) {
      return {};
    }
    i += point.length;
    const bool is_plain = !is_punctuation(point.value);
    if (is_plain || !lower.empty()) {
      append_lower(lower, point.value);
    }
    end = is_plain ? lower.size() : end;
  }
  lower.resize(end);
  return lower;
}

// <|bos|>, <0x0A> and [SEP] are names, and signs of white space no words.
bool is_sign(std::string_view token) {
  token = without_spaces_before(token);
  const auto is_between = [token](char first, char last) {
    return token.size() > 1 && token.front() == first && token.back() == last;
  };
  return is_between('<', '>') || is_between('[', ']') ||
         token.find_first_not_of(kLineEnd) == std::string_view::npos ||
         std::find(std::begin(kSpaces), std::end(kSpaces), token) != std::end(kSpaces);
}

}  // namespace

std::string_view without_spaces_before(std::string_view token) {
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
  return has_letter(lower) && !is_negated && !is_sign(word) &&
         !std::binary_search(std::begin(kFunctionWords), std::end(kFunctionWords), lower);
}

}  // namespace attnviz
