// How alike a word's vectors are in several texts, layer by layer, as a value without a medium.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/document/lessons/line_chart.h"
#include "attnviz/document/run_facts.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// The word in one text.
struct WordContext {
  TokenizedText text;
  std::vector<std::size_t> tokens;  // of the word
  MatrixBuffer vectors;             // as word_vectors() gives them
};

struct MeaningDocument {
  ModelFacts model;
  RunFacts run;
  std::string word;
  std::vector<WordContext> contexts;  // at least two
  std::vector<std::string> notes;

  /// Rows of the vectors: the embedding, and behind each layer.
  std::size_t n_points() const noexcept { return contexts.front().vectors.rows(); }
  /// Pairs of contexts (a < b), by a, then b.
  std::vector<std::pair<std::size_t, std::size_t>> pairs() const;
  std::optional<double> cosine_at(std::size_t point, std::size_t a, std::size_t b) const;
};

/// "meaning of "bank" in 2 texts (demo)".
std::string meaning_title(const MeaningDocument& document);

/// "embedding", "layer 0", ….
std::string stream_point_name(std::size_t point);

/// "1-2": contexts counted from 1.
std::string pair_name(std::pair<std::size_t, std::size_t> pair);

/// What the numbers say in a sentence or two.
std::vector<std::string> meaning_words(const MeaningDocument& document);

/// A line for each pair, or of many pairs for those of the first context; cosines over layers.
ChartFigure meaning_chart(const MeaningDocument& document);

}  // namespace attnviz
