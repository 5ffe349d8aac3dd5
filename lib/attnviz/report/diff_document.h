// What is said of two texts, or two models, head by head.
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

/// What is known of two models beside their attention.
struct ModelsDiff {
  std::vector<std::string> settings;      // what differs beside tensors, in words
  std::vector<TensorDifference> tensors;  // in the order of a run
  std::vector<Departure> departures;      // in the order of a run; empty: of different widths
  float threshold = 0.05f;                // from where on streams are called apart
  std::vector<double> kl_bits;            // of each token; empty: no predictions to compare

  /// The first departure above the threshold; null where there is none.
  const Departure* first_departure() const noexcept;
  double kl_bits_mean() const noexcept;
};

/// A and B: two texts in one model, or one text in two models.
struct DiffDocument {
  std::array<std::string, 2> names;  // what A and B are: texts, or models as they were given
  std::array<ModelFacts, 2> models;  // of texts both the same
  std::array<TokenizedText, 2> texts;
  RunFacts run;  // of A
  TokenAlignment alignment;
  std::vector<HeadDifference> heads;  // by layer, then head; rows and columns as aligned
  std::optional<ModelsDiff> of_models;
  std::vector<std::string> notes;

  /// A's token of a row or column.
  const Token& token(std::size_t row) const { return texts[0].tokens[alignment.first[row]]; }
  /// The tokens of A and of B at one row that are not the same.
  std::size_t n_different() const noexcept;
  /// Whether all heads look alike: every weight is the same.
  bool is_same_attention() const noexcept;
};

/// "2 texts in demo, 16 heads", "2 models on a text of 11 tokens, 16 heads".
std::string diff_title(const DiffDocument& document);

/// How A's and B's tokens were brought together, in a sentence.
std::string alignment_note(const DiffDocument& document);

/// The largest mean divergence first; those without any last.
std::vector<std::size_t> ranked_differences(const DiffDocument& document);

/// "every weight of 16 heads is the same", for documents of which this is true.
std::string same_attention_sentence(const DiffDocument& document);

/// The mean divergence of each head in bits, over layers and heads, from 0 to the largest;
/// `fit_unit`: in thousandths of a bit where it is small.
Heatmap diff_map(const DiffDocument& document, bool fit_unit);

/// "after layer 3", "before layer 0".
std::string departure_name(const Departure& departure);

}  // namespace attnviz
