// Attention as lines between two columns of tokens: queries on the left, keys on the right.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnviz/color/group_colors.h"
#include "attnviz/document/attention_document.h"

namespace attnviz {

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
std::string weaker_note(const ArcsFigure& figure, float least);

}  // namespace attnviz
