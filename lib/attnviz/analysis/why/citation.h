// What an answer rests on: what it loses when its tokens cannot see a span of the prompt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attnviz/attention/interventions.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/model/model.h"

namespace attnviz {

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
