// Runs a model and scores its heads. The numbers of TransformerLens' detect_head(), for those who
// compare with them.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/exact_sum.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// A detection pattern P of 0 and 1.
enum class DetectionPattern {
  kPrevious,   // k = q - 1
  kDuplicate,  // k < q with t_k = t_q
  kInduction,  // the same one key to the right: k <= q, where k = q counts
};

inline constexpr std::array kDetectionPatterns = {
    Choice{"previous_token_head", DetectionPattern::kPrevious},
    Choice{"duplicate_token_head", DetectionPattern::kDuplicate},
    Choice{"induction_head", DetectionPattern::kInduction}};

/// What detect_head(error_measure, exclude_bos, exclude_current_token) returns for one head.
struct DetectOptions {
  bool exclude_bos = false;
  bool exclude_current_token = false;
};

/// Of one head with attention A, over all n rows: a perfect previous-token head has (n - 1) / n.
struct DetectedHead {
  std::optional<double> mul;  // sum of A P / sum of A; nothing where all of A is excluded
  double abs = 0.0;           // 1 - sum of |A - P| / n rounded to three decimals
};

/// The sums that they are made of, while causal rows come.
///
/// Source  TransformerLens, transformer_lens/head_detector.py. Excluding zeroes column 0 or the
///         diagonal, of A for `mul` and of |A - P| for `abs`. What it does to its caller's cache is
///         not done here: the order of calls changes nothing.
class DetectHead : public PatternSink {
 public:
  /// `tokens`, with ids, must outlive it; heads without repeats.
  DetectHead(const std::vector<HeadId>& heads, const ScoredTokens& tokens);

  bool wants(HeadId head) const override { return heads_.contains(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  /// Of a wanted head, once all of its rows have come.
  DetectedHead detected(HeadId head, DetectionPattern pattern, const DetectOptions& options) const;

 private:
  // Sums over four kinds of entries: neither column 0 nor diagonal, either of them, both.
  struct Sums {
    std::array<ExactSum, 4> attention;               // A
    std::array<std::array<ExactSum, 4>, 3> product;  // A P, by pattern
    std::array<std::array<ExactSum, 4>, 3> apart;    // |A - P| where P is 1

    void add(const Sums& other);
  };
  struct Head {
    std::mutex mutex;
    Sums sums;
  };

  void add_row(Sums& sums, std::size_t query, std::size_t first_key,
               std::span<const float> weights) const;

  const ScoredTokens& tokens_;
  std::map<HeadId, std::unique_ptr<Head>> heads_;
};

/// TransformerLens' numbers of one head: by pattern, then without and with exclude_bos, and of
/// either without and with exclude_current_token.
using DetectedScores = std::array<std::array<DetectedHead, 4>, kDetectionPatterns.size()>;

DetectOptions detect_options(std::size_t index) noexcept;
DetectedScores detected_scores(const DetectHead& detect, HeadId head);

/// What the heads of one text score, in the order they were given.
struct TextScores {
  std::vector<ScoreValues> raw;
  std::vector<ScoreValues> weighted;  // by transformed values, as HeadScores has it
  std::vector<DetectedScores> detected;
};

struct ScoreRequest {
  AttentionRequest attention;
  bool weighted = true;
  bool detect = false;
};

/// `tokens` are those of the text; heads without repeats. Throws what run() throws.
TextScores score_heads(const Model& model, const TokenizedText& text, const ScoredTokens& tokens,
                       const std::vector<HeadId>& heads, const ScoreRequest& request);

// Whether heads copy: what they write of the tokens that they look at, by their weights alone.

/// Σλ / Σ|λ| over the eigenvalues λ of W_E W_V W_O W_U [n_vocab, n_vocab] of each head: 1 where
/// what it looks at becomes more probable, -1 where less. Nothing where all are 0; empty when the
/// model has no such product: no embeddings of ids, no unembedding, or more than sums and the last
/// norm between them (BERT).
///
/// Norms on the way are folded in, up to their scale: the weights of the one that reads, of one
/// behind attention and of the last, and of LayerNorms that the mean is taken out. Biases,
/// positions and soft caps are left out. Throws Error{kMalformed} when a product is not finite.
///
/// Source  Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", from the
///         [d_value, d_value] matrix W_O W_U W_E W_V, which has the same eigenvalues but for zeros.
std::vector<std::optional<double>> copying_scores(const Model& model,
                                                  const std::vector<HeadId>& heads,
                                                  std::size_t n_threads);

/// The standard deviation of random heads' scores, whose mean is 0: measured for 8, 32 and 64.
inline double random_copying_sd(std::size_t d_value) noexcept {
  return 1.7 / static_cast<double>(d_value);
}

// How much of each token a head would pass on: the norm of its transformed value.

/// Whether gates open contexts, which differ from query to query.
bool has_output_gates(const Model& model) noexcept;

/// What is said where they are left out.
inline constexpr const char* kGatesLeftOut =
    "norms of values leave out the output gates, which differ from query to query";

/// ‖f(x_k)‖₂ with f(x) = (x̂ W_V + b_V) W_O of one head, where x̂ is what the attention of its layer
/// looks at; b_O belongs to no head. Without W_O: the norm of the value. An output
/// gate is a query's, and belongs to no key: it is left out. Known of a head when its rows come.
///
/// Source  Kobayashi et al. 2020, "Attention is Not Only a Weight", eq. 4.
class ValueNorms : public RunObserver {
 public:
  /// Hands weights to `patterns`; the model must outlive it too. Heads without repeats.
  ValueNorms(const Model& model, const std::vector<HeadId>& heads, std::size_t n_threads,
             PatternSink& patterns);

  bool wants_values(HeadId head) const override { return norms_.contains(head); }
  void values(std::size_t layer, std::span<const HeadValues> heads) override;

  /// [n_tokens] of a head whose weights come.
  std::span<const double> of(HeadId head) const { return norms_.at(head); }

 private:
  const Model& model_;
  std::size_t n_threads_;
  std::map<HeadId, std::vector<double>> norms_;
  // f(x) of one head, a thread each; kept for the next one, or the system would clear memory again
  // and again.
  std::vector<MatrixBuffer> transformed_;
};

}  // namespace attnviz
