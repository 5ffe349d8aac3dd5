#include "attnviz/analysis/expected_looks.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "attnviz/core/utf8.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

LookScore mean_of(LookScore sum) {
  const auto n = static_cast<double>(std::max<std::size_t>(sum.n_looks, 1));
  sum.weight /= n;
  sum.rival /= n;
  return sum;
}

bool is_won(std::span<const float> row, const ExpectedLook& look) {
  if (look.rival) {
    return row[look.key] > row[*look.rival];
  }
  return std::max_element(row.begin(), row.end()) == row.begin() + static_cast<long>(look.key);
}

}  // namespace

std::vector<ExpectedLook> previous_looks(std::size_t n_tokens) {
  std::vector<ExpectedLook> looks;
  looks.reserve(n_tokens);
  for (std::size_t query = 1; query < n_tokens; ++query) {
    looks.push_back({query, query - 1});
  }
  return looks;
}

std::vector<ExpectedLook> induction_looks(std::span<const TokenId> ids) {
  std::vector<ExpectedLook> looks;
  looks.reserve(ids.size());
  std::map<TokenId, std::size_t> last;
  for (std::size_t query = 0; query < ids.size(); ++query) {
    if (const auto before = last.find(ids[query]); before != last.end()) {
      looks.push_back({query, before->second + 1});
    }
    last[ids[query]] = query;
  }
  return looks;
}

LookScores::LookScores(const std::vector<HeadId>& heads) {
  sums_.reserve(heads.size());
  for (const HeadId head : heads) {
    sums_.push_back({head});
  }
}

void LookScores::add(const PatternStore& patterns, std::span<const ExpectedLook> looks) {
  for (LookScore& sum : sums_) {
    const ConstMatrix pattern = patterns.pattern(sum.head);
    for (const ExpectedLook& look : looks) {
      const std::span<const float> row = pattern.row(look.query);
      sum.weight += static_cast<double>(row[look.key]);
      sum.rival += look.rival ? static_cast<double>(row[*look.rival]) : 0.0;
      sum.n_won += is_won(row, look) ? 1U : 0U;
      ++sum.n_looks;
    }
  }
}

LookScore LookScores::score(HeadId head) const {
  const auto found = std::find_if(sums_.begin(), sums_.end(),
                                  [head](const LookScore& sum) { return sum.head == head; });
  return found == sums_.end() ? LookScore{head} : mean_of(*found);
}

LookScore LookScores::best() const {
  const auto best =
      std::min_element(sums_.begin(), sums_.end(), [](const LookScore& a, const LookScore& b) {
        const double difference = (a.weight - a.rival) - (b.weight - b.rival);
        return difference != 0.0 ? difference > 0.0 : a.head < b.head;
      });
  return mean_of(*best);
}

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
