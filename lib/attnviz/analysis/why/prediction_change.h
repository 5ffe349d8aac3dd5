// How a change of a run affects the prediction. What a prediction owes to each span of the text:
// runs in which later tokens do not see the span. What a prediction owes to each head, each layer's
// attention and each MLP: runs without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attnviz/analysis/analysis_requests.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// How a change of the run affects the prediction after the last token. KL divergences are in bits
/// and at least 0.
struct PredictionChange {
  double log_probability = 0.0;  // of the target: new minus old, nats
  double kl_bits = 0.0;          // KL(unchanged ‖ changed) after the last token
  double kl_bits_mean = 0.0;     // its mean over all tokens
  ProbableToken top;             // the most probable token after the change
};

/// The prediction of the unchanged run, with which changed runs are compared.
class UnchangedPrediction {
 public:
  /// `last` [n_tokens, d_model] is the output of the last layer. Keeps all logits, [n_tokens,
  /// n_vocab]. `model` must outlive it. Throws Error{kUsage} for a target outside the vocabulary,
  /// and what run_output_head() throws.
  UnchangedPrediction(const Model& model, ConstMatrix last, std::uint32_t target,
                      std::size_t n_threads);

  /// Returns the change of each run whose last layer outputs n_tokens rows of `lasts`, [n_runs ·
  /// n_tokens, d_model]. Throws what run_output_head() throws.
  std::vector<PredictionChange> changes_to(ConstMatrix lasts);

  /// How many short runs are best compared at once: their logits are one product.
  std::size_t runs_at_once() const noexcept;

  /// Estimated bytes, with as many runs as are compared at once.
  static double bytes(const Model& model, std::size_t n_tokens) noexcept;

 private:
  const Model& model_;
  std::uint32_t target_;
  std::size_t n_threads_;
  MatrixBuffer logits_, memory_;
  std::vector<double> log_sums_;  // by token
};

/// ln p of the target, for each row of the last layer's output, [last.rows]. Throws as
/// UnchangedPrediction() does.
std::vector<double> log_probabilities(const Model& model, ConstMatrix last, std::uint32_t target,
                                      std::size_t n_threads);

/// Tokens [begin, end).
struct TokenSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// For each span, returns by how much the target's log-probability after the last token changes
/// (new minus old, nats) if every query after the span loses the span's keys, in every layer and
/// head. Absent for a span that includes the last token, since no query follows it. All tokens keep
/// their positions, and those in the span still see each other. Parts that request.interventions
/// remove are removed in all runs.
///
/// Unless tokens look ahead or layers have states, only the tokens after a span run again.
/// request.report gets the share of finished spans.
///
/// Throws Error{kUsage} for a span outside the text or a target outside the vocabulary,
/// Error{kUnsupported} for a model that predicts nothing, and what run() throws.
std::vector<std::optional<double>> leave_one_out(const Model& model, const TokenizedText& text,
                                                 const AttentionRequest& request,
                                                 std::uint32_t target,
                                                 std::span<const TokenSpan> spans);

struct AblationEffect {
  Ablation what;
  PredictionChange change;
};

/// Ablates each part alone, at every position. Results are in the order of `parts`, then by layer,
/// then head. Parts that request.interventions ablate stay ablated in all runs, in their own way
/// (by 0 or by their mean), and also in the run that changes are measured against: ablating one of
/// them again changes nothing, by exactly 0. Means come from a run without ablations, as in an
/// Intervener.
///
/// Nothing changes below a part, so only its layer and those above it run again. request.report
/// gets the share of finished parts.
///
/// Throws Error{kUsage} for a target outside the vocabulary, Error{kUnsupported} for a model that
/// predicts nothing, and what run() throws.
std::vector<AblationEffect> ablate_each(const Model& model, const TokenizedText& text,
                                        const AttentionRequest& request, std::uint32_t target,
                                        std::span<const AblatedPart> parts, bool by_mean);

/// Estimates the bytes that ablate_each() takes at most, in addition to the model.
double ablation_bytes(const Model& model, std::size_t n_tokens);

// What an answer rests on: how much it loses when its tokens cannot see a span of the prompt.

/// The effect of one span on the whole answer.
struct SpanEffect {
  // The change with the span hidden: below 0, the answer needs the span. Absent if nothing can be
  // hidden, since the span is just the one query that predicts the answer.
  std::optional<double> log_probability_change = {};
  double attention = 0.0;  // to the span, averaged over all layers, heads and queries
  std::optional<double> chosen_attention = {};  // over chosen heads; absent: none chosen
};

struct Citation {
  std::vector<double> token_log_probabilities;  // [n_answer], each given all tokens before it
  std::vector<SpanEffect> spans;
  // The change with all spans hidden at once; absent if nothing in any of them can be hidden.
  std::optional<double> change_without_all = {};

  /// The log-probability of the whole answer.
  double log_probability() const noexcept;
};

/// Measures what the answer `ids`[n_prompt, …) owes to spans of the prompt `ids`[0, n_prompt)
/// before it. Log-probabilities are natural; changes are new - old, in nats.
///
/// The queries that predict the answer, from the prompt's last token to the answer's last but one,
/// lose the span's keys in every layer and head, except their own; their weights are shared among
/// the keys they still see. The prompt's keys and values stay, including what its tokens have read
/// before, so each span costs one pass over the answer alone. The attention of `chosen` heads is
/// also reported by itself. The model, `request` and its interventions are the same in every pass:
/// means that replace ablated parts are taken over prompt and answer.
///
/// Source  attention knockout: Geva et al. 2023, "Dissecting Recall of Factual Associations".
///
/// Throws Error{kUsage} without a prompt or an answer, for spans that are empty or not within the
/// prompt, and for ids and heads that the model does not have; and what Decoding throws.
/// request.report gets the share of finished work.
Citation cite(const Model& model, std::span<const std::uint32_t> ids, std::size_t n_prompt,
              std::span<const IndexRange> spans, const AttentionRequest& request,
              std::span<const HeadId> chosen = {});

/// Estimates the bytes that cite() takes.
double citation_bytes(const Model& model, std::size_t n_tokens);

}  // namespace attnviz
