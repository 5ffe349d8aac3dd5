// Figures of many heads: every head as a thumbnail with the most informative one large, one number
// per head as a grid, and attention as lines between two columns of tokens.
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

/// Consecutive layers without attention: a named blank among the rows of layers with attention.
struct BlankLayers {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t row = 0;  // grid row that they precede; the number of rows: after all
  std::string name;     // "gated delta net", "Mamba-2 and MLP"

  /// "3", "0-2".
  std::string numbers() const;
};

/// The blank layers of a document's run, placed between the sorted `layers` with attention.
std::vector<BlankLayers> blank_layers(const AttentionDocument& document,
                                      const std::vector<std::size_t>& layers);

/// The parts of an overview, from which pictures are drawn.
struct Overview {
  Heatmap thumbnails;         // a panel for each head, and the title and notes of the whole
  std::vector<HeadId> heads;  // of its panels, by layer, then head
  std::vector<BlankLayers> blanks;
  Heatmap large;  // the chosen head alone; without titles and notes
  HeadId chosen;
  std::string caption;   // "L5H1: …", see choice_caption()
  std::string sentence;  // why it was chosen
};

/// How both parts of an overview are cut into cells; depends neither on weights nor on the large
/// head.
struct OverviewCells {
  PoolGrid thumbnails;
  PoolGrid large;
};

/// The place of each head's thumbnail: a row for each layer, a column for each head index.
struct OverviewGrid {
  std::vector<std::size_t> layers;  // in order, one for each row
  std::vector<std::size_t> heads;   // in order, one for each column

  explicit OverviewGrid(const std::vector<HeadId>& all);

  /// Precondition: `head` is one of those that the grid was built for.
  std::size_t row(HeadId head) const noexcept;
  std::size_t column(HeadId head) const noexcept;
};

/// The overview of a document's patterns; its texts say which head was chosen and why. `choice` is
/// one of its heads. Throws like attention_heatmap().
Overview overview_of(const AttentionDocument& document, const InformativeHead& choice);

/// The search for the most informative of `heads`, by layer, then head, at least one; the document
/// need not have weights.
InformativeSearch informative_search(const AttentionDocument& document,
                                     const std::vector<HeadId>& heads);

/// The most informative pattern of the document; absent if the numbers cannot be attention weights:
/// these lie between 0 and 1, or 1 / (1 - dropout).
std::optional<InformativeHead> most_informative_head(const AttentionDocument& document);

/// The document reduced to the pattern of `head`.
AttentionDocument document_of_head(AttentionDocument document, HeadId head);

/// "L5H1: …": the head, and whether it is the most informative, the closest to that, or the first
/// one.
std::string choice_caption(const InformativeHead& choice);

/// Why this head was chosen, in a sentence or two: "The pronoun "it" (8) looks at …"
std::string choice_sentence(const AttentionDocument& document, const InformativeHead& choice);

/// The same for panels of equal size, beginning with the head and its caption: "L0H1 is …". For a
/// single pattern the sentence alone.
std::string choice_remark(const AttentionDocument& document, const InformativeHead& choice);

/// A map of all layers and heads between the smallest and the largest of `heads`, at least one.
/// Throws Error{kUsage} for more than 2^20 cells. A head without a value has no cell. The scale
/// goes from 0 to the largest value, or equally far to both sides of 0 if some are negative; title
/// and notes are empty.
Heatmap head_map(std::span<const HeadId> heads, std::span<const std::optional<double>> values,
                 std::string_view value_name);

/// Sets a scale from -`largest` to `largest`, in colours that diverge at 0.
void set_scale_around_zero(Heatmap& map, double largest);

// Attention as lines between two columns of tokens: queries on the left, keys on the right.

/// A line from a query to a key.
struct ArcsEdge {
  std::size_t query = 0;  // a row of the left column
  std::size_t key = 0;    // of the right one
  float value = 0.0f;
  float strength = 0.0f;  // position on the scale, on either side of 0: in (0, 1]
};

/// Lines of one colour.
struct ArcsGroup {
  std::string name;             // "L2H1 induction"
  std::size_t color = 0;        // of group_color()
  std::vector<ArcsEdge> edges;  // the weakest first, then by query and key
};

/// Groups drawn over each other between the same two columns.
struct ArcsPanel {
  std::string title;  // may be empty
  std::vector<ArcsGroup> groups;
};

/// One picture: panels that share tokens and scale. Row 0 is on top. If the first key is a learned
/// sink, the first row of queries is empty, so that equal tokens stand opposite each other.
struct ArcsFigure {
  std::vector<ArcsPanel> panels;          // at least one; all with the same number of groups
  std::vector<std::string> query_labels;  // raw pieces: views make them safe
  std::vector<std::string> key_labels;
  std::string query_axis = "query";  // above the columns
  std::string key_axis = "key";
  EntryNumbers first_query = 0;  // the tokens in the rows
  EntryNumbers first_key = 0;
  std::string value_name;  // "attention weight"
  ColorScale scale;
  float least = 0.0f;          // strength from which an edge is drawn as a line
  bool has_weaker = false;     // whether weaker edges were left out
  bool has_stronger = false;   // whether edges lie beyond the scale; their strength is 1
  std::optional<Focus> focus;  // the only row with lines, among keys or queries
  std::string title;
  std::vector<std::string> notes;

  bool is_signed() const noexcept { return scale.low < 0.0f; }
};

/// The least strength of a drawn line. If more than kMostArcs lines would remain, the figure raises
/// its limit.
inline constexpr float kLeastStrength = 0.01f;
inline constexpr std::size_t kMostArcs = 60'000;

/// The heads of a document as groups in one panel; documents side by side have a panel each. With
/// values below 0, each head has its own panel, with one group for each sign. With drawing.focus
/// only that token has lines. Throws Error{kUsage} like attention_heatmap(), for more than
/// kMostGroups heads, and for lines that are too long in total. Precondition: as for
/// attention_heatmap(); the documents have weights.
ArcsFigure arcs_figure(std::span<const AttentionDocument> documents);

/// The value of an edge of this strength; for shares of a row, the share.
float value_at(const ColorScale& scale, float strength) noexcept;

/// "lines below 0.01 are left out", for a view that draws lines from `least` on (at least the
/// figure's own limit); empty if none are left out.
std::string hidden_arcs_note(const ArcsFigure& figure, float least);

}  // namespace attnviz
