// Scores of heads, from their rows of weights.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "attnviz/analysis/heads/score_means.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/visibility.h"
#include "attnviz/core/exact_sum.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Tokens to either side that Score::kBand counts.
inline constexpr std::size_t kUsualBand = 4;

/// What scores ask of a text's tokens.
class ScoredTokens {
 public:
  /// A first copy of tokens that is said again: [begin, begin + size), and right behind it.
  struct Copied {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  struct Options {
    std::size_t band = kUsualBand;
    std::vector<std::size_t> punctuation = {};  // indices of tokens
    std::optional<Copied> copied = {};
  };

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// These throw Error{kUsage} for an index that is none of a token.
  explicit ScoredTokens(std::vector<TokenId> ids) : ScoredTokens(std::move(ids), Options()) {}
  ScoredTokens(std::vector<TokenId> ids, Options options);
  /// Tokens without ids: no score that asks whether two are the same.
  ScoredTokens(std::size_t n_tokens, Options options);

  std::size_t size() const noexcept { return n_tokens_; }
  bool has_ids() const noexcept { return !latest_.empty(); }
  /// Where the same token stood last before `token`; kNone where it did not.
  std::size_t latest(std::size_t token) const noexcept { return latest_[token]; }
  bool is_punctuation(std::size_t token) const noexcept { return punctuation_[token]; }
  const std::vector<std::size_t>& punctuation() const noexcept { return options_.punctuation; }
  std::size_t band() const noexcept { return options_.band; }
  const std::optional<Copied>& copied() const noexcept { return options_.copied; }
  const std::vector<TokenId>& ids() const noexcept { return ids_; }

 private:
  std::size_t n_tokens_;
  Options options_;
  std::vector<TokenId> ids_;
  std::vector<std::size_t> latest_;
  std::vector<bool> punctuation_;
};

/// The tokens that are punctuation: one or more characters of Unicode's category P and no other,
/// but for the space mark before them. Indices, in rising order.
std::vector<std::size_t> punctuation_of(const TokenizedText& text);

/// Sums over the rows of one pattern, exact and so the same in any order.
class ScoreTally {
 public:
  /// `tokens` must outlive it.
  ScoreTally(const ScoredTokens& tokens, Visibility visibility);
  /// Of rows that have weights on the keys [first_key, first_key + n_keys) alone, to be added to
  /// one of all.
  ScoreTally(const ScoredTokens& tokens, Visibility visibility, std::size_t first_key,
             std::size_t n_keys);

  /// The row of one query, each once: weights of the keys from `first_key` on; all others are 0.
  /// Throws Error{kMalformed} for a weight below 0, above 2^24 or that is no number.
  void add(std::size_t query, std::size_t first_key, std::span<const double> weights);
  /// What some queries give to a learned sink, each once. Throws as add().
  void add_sinks(std::span<const float> weights);
  /// Those of a tally of other rows of the same pattern.
  void add(const ScoreTally& other);

  ScoreValues values() const;

 private:
  struct Mean {
    ExactSum sum;
    std::size_t count = 0;

    void add(double value) noexcept {
      sum.add(value);
      ++count;
    }
  };

  struct Row;
  bool sees_farther_than_band(std::size_t query) const;
  double band_of(const Row& row) const;
  void add_repetitions(const Row& row);
  void add_shape(const Row& row);
  void add_punctuation(const Row& row);
  Mean& mean(Score score) noexcept { return means_[static_cast<std::size_t>(score)]; }
  std::vector<std::size_t> n_seeing() const;

  const ScoredTokens* tokens_;
  Visibility visibility_;
  std::array<Mean, kScoreNames.size()> means_;
  double largest_distance_ = 0.0;
  std::size_t first_key_;
  std::vector<ExactSum> key_sums_;  // of weights on each key, from first_key_ on
};

/// Scores of heads, while their rows come.
class HeadScores : public PatternSink {
 public:
  /// ‖f(x_k)‖ of each key [n_tokens] of a head, which has begun.
  using KeyNorms = std::function<std::span<const double>(HeadId)>;

  /// `visibility_of` is asked once a head. `norms`, where there are such: what is scored is each
  /// weight times the norm of its key's transformed value, rows made to sum to 1 again (Kobayashi
  /// et al. 2020, "Attention is Not Only a Weight"). `tokens` must outlive it; heads without
  /// repeats.
  HeadScores(const std::vector<HeadId>& heads, const ScoredTokens& tokens,
             const std::function<Visibility(HeadId)>& visibility_of, KeyNorms norms = {});

  bool wants(HeadId head) const override { return heads_.contains(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;
  /// A sink's value is nothing: what is scored by norms leaves it out.
  void sinks(HeadId head, std::size_t first_query, std::span<const float> weights) override;

  /// Of a wanted head, once all of its rows have come: the same whatever threads brought them.
  ScoreValues scores(HeadId head) const { return heads_.at(head)->tally.values(); }

 private:
  struct Head {
    std::mutex mutex;
    ScoreTally tally;
    Visibility visibility;
  };

  const ScoredTokens& tokens_;
  KeyNorms norms_;
  std::map<HeadId, std::unique_ptr<Head>> heads_;
};

/// Of a head that looks at all keys that it may see alike.
ScoreValues uniform_scores(const ScoredTokens& tokens, const Visibility& visibility);

}  // namespace attnviz
