// Describes one query in one or several heads: steps made of blocks, independent of a medium. The
// shapes of the steps of attention as libraries compute them, for all heads and tokens of a batch
// at once. The blocks that show a step: vectors, matrices, tables. Views render them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/color/group_colors.h"
#include "attnviz/core/tensor.h"
#include "attnviz/report/report_requests.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/report/words/words.h"

namespace attnviz {

// The steps of attention: their names, and which of them a head takes.

/// "x", "norm", …
std::string_view inspection_step_name(InspectionStep step);

/// "x", "norm", "latents", "query", "keys", "qk-norm", "rope", "scores", "scale", "cap", "mask",
/// "softmax", "values", "context", "output", "residual", in the order of the enumerators.
std::vector<std::string> inspection_step_names();

/// For a help text: "x, query (q), keys (k), …", each with its other name.
std::string inspection_step_list();

/// Whether the head takes this step. Many heads have no norm before attention (norm), no latents
/// between tokens and queries, keys or values (latents), no norm of queries and keys (qk-norm), no
/// rotation (rope) and no soft cap (cap).
bool has_step(const Inspection& head, InspectionStep step);

/// Parses a comma-separated list of steps, and returns them in order and each once; "q", "k", "v"
/// and "weights" mean query, keys, values and softmax. Throws Error{kUsage} that begins with
/// `option` and lists the steps, with did-you-mean.
std::vector<InspectionStep> parse_inspection_steps(std::string_view option, std::string_view list);

/// A text and its role.
struct RoleText {
  std::string text;
  InspectionRole role = InspectionRole::kPlain;
  bool is_faint = false;
};

/// One vector of a table: "q sat" and its numbers.
struct VectorRow {
  std::string label;
  std::span<const float> values;
  InspectionRole role = InspectionRole::kPlain;
};

/// Vectors of one size below each other, on one scale.
struct VectorBlock {
  std::vector<VectorRow> rows{};
  NumberGroup numbers{};  // common format of the numbers
  std::string caption{};
  std::vector<std::string> remarks{};                // below: "… 10 later keys are masked"
  bool is_apart = false;                             // set apart from the block before it
  std::shared_ptr<const std::vector<float>> kept{};  // owns values without another owner
};

/// The labels of rows or columns of a matrix: tokens, or numbers of dimensions.
struct MatrixAxis {
  bool is_tokens = false;
  InspectionRole role = InspectionRole::kPlain;
};

struct MatrixBlock {
  std::string title;  // "W_Q"
  ConstMatrix values;
  MatrixAxis rows;
  MatrixAxis columns;
  InspectionRole role = InspectionRole::kPlain;
};

struct TableRow {
  RoleText label;
  bool is_faint = false;  // applies to the whole row
};

struct TableColumn {
  std::string heading;
  InspectionRole role = InspectionRole::kPlain;
  std::vector<std::string> cells{};  // one per row
  bool with_previous = false;        // belongs to the column before it
};

/// Labelled rows with columns of numbers, and a bar for each of the first rows.
struct TableBlock {
  RoleText corner;
  std::vector<TableRow> rows;
  std::vector<TableColumn> columns;
  std::vector<float> bars;  // empty: none
  double bar_end = 1.0;     // value of a full bar
  std::vector<std::string> remarks;
};

/// The contribution of each key to the context: its value, its weight, and their product.
struct ShareBlock {
  struct Row {
    std::string label;
    std::span<const float> value;
    std::string weight;
    std::span<const float> share;
  };
  std::vector<Row> rows;
  ConstMatrix values, shares;      // of all keys: they determine the number format
  std::size_t weight_columns = 1;  // of the widest weight
  std::vector<std::string> remarks;
};

using InspectionBlock = std::variant<VectorBlock, MatrixBlock, TableBlock, ShareBlock>;

/// One query in one or several heads, and the parts to show.
struct InspectionPage {
  std::string title;                           // "random weights (seed 42)"
  std::optional<std::string> full_title = {};  // replaces the whole generated title; empty: none
  std::vector<std::string> notes;              // warnings, shown first: "RANDOM WEIGHTS: …"
  std::vector<std::string> remarks;            // shown next: origin, reason for this head
  std::vector<std::string_view> tokens;        // raw pieces: the document makes them safe
  std::span<const Inspection> heads;           // shown one after another
  std::vector<InspectionStep> steps;           // in order; empty: all
  bool full = false;                           // every key, every number, whole matrices
  bool explain = false;                        // explains each step in a sentence
  bool batch = false;                          // adds shapes for all heads and tokens at once
  std::string facts;                           // source data, for a picture's metadata

  bool shows(InspectionStep step) const noexcept;
  /// The same for one head: only steps that it takes are shown.
  bool shows(const Inspection& head, InspectionStep step) const;
  /// Whether this step is the last shown among the columns of the table of keys: scores, scale,
  /// cap, mask, softmax.
  bool ends_key_table(const Inspection& head, InspectionStep step) const;
};

/// How to show numbers: written out; written out including those of all queries and the model's
/// matrices; or as colours, which also show matrices.
enum class InspectionDetail { kWritten, kFull, kColored };

/// A step that a head takes and the page shows.
struct InspectedStep {
  InspectionStep step = InspectionStep::kX;
  std::size_t number = 0;          // 1-based, of the head's steps
  std::string formula, shape;      // "q = x · W_Q" and "[4] · [4, 2] → [2]"
  std::string sentence;            // explains it, if requested
  std::string note;                // where the numbers come from; may be empty
  bool goes_on = false;            // its numbers are in the table of a later step
  std::size_t number_columns = 0;  // of its widest number, if columns of blocks are aligned
  std::vector<InspectionBlock> blocks;
};

struct InspectedHead {
  std::vector<RoleText> facts;  // "L5H1", "query 2 "sat"", "3 tokens", …
  std::vector<InspectedStep> steps;
};

/// Texts in Unicode, tokens in the charset of `names`.
struct InspectionDocument {
  TokenNames names;
  std::string title;
  std::vector<InspectedHead> heads;
};

/// The hues and their meanings: "q query", "k key", "v value".
std::span<const RoleText> inspection_legend();

/// The document of `page`, with references to its heads. Tokens are 7-bit if `ascii`. Precondition:
/// kFull needs the heads' matrices over all queries.
InspectionDocument inspection_document(const InspectionPage& page, InspectionDetail detail,
                                       bool ascii);

/// "[1, 4, 128] · [128, 4 · 32] → [1, 4, 4, 32]": batch, then heads, tokens, dimensions. The batch
/// holds the one inspected text.
std::string batch_shape(const Inspection& head, InspectionStep step);

/// The place of this head's numbers among those of all heads; empty for most steps.
std::string batch_sentence(const Inspection& head, InspectionStep step);

}  // namespace attnviz
