// Runs a model and scores its heads. The numbers of TransformerLens' detect_head(), for comparison
// with that library.
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

/// A detection pattern P of zeros and ones.
enum class DetectionPattern {
  kPrevious,   // k = q - 1
  kDuplicate,  // k < q with t_k = t_q
  kInduction,  // the same, one key to the right: k <= q, and k = q counts
};

inline constexpr std::array kDetectionPatterns = {
    Choice{"previous_token_head", DetectionPattern::kPrevious},
    Choice{"duplicate_token_head", DetectionPattern::kDuplicate},
    Choice{"induction_head", DetectionPattern::kInduction}};

/// The options exclude_bos and exclude_current_token of detect_head().
struct DetectOptions {
  bool exclude_bos = false;
  bool exclude_current_token = false;
};

/// What detect_head() returns for one head with attention A, for either error_measure. Taken over
/// all n rows: a perfect previous-token head scores (n - 1) / n.
struct DetectedHead {
  std::optional<double> mul;  // sum of A P / sum of A; absent if all of A is excluded
  double abs = 0.0;           // 1 - sum of |A - P| / n rounded to three decimals
};

/// Adds up the sums for DetectedHead while causal rows arrive.
///
/// Source  TransformerLens, transformer_lens/head_detector.py. Excluding zeroes column 0 or the
///         diagonal: of A for `mul`, of |A - P| for `abs`. Unlike the original, this leaves the
///         caller's cache alone, so the order of calls does not matter.
class DetectHead : public PatternSink {
 public:
  /// `tokens`, with ids, must outlive it; heads without repeats.
  DetectHead(const std::vector<HeadId>& heads, const ScoredTokens& tokens);

  bool wants(HeadId head) const override { return heads_.contains(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  /// The numbers of a wanted head, once all of its rows have arrived.
  DetectedHead detected(HeadId head, DetectionPattern pattern, const DetectOptions& options) const;

 private:
  // Sums over four kinds of entries: outside column 0 and the diagonal, in one of them, in both.
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

/// TransformerLens' numbers of one head: by pattern, then by the index of detect_options(), in
/// which bit 0 is exclude_bos and bit 1 is exclude_current_token.
using DetectedScores = std::array<std::array<DetectedHead, 4>, kDetectionPatterns.size()>;

DetectOptions detect_options(std::size_t index) noexcept;
DetectedScores detected_scores(const DetectHead& detect, HeadId head);

/// The scores of the heads on one text, in the order in which the heads were given.
struct TextScores {
  std::vector<ScoreValues> raw;
  std::vector<ScoreValues> weighted;  // by the norms of transformed values, as in HeadScores
  std::vector<DetectedScores> detected;
};

struct ScoreRequest {
  AttentionRequest attention;
  bool weighted = true;
  bool detect = false;
};

/// Runs the model on a text and scores heads. `tokens` are the text's; heads without repeats.
/// Throws what run() throws.
TextScores score_heads(const Model& model, const TokenizedText& text, const ScoredTokens& tokens,
                       const std::vector<HeadId>& heads, const ScoreRequest& request);

// Whether heads copy: what they write about the tokens they attend to, from their weights alone.

/// Returns Σλ / Σ|λ| over the eigenvalues λ of W_E W_V W_O W_U [n_vocab, n_vocab] of each head: 1
/// if the tokens it attends to become more probable, -1 if less. Absent if all λ are 0. The vector
/// is empty if the model does not have this product: no embeddings of ids, no unembedding, or more
/// than sums and the last norm between them (BERT).
///
/// Norms on the way are folded in, except for their scale: the weights of the norm before
/// attention, of one after it and of the last norm; LayerNorms also subtract the mean. Biases,
/// positions and soft caps are left out. Throws Error{kMalformed} if a product is not finite.
///
/// Source  Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", from the
///         [d_value, d_value] matrix W_O W_U W_E W_V, which has the same eigenvalues except for
///         zeros.
std::vector<std::optional<double>> copying_scores(const Model& model,
                                                  const std::vector<HeadId>& heads,
                                                  std::size_t n_threads);

/// The standard deviation of random heads' scores, which have mean 0: measured for d_value 8, 32
/// and 64.
inline double random_copying_sd(std::size_t d_value) noexcept {
  return 1.7 / static_cast<double>(d_value);
}

// How much of each token a head would pass on: the norm of its transformed value.

/// Whether the model has output gates, which scale contexts differently for each query.
bool has_output_gates(const Model& model) noexcept;

/// The note shown where these gates are left out.
inline constexpr const char* kGatesLeftOut =
    "value norms do not include the output gates, which differ between queries";

/// ‖f(x_k)‖₂ with f(x) = (x̂ W_V + b_V) W_O of one head, where x̂ is the input of its layer's
/// attention; b_O belongs to no head. Without W_O: the norm of the value. An output gate belongs to
/// a query and not to a key, so it is left out. A head's norms are available when its rows arrive.
///
/// Source  Kobayashi et al. 2020, "Attention is Not Only a Weight", eq. 4.
class ValueNorms : public RunObserver {
 public:
  /// Passes weights on to `patterns`, which must outlive this, as must the model. Heads without
  /// repeats.
  ValueNorms(const Model& model, const std::vector<HeadId>& heads, std::size_t n_threads,
             PatternSink& patterns);

  bool wants_values(HeadId head) const override { return norms_.contains(head); }
  void values(std::size_t layer, std::span<const HeadValues> heads) override;

  /// [n_tokens], for a head whose weights are arriving.
  std::span<const double> of(HeadId head) const { return norms_.at(head); }

 private:
  const Model& model_;
  std::size_t n_threads_;
  std::map<HeadId, std::vector<double>> norms_;
  // f(x) of one head, one per thread. Kept for the next head, since the system would otherwise
  // clear fresh memory each time.
  std::vector<MatrixBuffer> transformed_;
};

}  // namespace attnviz
