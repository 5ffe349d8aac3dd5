// Figures of many heads: every head as a thumbnail and the most informative one large, one number
// of each head as a grid, attention as lines between two columns of tokens.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/informative_heads.h"
#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/analysis/token_roles.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/color/group_colors.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/heatmap.h"

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
Overview overview_of(const AttentionDocument& document, const InformativeHead& choice);

/// The search for the most telling of `heads`, by layer, then head, at least one; the document need
/// not have weights.
InformativeSearch informative_search(const AttentionDocument& document,
                                     const std::vector<HeadId>& heads);

/// The most telling of the document's patterns; nothing when these are no attention weights:
/// numbers from 0 to 1, or to what dropout makes of 1.
std::optional<InformativeHead> most_informative_head(const AttentionDocument& document);

/// The document with the pattern of `head` alone.
AttentionDocument document_of_head(AttentionDocument document, HeadId head);

/// "L5H1: the most telling head"; or what else it is when no head is telling.
std::string choice_caption(const InformativeHead& choice);

/// Why the choice fell on a head, as a sentence or two: "The pronoun "it" (8) looks at …"
std::string choice_sentence(const AttentionDocument& document, const InformativeHead& choice);

/// The same below panels that are all of one size: "L0H1 is the most telling head. …"; of one head
/// the sentence alone.
std::string choice_remark(const AttentionDocument& document, const InformativeHead& choice);

/// The layers and heads between the least and the largest of `heads`, at least one. Throws
/// Error{kUsage} when these are more than a million. Where there is no value is no cell. The scale
/// goes from 0 to the largest value, or to both sides of 0 as far as the largest goes where some
/// are negative; title and notes are empty.
Heatmap head_map(std::span<const HeadId> heads, std::span<const std::optional<double>> values,
                 std::string_view value_name);

/// A scale as far to both sides of 0 as `largest`, in colours that part there.
void set_scale_around_zero(Heatmap& map, double largest);

// Attention as lines between two columns of tokens: queries on the left, keys on the right.

/// A line from a query to a key.
struct ArcsEdge {
  std::size_t query = 0;  // a row of the left column
  std::size_t key = 0;    // of the right one
  float value = 0.0f;
  float strength = 0.0f;  // where it lies on the scale, to either side of 0: in (0, 1]
};

/// Lines of one colour.
struct ArcsGroup {
  std::string name;             // "L2H1 induction"
  std::size_t color = 0;        // of group_color()
  std::vector<ArcsEdge> edges;  // the weakest first, then in order of query and key
};

/// Groups that lie over each other between the same two columns.
struct ArcsPanel {
  std::string title;  // may be empty
  std::vector<ArcsGroup> groups;
};

/// One picture: panels that share tokens and scale. Row 0 is on top; where the first key is a
/// learned sink, the first row of queries is empty, so that equal tokens stand opposite each other.
struct ArcsFigure {
  std::vector<ArcsPanel> panels;          // at least one; each with as many groups
  std::vector<std::string> query_labels;  // raw pieces: views make them safe
  std::vector<std::string> key_labels;
  std::string query_axis = "query";  // above the columns
  std::string key_axis = "key";
  EntryNumbers first_query = 0;  // the tokens that rows stand for
  EntryNumbers first_key = 0;
  std::string value_name;  // "attention weight"
  ColorScale scale;
  float least = 0.0f;          // strength from which on an edge is a line
  bool has_weaker = false;     // edges that are none
  bool has_stronger = false;   // edges beyond an end of the scale, whose strength is 1
  std::optional<Focus> focus;  // the only row with lines: of keys or of queries
  std::string title;
  std::vector<std::string> notes;

  bool is_signed() const noexcept { return scale.low < 0.0f; }
};

/// What the lines of a picture begin with; more lines than can be drawn begin higher.
inline constexpr float kLeastStrength = 0.01f;
inline constexpr std::size_t kMostArcs = 60'000;

/// The heads of a document, a group each, in one panel; documents that stand side by side have a
/// panel each. Where there are values below 0, each head has a panel with a group for either sign.
/// With drawing.focus only lines of that token. Throws Error{kUsage} as attention_heatmap(), and
/// for more than kMostGroups heads or lines that are too long altogether. Precondition: as
/// attention_heatmap(); the documents have weights.
ArcsFigure arcs_figure(std::span<const AttentionDocument> documents);

/// The value of an edge of so much strength; of shares of a row the share.
float value_at(const ColorScale& scale, float strength) noexcept;

/// "lines below 0.01 are left out", for a view that draws lines from `least` on, which is not less
/// than the figure's; empty where none are.
std::string hidden_arcs_note(const ArcsFigure& figure, float least);

}  // namespace attnviz
