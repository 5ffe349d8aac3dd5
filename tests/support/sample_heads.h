// Hand-made scores of heads.
#pragma once

#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/report/heads_document.h"

namespace attnviz::test {

/// Patterns, models and the scores of their heads from other programs.
inline const std::filesystem::path kHeadsReference = ATTNVIZ_SOURCE_DIR "/tests/reference/heads";

using GivenScores = std::vector<std::pair<Score, double>>;

struct GivenHead {
  HeadId head;
  GivenScores scores;
};

inline ScoreValues score_values(const GivenScores& given) {
  ScoreValues values;
  for (const auto& [score, value] : given) {
    values[score] = value;
  }
  return values;
}

/// Scores of a model without facts, on one text of `source`; a second text with other scores of the
/// heads may be added to `raw`.
inline HeadsDocument heads_document(ScoreSource source, const std::vector<GivenHead>& heads) {
  HeadsDocument document;
  document.source = std::move(source);
  document.raw = ScoreMeans(heads.size());
  std::vector<ScoreValues> scores;
  for (const GivenHead& given : heads) {
    document.heads.push_back(given.head);
    scores.push_back(score_values(given.scores));
  }
  document.raw.add(scores);
  return document;
}

/// One probe of 34 random tokens, repeated three times.
inline ProbeSource one_probe() {
  TokenizedText text;
  text.tokens.resize(std::size_t{34} * 3);
  return {{.length = 34, .repeats = 3, .count = 1}, false, {text}};
}

}  // namespace attnviz::test
