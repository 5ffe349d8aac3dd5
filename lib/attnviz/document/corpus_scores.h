// Scores of heads over many texts, some of which may have been read elsewhere.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/analysis/heads/score_means.h"
#include "attnviz/document/heads_document.h"
#include "attnviz/document/run_facts.h"

namespace attnviz {

/// Sums that can be kept, gone on with and brought together.
struct CorpusScores {
  /// Of these heads, of no text.
  explicit CorpusScores(std::vector<HeadId> chosen)
      : heads(std::move(chosen)), raw(heads.size()), weighted(heads.size()) {}

  std::string model_print;      // model_fingerprint()
  std::string tokenizer_print;  // tokenizer_fingerprint()
  ModelFacts model;
  RunFacts run;
  std::size_t band = kUsualBand;
  std::size_t n_lines = 0;  // of the input, that have been read; of several inputs 0
  std::string lines_print;  // LinesRead::fingerprint() of these; of several inputs empty
  std::vector<HeadId> heads;
  ScoreMeans raw;
  ScoreMeans weighted;
  ScoreMeans uniform{1};

  /// What both cannot be brought together for, in words; empty when they can.
  std::string difference(const CorpusScores& other) const;
  /// Adds the other's texts. Precondition: no difference.
  void add(const CorpusScores& other);

  HeadsDocument document() const;
};

}  // namespace attnviz
