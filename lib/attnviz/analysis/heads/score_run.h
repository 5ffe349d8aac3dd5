// Runs a model and scores its heads.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "attnviz/analysis/heads/detect_head.h"
#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/attention/request.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

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

}  // namespace attnviz
