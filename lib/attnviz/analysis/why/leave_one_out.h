// What a prediction owes to each stretch of the text: runs in which later tokens do not see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attnviz/attention/request.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

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

}  // namespace attnviz
