#include "attnviz/analysis/heads/score_run.h"

#include "attnviz/analysis/heads/value_norms.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/input_columns.h"
#include "attnviz/attention/visibility.h"

namespace attnviz {

DetectOptions detect_options(std::size_t index) noexcept {
  return {.exclude_bos = (index & 1) != 0, .exclude_current_token = (index & 2) != 0};
}

DetectedScores detected_scores(const DetectHead& detect, HeadId head) {
  DetectedScores scores;
  for (std::size_t pattern = 0; pattern < scores.size(); ++pattern) {
    for (std::size_t i = 0; i < scores[pattern].size(); ++i) {
      scores[pattern][i] =
          detect.detected(head, kDetectionPatterns[pattern].value, detect_options(i));
    }
  }
  return scores;
}

TextScores score_heads(const Model& model, const TokenizedText& text, const ScoredTokens& tokens,
                       const std::vector<HeadId>& heads, const ScoreRequest& request) {
  const auto seen = visibilities(model, request.attention, tokens.size());
  HeadScores raw(heads, tokens, seen);
  const ValueNorms* norms = nullptr;
  HeadScores weighted(heads, tokens, seen, [&norms](HeadId head) { return norms->of(head); });
  DetectHead detect(heads, tokens);
  std::vector<PatternSink*> sinks = {&raw};
  if (request.weighted) {
    sinks.push_back(&weighted);
  }
  if (request.detect) {
    sinks.push_back(&detect);
  }
  SinkGroup all(sinks);
  const std::vector<HeadId> valued = request.weighted ? heads : std::vector<HeadId>();
  ValueNorms observer(model, valued, request.attention.n_threads, all);
  norms = &observer;
  run(model, InputColumns(text).view(), request.attention, observer);
  TextScores scores;
  for (const HeadId head : heads) {
    scores.raw.push_back(raw.scores(head));
    if (request.weighted) {
      scores.weighted.push_back(weighted.scores(head));
    }
    if (request.detect) {
      scores.detected.push_back(detected_scores(detect, head));
    }
  }
  return scores;
}

}  // namespace attnviz
