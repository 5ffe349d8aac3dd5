// What a change of a run does to what is predicted. What a prediction owes to each stretch of the
// text: runs in which later tokens do not see it. What a prediction owes to each head, each layer's
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

/// What a change of the run does to the prediction behind the last token. KL divergences are in
/// bits and at least 0.
struct PredictionChange {
  double log_probability = 0.0;  // of the target: new minus old, nats
  double kl_bits = 0.0;          // KL(unchanged ‖ changed) behind the last token
  double kl_bits_mean = 0.0;     // its mean over all tokens
  ProbableToken top;             // the most probable one now
};

/// What the unchanged run predicts, for changed ones to be held against.
class UnchangedPrediction {
 public:
  /// `last` [n_tokens, d_model] is what leaves the last layer. Keeps all logits, [n_tokens,
  /// n_vocab]. `model` must outlive it. Throws Error{kUsage} for a target outside of the vocabulary
  /// and what run_output_head() throws.
  UnchangedPrediction(const Model& model, ConstMatrix last, std::uint32_t target,
                      std::size_t n_threads);

  /// Of each run whose last layer gives n_tokens rows of `lasts`, [n_runs · n_tokens, d_model].
  /// Throws what run_output_head() throws.
  std::vector<PredictionChange> changes_to(ConstMatrix lasts);

  /// How many short ones are best told at once: their logits are one product.
  std::size_t runs_at_once() const noexcept;

  /// Bytes that it takes, with as many runs as are told at once; an estimate.
  static double bytes(const Model& model, std::size_t n_tokens) noexcept;

 private:
  const Model& model_;
  std::uint32_t target_;
  std::size_t n_threads_;
  MatrixBuffer logits_, memory_;
  std::vector<double> log_sums_;  // by token
};

/// ln p of the target for each row of what leaves the last layer, [last.rows]. Throws as
/// UnchangedPrediction() does.
std::vector<double> log_probabilities(const Model& model, ConstMatrix last, std::uint32_t target,
                                      std::size_t n_threads);

/// Tokens [begin, end).
struct TokenSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// For each span, by how much the target's log-probability behind the last token changes (new minus
/// old, nats) when in every layer and head every query behind the span loses its keys; nothing for
/// a span that reaches the last token, which no query is behind. All tokens keep their places, and
/// those in the span still see each other. What request.interventions leave out is left out in all
/// runs.
///
/// Of a model whose tokens do not look ahead, only the tokens behind a span run again.
/// request.report is told the share of the spans that are done.
///
/// Throws Error{kUsage} for a span that is none of the text's or a target outside of the
/// vocabulary, Error{kUnsupported} for a model that predicts nothing, and what run() throws.
std::vector<std::optional<double>> leave_one_out(const Model& model, const TokenizedText& text,
                                                 const AttentionRequest& request,
                                                 std::uint32_t target,
                                                 std::span<const TokenSpan> spans);

struct AblationEffect {
  Ablation what;
  PredictionChange change;
};

/// Each part taken out alone, at every position: in the order of `parts`, then by layer, then head.
/// What request.interventions take out stays out in all runs, as they have it (0 or its mean), the
/// run that changes are measured against among them: a part that is out already changes nothing, by
/// exactly 0. Means are those of a run without any, as an Intervener's.
///
/// Below a part nothing changes, so only its layer and those above it run again.
/// request.report is told the share of the parts that are done.
///
/// Throws Error{kUsage} for a target outside of the vocabulary, Error{kUnsupported} for a model
/// that predicts nothing, and what run() throws.
std::vector<AblationEffect> ablate_each(const Model& model, const TokenizedText& text,
                                        const AttentionRequest& request, std::uint32_t target,
                                        std::span<const AblatedPart> parts, bool by_mean);

/// Bytes that it takes at most, beside the model; an estimate.
double ablation_bytes(const Model& model, std::size_t n_tokens);

// What an answer rests on: what it loses when its tokens cannot see a span of the prompt.

/// One span, for all of the answer.
struct SpanEffect {
  // Of the answer that cannot look at the span: below 0 it is needed. Absent: nothing of it can be
  // hidden, for it is only the one query that predicts the answer.
  std::optional<double> log_probability_change = {};
  double attention = 0.0;  // to the span: the mean over all layers, heads and queries
  std::optional<double> chosen_attention = {};  // the mean over chosen heads; absent: none chosen
};

struct Citation {
  std::vector<double> token_log_probabilities;  // [n_answer], each given all tokens before it
  std::vector<SpanEffect> spans;
  // Of all spans at once; absent: nothing of any of them can be hidden.
  std::optional<double> change_without_all = {};

  /// Of the whole answer.
  double log_probability() const noexcept;
};

/// Of the answer `ids`[n_prompt, …) behind the prompt `ids`[0, n_prompt), whose spans these are.
/// Log-probabilities are natural; changes are new - old, in nats.
///
/// The queries that predict the answer, from the prompt's last token to the last but one of the
/// answer, lose the span's keys in every layer and head, but for their own; what they still see is
/// shared out anew. The prompt's keys and values stay, with what its tokens have read before, so
/// that a span costs a pass over the answer alone. `chosen` are heads whose attention is told by
/// itself. The model, `request` and its interventions are those of every pass: means that replace
/// what is ablated are taken over prompt and answer.
///
/// Source  attention knockout: Geva et al. 2023, "Dissecting Recall of Factual Associations".
///
/// Throws Error{kUsage} without a prompt or an answer, for spans that are empty or no part of the
/// prompt, and for ids and heads that the model does not have; and what Decoding throws.
/// request.report is told the share of the work.
Citation cite(const Model& model, std::span<const std::uint32_t> ids, std::size_t n_prompt,
              std::span<const IndexRange> spans, const AttentionRequest& request,
              std::span<const HeadId> chosen = {});

/// Bytes that it takes; an estimate.
double citation_bytes(const Model& model, std::size_t n_tokens);

}  // namespace attnviz
