// Scores of heads from their rows of weights, the means of scores over texts, and the names that
// heads get from their scores.
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

/// One number that describes a head's pattern A [query, key] over n tokens. V(q) are the keys that
/// q may see, v(q) is their number, and t_k is the token at k.
///
/// A mean runs over the queries that have a choice (v(q) >= 2) and whose row contains the keys in
/// question, so that a perfect head scores its ceiling at any length. If no query qualifies, the
/// score is absent.
enum class Score {
  kPrevious,  // mean of A[q][q - 1]
  kSelf,      // mean of A[q][q]
  kFirst,     // mean of A[q][0]

  // α_k is the mean of A[q][k] over all q that see k, including those without a choice. Source: Gu
  // et al. 2024, "When Attention Sink Emerges in Language Models".
  kSinkAlpha,  // α_0
  kSinkKey,  // the k with the largest α_k, the first of equals, among keys seen by at least half as
             // many queries as the most widely seen key: only one query sees the last key
  kSinkAlphaMax,  // that α_k

  kDuplicate,  // mean of the sum over earlier keys k with t_k = t_q
  // Olsson et al. 2022, "In-context Learning and Induction Heads": keys k < q that follow a token
  // t_(k-1) equal to t_q.
  kInduction,        // mean of the sum over these keys
  kInductionLatest,  // mean of A at the key after the latest earlier t_q
  kPrefixMatching,   // mean over all these entries (q, k)

  kEntropyBits,      // mean of -sum A log2 A. Source: Clark et al. 2019, section 3.3
  kEntropyFraction,  // mean of the same divided by log2 v(q)

  // In tokens. Source: Vig and Belinkov 2019.
  kDistanceMean,       // mean of sum A |q - k|
  kDistanceMax,        // the largest of these sums
  kDistanceOfLargest,  // mean of |q - k| of the row's largest weight, the first of equals

  kConfidence,   // mean of the row's largest weight. Source: Voita et al. 2019, section 4
  kBand,         // mean of the sum over |q - k| <= band, of queries that see a key farther away
  kPunctuation,  // mean of the sum over punctuation, of queries that see it and other keys
  kJsUniform,    // mean Jensen-Shannon divergence, in bits, from uniform weights on V(q)

  // On a probe of two copies: the share of the first copy's tokens that get the head's largest
  // weight just before they are repeated. Source: Wu et al. 2024, "Retrieval Head Mechanistically
  // Explains Long-Context Factuality", with the answer forced.
  kRetrieval,

  kLearnedSink,  // mean, over all queries, of the weight that goes to no key, for heads with a
                 // learned logit for it (gpt-oss); all other scores use the keys' weights unchanged
};

/// Every score and its name in documents.
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

/// The scores of one head; absent where no query is eligible.
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

/// A name, and the score that a head needs for it.
struct HeadName {
  std::string_view name;
  Score score;
  double at_least;
  double largest_random;  // largest score of 4,352 heads of random models, means of four probes
  std::string_view does;  // in words, after "it"

  bool is_earned_by(const ScoreValues& scores) const noexcept {
    return scores[score].value_or(0.0) >= at_least;
  }
};

/// Heads are named on probes only: on an ordinary text, a handful of eligible queries decides. None
/// of the random heads above gets a name (95 % upper bound: 0.07 % per name).
inline constexpr std::array kHeadNames = {
    HeadName{"previous-token", Score::kPrevious, 0.4, 0.081, "looks at the previous token"},
    HeadName{"current-token", Score::kSelf, 0.6, 0.110, "looks at the token itself"},
    HeadName{"duplicate-token", Score::kDuplicate, 0.3, 0.072,
             "looks at earlier copies of the token"},
    HeadName{"induction", Score::kInduction, 0.3, 0.079,
             "looks at what followed earlier copies of the token"},
    HeadName{"sink", Score::kSinkAlpha, 0.4, 0.289, "puts its weight on the first token"}};

/// The texts on which the bounds of names were measured: about four probes of 25 tokens, repeated 4
/// times.
inline constexpr std::size_t kShortestNamedProbe = 100;
inline constexpr std::size_t kUsualProbes = 4;

/// The HeadName with this name; null if none has it.
const HeadName* head_name_called(std::string_view name) noexcept;

/// The literature counts heads with an α_0 above this as sinks (Gu et al. 2024, ε); with a causal
/// mask, a uniform head exceeds it below ten tokens.
inline constexpr double kSinkEpsilon = 0.3;

/// A mean over texts.
struct Estimate {
  double mean = 0.0;
  std::optional<double> sem;  // standard error: s / √n; absent for fewer than two texts
  std::size_t n = 0;          // texts that have the score
};

/// The scores of some heads over texts. The sums do not depend on the order of the texts, or on
/// which of them were added up elsewhere.
class ScoreMeans {
 public:
  struct Sums {
    ExactSum value, square;
    std::size_t n = 0;

    bool operator==(const Sums&) const = default;
  };

  explicit ScoreMeans(std::size_t n_heads) : sums_(n_heads * kScoreNames.size()) {}

  /// Adds one more text, [n_heads].
  void add(std::span<const ScoreValues> heads);
  /// Adds the texts of another ScoreMeans with as many heads.
  void add(const ScoreMeans& other);

  std::size_t n_texts() const noexcept { return n_texts_; }
  /// The sums of one score so far, for saving and resuming.
  const Sums& sums(std::size_t head, Score score) const {
    return sums_[head * kScoreNames.size() + static_cast<std::size_t>(score)];
  }
  void restore(std::size_t head, Score score, const Sums& sums) {
    sums_[head * kScoreNames.size() + static_cast<std::size_t>(score)] = sums;
  }
  void restore_texts(std::size_t n_texts) noexcept { n_texts_ = n_texts; }
  bool operator==(const ScoreMeans&) const = default;
  /// The mean of one score; absent if no text has it.
  std::optional<Estimate> estimate(std::size_t head, Score score) const;
  /// Returns all means of a head.
  ScoreValues means(std::size_t head) const;

 private:
  std::vector<Sums> sums_;
  std::size_t n_texts_ = 0;
};

/// Tokens to either side that Score::kBand counts.
inline constexpr std::size_t kUsualBand = 4;

/// What scores need to know about a text's tokens.
class ScoredTokens {
 public:
  /// The first copy of tokens that are repeated directly after it: [begin, begin + size).
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

  /// These throw Error{kUsage} for an index that is not a token's.
  explicit ScoredTokens(std::vector<TokenId> ids) : ScoredTokens(std::move(ids), Options()) {}
  ScoredTokens(std::vector<TokenId> ids, Options options);
  /// Tokens without ids: scores that compare tokens are left out.
  ScoredTokens(std::size_t n_tokens, Options options);

  std::size_t size() const noexcept { return n_tokens_; }
  bool has_ids() const noexcept { return !latest_.empty(); }
  /// Where the same token last occurred before `token`; kNone if it did not.
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

/// The tokens that are punctuation: one or more characters, all of Unicode's category P, apart from
/// a space mark before them. Indices, in rising order.
std::vector<std::size_t> punctuation_of(const TokenizedText& text);

/// Sums over the rows of one pattern. They are exact, and therefore the same in any order.
class ScoreTally {
 public:
  /// `tokens` must outlive it.
  ScoreTally(const ScoredTokens& tokens, Visibility visibility);
  /// For rows with weights on the keys [first_key, first_key + n_keys) alone, to be added to a
  /// tally of all keys.
  ScoreTally(const ScoredTokens& tokens, Visibility visibility, std::size_t first_key,
             std::size_t n_keys);

  /// Adds the row of one query, each query once: weights of the keys from `first_key` on; all
  /// others are 0. Throws Error{kMalformed} for a weight that is below 0, above 2^24 or NaN.
  void add(std::size_t query, std::size_t first_key, std::span<const double> weights);
  /// Adds the weights that some queries give to a learned sink, each query once. Throws as add().
  void add_sinks(std::span<const float> weights);
  /// Adds a tally of other rows of the same pattern.
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

/// Scores heads while their rows arrive.
class HeadScores : public PatternSink {
 public:
  /// ‖f(x_k)‖ of each key [n_tokens], for a head whose rows have begun to arrive.
  using KeyNorms = std::function<std::span<const double>(HeadId)>;

  /// `visibility_of` is called once per head. With `norms`, each weight is multiplied by the norm
  /// of its key's transformed value, and rows are rescaled to sum to 1, before scoring (Kobayashi
  /// et al. 2020, "Attention is Not Only a Weight"). `tokens` must outlive it; heads without
  /// repeats.
  HeadScores(const std::vector<HeadId>& heads, const ScoredTokens& tokens,
             const std::function<Visibility(HeadId)>& visibility_of, KeyNorms norms = {});

  bool wants(HeadId head) const override { return heads_.contains(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;
  /// A sink has no value: scores weighted by norms leave it out.
  void sinks(HeadId head, std::size_t first_query, std::span<const float> weights) override;

  /// The scores of a wanted head, once all of its rows have arrived. They do not depend on threads.
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

/// The scores of a head that gives the same weight to all keys it may see.
ScoreValues uniform_scores(const ScoredTokens& tokens, const Visibility& visibility);

}  // namespace attnviz
