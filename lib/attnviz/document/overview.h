// A deep model in one picture: every head as a thumbnail, and the most telling one large. One
// number of each head as a picture: a row for each layer, a column for each head.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/pool_grid.h"
#include "attnviz/analysis/telling_head.h"
#include "attnviz/analysis/token_roles.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/document/heatmap.h"

namespace attnviz {

/// Layers without attention that follow one another: a blank with a name among the rows of others.
struct BlankLayers {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t row = 0;  // of the grid that they stand in front of; as many as there are: behind all
  std::string name;     // "gated delta net", "Mamba-2 and MLP"

  /// "3", "0-2".
  std::string numbers() const;
};

/// Those of a document's run, between `layers` that have attention, in order.
std::vector<BlankLayers> blank_layers(const AttentionDocument& document,
                                      const std::vector<std::size_t>& layers);

/// Its parts, as ordinary pictures are made from.
struct Overview {
  Heatmap thumbnails;  // a panel for each head; with what the whole picture says: title, notes
  std::vector<HeadId> heads;  // of its panels, by layer, then head
  std::vector<BlankLayers> blanks;
  Heatmap large;  // the chosen head alone; without titles and notes
  HeadId chosen;
  std::string caption;   // "L5H1: the most telling head"
  std::string sentence;  // why it was chosen
};

/// How both parts of a picture are cut into cells; looks at no weight, nor at which head is large.
struct OverviewCells {
  PoolGrid thumbnails;
  PoolGrid large;
};

/// Where each head's thumbnail stands: a row for each layer, a column for each head's number.
struct OverviewGrid {
  std::vector<std::size_t> layers;  // in order, as many as there are rows
  std::vector<std::size_t> heads;   // in order, as many as there are columns

  explicit OverviewGrid(const std::vector<HeadId>& all);

  /// Precondition: `head` is one of those that the grid was made for.
  std::size_t row(HeadId head) const noexcept;
  std::size_t column(HeadId head) const noexcept;
};

/// The overview of a document's patterns, whose facts say which head was chosen and why. `choice`
/// is one of its heads. Throws as attention_heatmap.
Overview overview_of(const AttentionDocument& document, const TellingHead& choice);

/// The search for the most telling of `heads`, by layer, then head, at least one; the document need
/// not have weights.
TellingSearch telling_search(const AttentionDocument& document, const std::vector<HeadId>& heads);

/// The most telling of the document's patterns; nothing when these are no attention weights:
/// numbers from 0 to 1, or to what dropout makes of 1.
std::optional<TellingHead> most_telling(const AttentionDocument& document);

/// The document with the pattern of `head` alone.
AttentionDocument document_of_head(AttentionDocument document, HeadId head);

/// "L5H1: the most telling head"; or what else it is when no head is telling.
std::string choice_caption(const TellingHead& choice);

/// Why the choice fell on a head, as a sentence or two: "The pronoun "it" (8) looks at …"
std::string choice_sentence(const AttentionDocument& document, const TellingHead& choice);

/// The same below panels that are all of one size: "L0H1 is the most telling head. …"; of one head
/// the sentence alone.
std::string choice_remark(const AttentionDocument& document, const TellingHead& choice);

/// The layers and heads between the least and the largest of `heads`, at least one. Throws
/// Error{kUsage} when these are more than a million. Where there is no value is no cell. The scale
/// goes from 0 to the largest value, or to both sides of 0 as far as the largest goes where some
/// are negative; title and notes are empty.
Heatmap head_map(std::span<const HeadId> heads, std::span<const std::optional<double>> values,
                 std::string_view value_name);

/// A scale as far to both sides of 0 as `largest`, in colours that part there.
void set_scale_around_zero(Heatmap& map, double largest);

}  // namespace attnviz
