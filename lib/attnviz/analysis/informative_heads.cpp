#include "attnviz/analysis/informative_heads.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "attnviz/core/exact_sum.h"
#include "attnviz/core/utf8.h"
#include "attnviz/kernels/row_kernels.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

constexpr double kLeastScore = 0.1;

// Rounds as pool_sums() does.
double rounded(float weight) {
  return coarsened(static_cast<double>(weight));
}

// The mean of the other terms of a sum.
double mean_of_others(double sum, std::size_t count, float own) {
  return count > 1 ? (sum - rounded(own)) / static_cast<double>(count - 1) : 0.0;
}

}  // namespace

bool InformativeHead::qualifies() const noexcept {
  return score >= kLeastScore || evidence != Evidence::kScore;
}

bool InformativeHead::is_before(const InformativeHead& other) const noexcept {
  const bool knows_context = head.layer > 0 && qualifies();
  const bool other_knows = other.head.layer > 0 && other.qualifies();
  if (knows_context != other_knows) {
    return knows_context;
  }
  if (evidence != other.evidence) {
    return evidence > other.evidence;
  }
  const auto strength =
      evidence == Evidence::kScore ? &InformativeHead::score : &InformativeHead::excess;
  return this->*strength != other.*strength ? this->*strength > other.*strength : head < other.head;
}

InformativeHeads::InformativeHeads(const std::vector<HeadId>& heads, const Visibility& visibility,
                                   std::size_t n_queries, std::size_t n_keys, bool of_two_texts)
    : visibility_(visibility),
      n_queries_(n_queries),
      n_keys_(n_keys),
      same_tokens_(n_queries == n_keys && !of_two_texts),
      n_row_(n_queries),
      n_column_(n_keys) {
  std::vector<std::ptrdiff_t> begins(n_keys + 1);
  std::vector<std::size_t> n_near(n_keys);
  for (std::size_t query = 0; query < n_queries; ++query) {
    n_row_[query] = visibility.n_visible(query, 0, n_keys);
    visibility.each_range(query, n_keys, [&begins](std::size_t first_key, std::size_t end_key) {
      ++begins[first_key];
      --begins[end_key];
    });
    for (std::size_t key = query - std::min<std::size_t>(query, 1);
         same_tokens_ && key < std::min(query + 2, n_keys); ++key) {
      n_near[key] += visibility.visible(query, key) ? 1u : 0u;
    }
    for (std::size_t step = 0; same_tokens_ && step < kSteps.size(); ++step) {
      const std::size_t key = query + static_cast<std::size_t>(kSteps[step]);  // wraps below 0
      n_step_[step] += key > 0 && key < n_keys && visibility.visible(query, key) ? 1u : 0u;
    }
  }
  std::ptrdiff_t n_seeing = 0;
  for (std::size_t key = 0; key < n_keys; ++key) {
    n_seeing += begins[key];
    n_column_[key] = static_cast<std::size_t>(n_seeing) - n_near[key];
  }
  for (const HeadId head : heads) {
    heads_.try_emplace(head).first->second.result.head = head;
  }
}

void InformativeHeads::judge(Judge judge) {
  judge_ = std::move(judge);
}

double InformativeHeads::bytes(std::size_t n_heads, std::size_t n_tokens) noexcept {
  return static_cast<double>(n_heads) * static_cast<double>(n_tokens) *
         static_cast<double>(sizeof(Top) + sizeof(double));
}

bool InformativeHeads::near(std::size_t query, std::size_t key) const noexcept {
  return same_tokens_ && key + 1 >= query && key <= query + 1;
}

InformativeHeads::Top InformativeHeads::top_of(std::size_t query, std::size_t first_key,
                                               ConstMatrix row) const {
  Top top;
  const std::size_t end_key = first_key + row.cols;
  const auto look_at = [&](std::size_t begin, std::size_t end) {
    begin = std::max(begin, first_key);
    end = std::min(end, end_key);
    if (begin >= end) {
      return;
    }
    const ConstMatrix part = row.col_block(begin - first_key, end - begin);
    float largest = top.weight;
    kernels::pool_largest(part, 0, part.cols, std::span(&largest, 1));
    if (largest > top.weight) {
      const std::span<const float> weights = part.row(0);
      const auto found = std::find(weights.begin(), weights.end(), largest);
      top = {largest,
             static_cast<std::uint32_t>(begin + static_cast<std::size_t>(found - weights.begin()))};
    }
  };
  if (!same_tokens_) {
    look_at(1, n_keys_);
  } else {
    look_at(1, query - std::min<std::size_t>(query, 1));
    look_at(std::max<std::size_t>(query + 2, 1), n_keys_);
  }
  return top;
}

void InformativeHeads::rows(HeadId head, std::size_t first_query, std::size_t first_key,
                            ConstMatrix weights) {
  Head& to = heads_.at(head);
  {
    const std::scoped_lock lock(lock_of(head));
    to.tops.resize(n_queries_);
    to.columns.resize(n_keys_);
  }
  std::vector<double> columns(weights.cols);
  kernels::pool_sums(weights, 0, 1, columns);
  StepSums steps{};
  const std::size_t end_key = first_key + weights.cols;
  for (std::size_t i = 0; i < weights.rows; ++i) {
    const std::size_t query = first_query + i;
    to.tops[query] = top_of(query, first_key, weights.row_block(i, 1));
    if (!same_tokens_) {
      continue;
    }
    for (std::size_t key = std::max(query - std::min<std::size_t>(query, 1), first_key);
         key < std::min(query + 2, end_key); ++key) {
      columns[key - first_key] -= rounded(weights(i, key - first_key));
    }
    for (std::size_t step = 0; step < kSteps.size(); ++step) {
      const std::size_t key = query + static_cast<std::size_t>(kSteps[step]);  // wraps below 0
      if (key > 0 && key >= first_key && key < end_key) {
        steps[step] += rounded(weights(i, key - first_key));
      }
    }
  }
  const std::scoped_lock lock(lock_of(head));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    to.columns[first_key + i] += columns[i];
  }
  for (std::size_t step = 0; step < kSteps.size(); ++step) {
    to.steps[step] += steps[step];
  }
  to.n_rows += weights.rows;
  if (to.n_rows == n_queries_) {
    to.result = scored(head, to);
    std::vector<Top>().swap(to.tops);  // not = {}, which keeps the memory
    std::vector<double>().swap(to.columns);
  }
}

double InformativeHeads::baseline(const Head& head, std::size_t query) const {
  const Top top = head.tops[query];
  const auto beside = [&](std::size_t other) {
    const bool is_alike = other < n_queries_ && head.tops[other].key == top.key;
    return is_alike ? static_cast<double>(head.tops[other].weight) : 0.0;
  };
  const std::size_t n_seen = std::max<std::size_t>(n_row_[query], 1);
  double expected = std::max(1.0 / static_cast<double>(n_seen),
                             mean_of_others(head.columns[top.key], n_column_[top.key], top.weight));
  if (same_tokens_) {
    expected = std::max(expected, (beside(query - 1) + beside(query + 1)) / 2.0);  // -1 wraps
  }
  for (std::size_t step = 0; same_tokens_ && step < kSteps.size(); ++step) {
    if (query + static_cast<std::size_t>(kSteps[step]) == top.key) {
      expected = std::max(expected, mean_of_others(head.steps[step], n_step_[step], top.weight));
    }
  }
  return expected;
}

std::mutex& InformativeHeads::lock_of(HeadId head) noexcept {
  constexpr std::size_t kSpread = 31;
  return locks_[(head.layer * kSpread + head.head) % locks_.size()];
}

InformativeHead InformativeHeads::score(HeadId head) const {
  return heads_.at(head).result;
}

InformativeHead InformativeHeads::scored(HeadId id, const Head& from) const {
  InformativeHead result;
  result.head = id;
  constexpr double kSpeaking = 0.5;
  for (std::size_t query = 0; query < n_queries_; ++query) {
    std::size_t n_far = n_row_[query] - (visibility_.visible(query, 0) ? 1u : 0u);
    for (std::size_t key = std::max<std::size_t>(query, 2) - 1; key < std::min(query + 2, n_keys_);
         ++key) {
      n_far -= near(query, key) && visibility_.visible(query, key) ? 1u : 0u;
    }
    if (n_far == 0) {
      continue;
    }
    ++result.n_counted;
    const Top top = from.tops[query];
    if (!(top.weight > 0.0f)) {
      continue;
    }
    const double excess = static_cast<double>(top.weight) - baseline(from, query);
    result.share += static_cast<double>(top.weight);
    result.score += std::max(0.0, excess);
    const Evidence evidence =
        judge_ && excess >= kSpeaking ? judge_(query, top.key) : Evidence::kScore;
    if (std::pair(evidence, excess) > std::pair(result.evidence, result.excess)) {
      result.evidence = evidence;
      result.excess = excess;
      result.query = query;
      result.key = top.key;
      result.weight = top.weight;
    }
  }
  const double n = static_cast<double>(std::max<std::size_t>(result.n_counted, 1));
  result.score /= n;
  result.share /= n;
  return result;
}

InformativeHead InformativeHeads::best() const {
  const InformativeHead* best = &heads_.begin()->second.result;
  for (const auto& [id, head] : heads_) {
    best = head.result.is_before(*best) ? &head.result : best;
  }
  return *best;
}

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

// Sorted.
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

// In lower case, up to an apostrophe, without punctuation around it: "it" for " It's" and for
// "(it,". Empty for invalid UTF-8.
std::string bare_word(std::string_view word) {
  constexpr char32_t kApostrophe = 0x2019;
  word = without_spaces_before(word);
  std::string lower;
  std::size_t end = 0;  // after the last character that is not punctuation
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

// <|bos|>, <0x0A> and [SEP] are names of tokens; marks of white space are not words.
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
