#include "attnviz/analysis/heads/head_scores.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/kernels/row_kernels.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

// The space mark at the start of a piece: a space, SentencePiece's mark, or the letter for its
// byte.
std::string_view without_space(std::string_view piece) noexcept {
  for (const std::string_view mark : {" ", "\u2581", "\u0120"}) {
    if (piece.starts_with(mark)) {
      return piece.substr(mark.size());
    }
  }
  return piece;
}

// 1 / (1 - rate) for the largest dropout rate below 1 that a float can hold.
constexpr double kLargestWeight = 16777216.0;

}  // namespace

const HeadName* head_name_called(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kHeadNames, name, &HeadName::name);
  return found == kHeadNames.end() ? nullptr : found;
}

std::vector<std::size_t> punctuation_of(const TokenizedText& text) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Token& token = text.tokens[i];
    if (!token.special && is_all_punctuation(without_space(token.text))) {
      found.push_back(i);
    }
  }
  return found;
}

ScoredTokens::ScoredTokens(std::size_t n_tokens, Options options)
    : n_tokens_(n_tokens), options_(std::move(options)), punctuation_(n_tokens) {
  for (const std::size_t token : options_.punctuation) {
    if (token >= n_tokens_) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("punctuation {}: expected an index below {}", token, n_tokens_),
                  "punctuation");
    }
    punctuation_[token] = true;
  }
  options_.punctuation.clear();
  for (std::size_t token = 0; token < n_tokens_; ++token) {  // in order, without repeats
    if (punctuation_[token]) {
      options_.punctuation.push_back(token);
    }
  }
}

ScoredTokens::ScoredTokens(std::vector<TokenId> ids, Options options)
    : ScoredTokens(ids.size(), std::move(options)) {
  ids_ = std::move(ids);
  std::map<TokenId, std::size_t> last;
  for (std::size_t i = 0; i < n_tokens_; ++i) {
    const auto [place, is_new] = last.try_emplace(ids_[i], i);
    latest_.push_back(is_new ? kNone : place->second);
    place->second = i;
  }
}

struct ScoreTally::Row {
  std::size_t query;
  std::size_t first_key;
  std::span<const double> weights;
  std::size_t n_visible;

  std::size_t end_key() const noexcept { return first_key + weights.size(); }
  double on(std::size_t key) const noexcept {
    return key >= first_key && key < end_key() ? weights[key - first_key] : 0.0;
  }
  std::size_t distance(std::size_t key) const noexcept {
    return key < query ? query - key : key - query;
  }
};

ScoreTally::ScoreTally(const ScoredTokens& tokens, Visibility visibility)
    : ScoreTally(tokens, std::move(visibility), 0, tokens.size()) {}

ScoreTally::ScoreTally(const ScoredTokens& tokens, Visibility visibility, std::size_t first_key,
                       std::size_t n_keys)
    : tokens_(&tokens),
      visibility_(std::move(visibility)),
      first_key_(first_key),
      key_sums_(n_keys) {}

void ScoreTally::add(std::size_t query, std::size_t first_key, std::span<const double> weights) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0.0 && weights[i] <= kLargestWeight)) {
      throw Error(ErrorKind::kMalformed,
                  fmt::format("query {}, key {}: expected a weight from 0 to 2^24, found {}", query,
                              first_key + i, weights[i]));
    }
    key_sums_[first_key - first_key_ + i].add(weights[i]);
  }
  const Row row{query, first_key, weights, visibility_.n_visible(query, 0, tokens_->size())};
  constexpr std::size_t kChoice = 2;
  if (row.n_visible < kChoice) {
    return;
  }
  add_shape(row);
  if (tokens_->has_ids()) {
    add_repetitions(row);
  }
  if (!tokens_->punctuation().empty()) {
    add_punctuation(row);
  }
}

void ScoreTally::add_shape(const Row& row) {
  const std::size_t query = row.query;
  if (query >= 1 && visibility_.visible(query, query - 1)) {
    mean(Score::kPrevious).add(row.on(query - 1));
  }
  if (visibility_.visible(query, query)) {
    mean(Score::kSelf).add(row.on(query));
  }
  if (visibility_.visible(query, 0)) {
    mean(Score::kFirst).add(row.on(0));
  }
  const double even = 1.0 / static_cast<double>(row.n_visible);
  // Invisible keys have no weight.
  const kernels::EntropySums logs = kernels::entropy_sums(row.weights, even);
  double distance = 0.0;
  std::size_t largest = visibility_.first_key(query);
  double most_weight = row.on(largest);
  for (std::size_t i = 0; i < row.weights.size(); ++i) {
    const double weight = row.weights[i];
    const std::size_t key = row.first_key + i;
    distance += weight * static_cast<double>(row.distance(key));
    if (weight > most_weight) {
      largest = key;
      most_weight = weight;
    }
  }
  const double most = -std::log2(even);
  const double mixed =
      logs.mixed_bits + static_cast<double>(row.n_visible - logs.count) * even / 2.0 * (most + 1.0);
  mean(Score::kEntropyBits).add(logs.bits);
  mean(Score::kEntropyFraction).add(logs.bits / most);
  mean(Score::kJsUniform).add(std::max(mixed - (logs.bits + most) / 2.0, 0.0));
  mean(Score::kDistanceMean).add(distance);
  largest_distance_ = std::max(largest_distance_, distance);
  mean(Score::kDistanceOfLargest).add(static_cast<double>(row.distance(largest)));
  mean(Score::kConfidence).add(row.on(largest));
  if (sees_farther_than_band(query)) {
    mean(Score::kBand).add(band_of(row));
  }
  const auto& copied = tokens_->copied();
  if (copied && query + 1 >= copied->begin + copied->size &&
      query + 1 < copied->begin + 2 * copied->size) {
    mean(Score::kRetrieval).add(largest + copied->size == query + 1 ? 1.0 : 0.0);
  }
}

bool ScoreTally::sees_farther_than_band(std::size_t query) const {
  const std::size_t band = tokens_->band();
  return visibility_.n_visible(query, 0, query - std::min(query, band)) > 0 ||
         visibility_.n_visible(query, query + band + 1, tokens_->size()) > 0;
}

double ScoreTally::band_of(const Row& row) const {
  const std::size_t band = tokens_->band();
  double sum = 0.0;
  for (std::size_t key = row.query - std::min(row.query, band);
       key < std::min(row.end_key(), row.query + band + 1); ++key) {
    sum += row.on(key);
  }
  return sum;
}

void ScoreTally::add_repetitions(const Row& row) {
  const std::size_t query = row.query;
  double duplicate = 0.0, induction = 0.0;
  std::size_t n_duplicates = 0, n_inductions = 0;
  const std::size_t latest = tokens_->latest(query);
  const std::size_t first_seen = visibility_.first_key(query);
  for (std::size_t key = latest; key != ScoredTokens::kNone && key + 1 >= first_seen;
       key = tokens_->latest(key)) {
    if (visibility_.visible(query, key)) {
      duplicate += row.on(key);
      ++n_duplicates;
    }
    if (key + 1 < query && visibility_.visible(query, key + 1)) {
      induction += row.on(key + 1);
      ++n_inductions;
    }
  }
  if (n_duplicates > 0) {
    mean(Score::kDuplicate).add(duplicate);
  }
  if (n_inductions > 0) {
    mean(Score::kInduction).add(induction);
    Mean& entries = mean(Score::kPrefixMatching);
    entries.sum.add(induction);
    entries.count += n_inductions;
  }
  if (latest != ScoredTokens::kNone && latest + 1 < query &&
      visibility_.visible(query, latest + 1)) {
    mean(Score::kInductionLatest).add(row.on(latest + 1));
  }
}

void ScoreTally::add_punctuation(const Row& row) {
  double sum = 0.0;
  std::size_t n_seen = 0;
  const std::vector<std::size_t>& all = tokens_->punctuation();
  const std::size_t end = visibility_.end_key(row.query, tokens_->size());
  for (auto key = std::ranges::lower_bound(all, visibility_.first_key(row.query));
       key != all.end() && *key < end; ++key) {
    if (visibility_.visible(row.query, *key)) {
      sum += row.on(*key);
      ++n_seen;
    }
  }
  if (n_seen > 0 && n_seen < row.n_visible) {
    mean(Score::kPunctuation).add(sum);
  }
}

void ScoreTally::add_sinks(std::span<const float> weights) {
  for (const float weight : weights) {
    if (!(weight >= 0.0f && double{weight} <= kLargestWeight)) {
      throw Error(ErrorKind::kMalformed,
                  fmt::format("learned sink: expected a weight from 0 to 2^24, found {}", weight));
    }
    mean(Score::kLearnedSink).add(static_cast<double>(weight));
  }
}

void ScoreTally::add(const ScoreTally& other) {
  for (std::size_t i = 0; i < means_.size(); ++i) {
    means_[i].sum.add(other.means_[i].sum);
    means_[i].count += other.means_[i].count;
  }
  largest_distance_ = std::max(largest_distance_, other.largest_distance_);
  for (std::size_t i = 0; i < other.key_sums_.size(); ++i) {
    key_sums_[other.first_key_ - first_key_ + i].add(other.key_sums_[i]);
  }
}

// How many queries see each key.
std::vector<std::size_t> ScoreTally::n_seeing() const {
  const std::size_t n = tokens_->size();
  std::vector<std::size_t> steps(n + 1);  // changes of the count at each key, modulo 2^64
  for (std::size_t query = 0; query < n; ++query) {
    visibility_.each_range(query, n, [&](std::size_t first_key, std::size_t end_key) {
      if (!visibility_.mask().has_gaps()) {
        ++steps[first_key];
        --steps[end_key];
        return;
      }
      for (std::size_t key = first_key; key < end_key; ++key) {
        if (visibility_.mask().visible(query, key)) {
          ++steps[key];
          --steps[key + 1];
        }
      }
    });
  }
  std::partial_sum(steps.begin(), steps.end(), steps.begin());
  steps.pop_back();
  return steps;
}

ScoreValues ScoreTally::values() const {
  ScoreValues values;
  for (const auto& [key, score] : kScoreNames) {
    if (const Mean& mean = means_[static_cast<std::size_t>(score)]; mean.count > 0) {
      values[score] = mean.sum.value() / static_cast<double>(mean.count);
    }
  }
  if (values[Score::kDistanceMean]) {
    values[Score::kDistanceMax] = largest_distance_;
  }
  const std::vector<std::size_t> counts = n_seeing();
  const std::size_t most = counts.empty() ? 0 : std::ranges::max(counts);
  for (std::size_t key = 0; key < counts.size(); ++key) {
    if (counts[key] == 0) {
      continue;
    }
    const double alpha = key_sums_[key].value() / static_cast<double>(counts[key]);
    if (key == 0) {
      values[Score::kSinkAlpha] = alpha;
    }
    if (2 * counts[key] >= most && alpha > values[Score::kSinkAlphaMax].value_or(-1.0)) {
      values[Score::kSinkAlphaMax] = alpha;
      values[Score::kSinkKey] = static_cast<double>(key);
    }
  }
  return values;
}

HeadScores::HeadScores(const std::vector<HeadId>& heads, const ScoredTokens& tokens,
                       const std::function<Visibility(HeadId)>& visibility_of, KeyNorms norms)
    : tokens_(tokens), norms_(std::move(norms)) {
  for (const HeadId head : heads) {
    const Visibility seen = visibility_of(head);
    heads_.emplace(head, std::unique_ptr<Head>(new Head{{}, ScoreTally(tokens, seen), seen}));
  }
}

void HeadScores::rows(HeadId id, std::size_t first_query, std::size_t first_key,
                      ConstMatrix weights) {
  Head& head = *heads_.at(id);
  ScoreTally block(tokens_, head.visibility, first_key, weights.cols);
  std::vector<double> row(weights.cols);
  for (std::size_t i = 0; i < weights.rows; ++i) {
    std::ranges::copy(weights.row(i), row.begin());
    if (norms_) {
      const std::span<const double> norms = norms_(id).subspan(first_key, row.size());
      std::ranges::transform(row, norms, row.begin(), std::multiplies());
      const double sum = std::accumulate(row.begin(), row.end(), 0.0);
      if (sum == 0.0) {
        continue;  // these keys pass nothing on
      }
      std::ranges::transform(row, row.begin(), [sum](double share) { return share / sum; });
    }
    block.add(first_query + i, first_key, row);
  }
  const std::scoped_lock lock(head.mutex);
  head.tally.add(block);
}

void HeadScores::sinks(HeadId id, std::size_t /*first_query*/, std::span<const float> weights) {
  if (norms_) {
    return;
  }
  Head& head = *heads_.at(id);
  const std::scoped_lock lock(head.mutex);
  head.tally.add_sinks(weights);
}

ScoreValues uniform_scores(const ScoredTokens& tokens, const Visibility& visibility) {
  ScoreTally tally(tokens, visibility);
  const std::size_t n = tokens.size();
  for (std::size_t query = 0; query < n; ++query) {
    const std::size_t first = visibility.first_key(query);
    std::vector<double> row(visibility.end_key(query, n) - first);
    const double even =
        1.0 / static_cast<double>(std::max<std::size_t>(visibility.n_visible(query, 0, n), 1));
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = visibility.visible(query, first + i) ? even : 0.0;
    }
    tally.add(query, first, row);
  }
  return tally.values();
}

void ScoreMeans::add(std::span<const ScoreValues> heads) {
  for (std::size_t head = 0; head < heads.size(); ++head) {
    for (const auto& [key, score] : kScoreNames) {
      if (const std::optional<double>& value = heads[head][score]) {
        // The sum must have room for its square as well.
        constexpr double kLargest = 268435456.0;
        if (!(std::abs(*value) < kLargest)) {
          throw Error(
              ErrorKind::kMalformed,
              fmt::format("score {}: expected a number below 2^28, found {:.4g}", key, *value));
        }
        Sums& sums = sums_[head * kScoreNames.size() + static_cast<std::size_t>(score)];
        sums.value.add(*value);
        sums.square.add(*value * *value);
        ++sums.n;
      }
    }
  }
  ++n_texts_;
}

void ScoreMeans::add(const ScoreMeans& other) {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    sums_[i].value.add(other.sums_[i].value);
    sums_[i].square.add(other.sums_[i].square);
    sums_[i].n += other.sums_[i].n;
  }
  n_texts_ += other.n_texts_;
}

std::optional<Estimate> ScoreMeans::estimate(std::size_t head, Score score) const {
  const Sums& of = sums(head, score);
  if (of.n == 0) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(of.n);
  Estimate estimate{of.value.value() / n, std::nullopt, of.n};
  if (of.n > 1) {
    const double deviations = of.square.value() - n * estimate.mean * estimate.mean;
    estimate.sem = std::sqrt(std::max(deviations, 0.0) / (n - 1.0) / n);
  }
  return estimate;
}

ScoreValues ScoreMeans::means(std::size_t head) const {
  ScoreValues values;
  for (const auto& [key, score] : kScoreNames) {
    if (const auto found = estimate(head, score)) {
      values[score] = found->mean;
    }
  }
  return values;
}

}  // namespace attnviz
