// Scores of heads from their rows of weights, their means over texts, and the names that heads get
// by them.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/visibility.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/exact_sum.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// What one number says of a head's pattern A [query, key] over n tokens. V(q) are the keys that q
/// may see, v(q) how many; t_k is the token at k.
///
/// A mean runs over the queries that had a choice (v(q) >= 2) and in whose row the thing looked for
/// exists, so that a perfect head scores its ceiling at any length. There is no score where no
/// query is one of these.
enum class Score {
  kPrevious,  // mean of A[q][q - 1]
  kSelf,      // mean of A[q][q]
  kFirst,     // mean of A[q][0]

  // α_k is the mean of A[q][k] over all q that see k, also those without a choice. Source: Gu et
  // al. 2024, "When Attention Sink Emerges in Language Models".
  kSinkAlpha,     // α_0
  kSinkKey,       // the k with the largest α_k, the first of equals, among keys that at least half
                  // as many queries see as see the one that most see: the last key is seen by one
  kSinkAlphaMax,  // that α_k

  kDuplicate,  // mean of the sum over earlier keys k with t_k = t_q
  // Olsson et al. 2022, "In-context Learning and Induction Heads": keys k < q behind a token
  // t_(k-1) that is t_q.
  kInduction,        // mean of the sum over these keys
  kInductionLatest,  // of the key behind the latest earlier t_q alone
  kPrefixMatching,   // mean over all these entries (q, k)

  kEntropyBits,      // mean of -sum A log2 A. Source: Clark et al. 2019, section 3.3
  kEntropyFraction,  // mean of the same over log2 v(q)

  // In tokens. Source: Vig and Belinkov 2019.
  kDistanceMean,       // mean of sum A |q - k|
  kDistanceMax,        // the largest of these sums
  kDistanceOfLargest,  // mean of |q - k| of the row's largest weight, the first of equals

  kConfidence,   // mean of the row's largest weight. Source: Voita et al. 2019, section 4
  kBand,         // mean of the sum over |q - k| <= band, of queries that see a key farther away
  kPunctuation,  // mean of the sum over punctuation, of queries that see such keys and others
  kJsUniform,    // mean Jensen-Shannon divergence, in bits, from uniform weights on V(q)

  // On a probe of two copies: the share of the first copy's tokens that are the head's largest
  // weight where they are to be said again. Source: Wu et al. 2024, "Retrieval Head Mechanistically
  // Explains Long-Context Factuality", with the answer forced.
  kRetrieval,

  kLearnedSink,  // mean, over all queries, of what goes to no key, of heads with a learned logit
                 // for that (gpt-oss); all other scores are of the keys' weights as they are
};

/// Every score and what documents call it.
inline constexpr std::array kScoreNames = {Choice{"previous", Score::kPrevious},
                                           Choice{"self", Score::kSelf},
                                           Choice{"first", Score::kFirst},
                                           Choice{"sink_alpha", Score::kSinkAlpha},
                                           Choice{"sink_key", Score::kSinkKey},
                                           Choice{"sink_alpha_max", Score::kSinkAlphaMax},
                                           Choice{"duplicate", Score::kDuplicate},
                                           Choice{"induction", Score::kInduction},
                                           Choice{"induction_latest", Score::kInductionLatest},
                                           Choice{"prefix_matching", Score::kPrefixMatching},
                                           Choice{"entropy_bits", Score::kEntropyBits},
                                           Choice{"entropy_fraction", Score::kEntropyFraction},
                                           Choice{"distance_mean", Score::kDistanceMean},
                                           Choice{"distance_max", Score::kDistanceMax},
                                           Choice{"distance_of_largest", Score::kDistanceOfLargest},
                                           Choice{"confidence", Score::kConfidence},
                                           Choice{"band", Score::kBand},
                                           Choice{"punctuation", Score::kPunctuation},
                                           Choice{"js_uniform_bits", Score::kJsUniform},
                                           Choice{"retrieval", Score::kRetrieval},
                                           Choice{"learned_sink", Score::kLearnedSink}};

/// The scores of one head; nothing where no query is eligible.
class ScoreValues {
 public:
  std::optional<double>& operator[](Score score) noexcept {
    return values_[static_cast<std::size_t>(score)];
  }
  const std::optional<double>& operator[](Score score) const noexcept {
    return values_[static_cast<std::size_t>(score)];
  }

 private:
  std::array<std::optional<double>, kScoreNames.size()> values_;
};

/// A name, and the score that earns it.
struct HeadName {
  std::string_view name;
  Score score;
  double at_least;
  double largest_random;  // the largest score of 4,352 heads of random models, means of four probes
  std::string_view does;  // in words, after "it"

  bool is_earned_by(const ScoreValues& scores) const noexcept {
    return scores[score].value_or(0.0) >= at_least;
  }
};

/// Names are earned on probes only: on a text a handful of eligible queries decides. None of the
/// random heads above earns one (95 % upper bound: 0.07 % a name).
inline constexpr std::array kHeadNames = {
    HeadName{"previous-token", Score::kPrevious, 0.4, 0.081, "looks at the token before"},
    HeadName{"current-token", Score::kSelf, 0.6, 0.110, "looks at the token itself"},
    HeadName{"duplicate-token", Score::kDuplicate, 0.3, 0.072,
             "looks at earlier copies of the token"},
    HeadName{"induction", Score::kInduction, 0.3, 0.079,
             "looks at what followed earlier copies of the token"},
    HeadName{"sink", Score::kSinkAlpha, 0.4, 0.289, "leaves its weight on the first token"}};

/// What the bounds of names were measured on, about: four probes of 25 tokens, 4 times.
inline constexpr std::size_t kShortestNamedProbe = 100;
inline constexpr std::size_t kUsualProbes = 4;

/// The name with these letters; null where there is none.
const HeadName* head_name_called(std::string_view name) noexcept;

/// Heads with an α_0 above this are counted as sinks in the literature (Gu et al. 2024, ε); with a
/// causal mask a uniform head passes it below ten tokens.
inline constexpr double kSinkEpsilon = 0.3;

/// A mean over texts.
struct Estimate {
  double mean = 0.0;
  std::optional<double> sem;  // standard error: s / √n; nothing of fewer than two texts
  std::size_t n = 0;          // texts that have the score
};

/// The scores of some heads over texts: sums that are the same whatever order texts come in, and
/// whichever were added up elsewhere.
class ScoreMeans {
 public:
  struct Sums {
    ExactSum value, square;
    std::size_t n = 0;

    bool operator==(const Sums&) const = default;
  };

  explicit ScoreMeans(std::size_t n_heads) : sums_(n_heads * kScoreNames.size()) {}

  /// One more text, [n_heads].
  void add(std::span<const ScoreValues> heads);
  /// The texts of another of as many heads.
  void add(const ScoreMeans& other);

  std::size_t n_texts() const noexcept { return n_texts_; }
  /// What has been added up of one score, to be kept and gone on with.
  const Sums& sums(std::size_t head, Score score) const {
    return sums_[head * kScoreNames.size() + static_cast<std::size_t>(score)];
  }
  void restore(std::size_t head, Score score, const Sums& sums) {
    sums_[head * kScoreNames.size() + static_cast<std::size_t>(score)] = sums;
  }
  void restore_texts(std::size_t n_texts) noexcept { n_texts_ = n_texts; }
  bool operator==(const ScoreMeans&) const = default;
  /// Nothing where no text has the score.
  std::optional<Estimate> estimate(std::size_t head, Score score) const;
  /// All means of a head.
  ScoreValues means(std::size_t head) const;

 private:
  std::vector<Sums> sums_;
  std::size_t n_texts_ = 0;
};

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
