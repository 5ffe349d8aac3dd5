// The comparison of two texts, or of two models, head by head.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attnviz/analysis/compare/compare.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/report/run_facts.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// The differences of two models beside their attention.
struct ModelsDiff {
  std::vector<std::string> settings;      // settings that differ, in words
  std::vector<TensorDifference> tensors;  // in the order of a run
  std::vector<Departure> departures;      // in the order of a run; empty: widths differ
  float threshold = 0.05f;                // relative distance at which streams count as different
  std::vector<double> kl_bits;            // of each token; empty: nothing to compare

  /// The first departure above the threshold; null if all are below.
  const Departure* first_departure() const noexcept;
  double kl_bits_mean() const noexcept;
};

/// A and B: two texts in one model, or one text in two models.
struct DiffDocument {
  std::array<std::string, 2> names;  // names of the texts, or of the models as given
  std::array<ModelFacts, 2> models;  // both the same for two texts
  std::array<TokenizedText, 2> texts;
  RunFacts run;  // of A
  TokenAlignment alignment;
  std::vector<HeadDifference> heads;  // by layer, then head; rows and columns as aligned
  std::optional<ModelsDiff> of_models;
  std::vector<std::string> notes;

  /// A's token in a row or column.
  const Token& token(std::size_t row) const { return texts[0].tokens[alignment.first[row]]; }
  /// The number of rows in which the tokens of A and B differ.
  std::size_t n_different() const noexcept;
  /// Whether every weight is the same in A and B.
  bool is_same_attention() const noexcept;
};

/// "2 texts in demo, 16 heads", "2 models on a text of 11 tokens, 16 heads".
std::string diff_title(const DiffDocument& document);

/// One sentence on how A's and B's tokens were aligned.
std::string alignment_note(const DiffDocument& document);

/// Heads by mean divergence, the largest first; heads without one last.
std::vector<std::size_t> ranked_differences(const DiffDocument& document);

/// "every weight of 16 heads is the same". Precondition: is_same_attention().
std::string same_attention_sentence(const DiffDocument& document);

/// The mean divergence of each head in bits as a map of layers and heads, from 0 to the largest;
/// `fit_unit`: in thousandths of a bit if the largest is small.
Heatmap diff_map(const DiffDocument& document, bool fit_unit);

/// "after layer 3", "before layer 0".
std::string departure_name(const Departure& departure);

}  // namespace attnviz
