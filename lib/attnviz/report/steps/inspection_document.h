// What is said of one query in one or several heads: steps made of blocks, without a medium. The
// shapes of attention's steps as libraries compute them: all heads and tokens of a batch at once.
// What the steps of an inspection are shown by: vectors, matrices, tables. Views walk them.
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

// The steps of attention: what they are called, and which of them a head takes.

/// "x", "norm", …
std::string_view inspection_step_name(InspectionStep step);

/// "x", "norm", "latents", "query", "keys", "qk-norm", "rope", "scores", "scale", "cap", "mask",
/// "softmax", "values", "context", "output", "residual", in the order of the enumerators.
std::vector<std::string> inspection_step_names();

/// For a help text: "x, query (q), keys (k), …", each with its other name.
std::string inspection_step_list();

/// Whether the head takes this step: many have no norm before attention (norm), read the tokens
/// themselves (latents), and have no norm of queries and keys (qk-norm), no rotation (rope) and no
/// soft cap (cap).
bool has_step(const Inspection& head, InspectionStep step);

/// The steps that a list with commas names, in order and each once; "q", "k", "v" and "weights"
/// mean query, keys, values and softmax. Throws Error{kUsage} that begins with `option` and names
/// the steps, with did-you-mean.
std::vector<InspectionStep> parse_inspection_steps(std::string_view option, std::string_view list);

/// A text and what it is about.
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
  NumberGroup numbers{};  // that they are written as
  std::string caption{};
  std::vector<std::string> remarks{};                // below: "… 10 later keys are masked"
  bool is_apart = false;                             // from the block before it
  std::shared_ptr<const std::vector<float>> kept{};  // what a row looks at, where nobody has it
};

/// What a row or a column of a matrix is labelled with: a token, or the number of a dimension.
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
  bool is_faint = false;  // what stands beside it, too
};

struct TableColumn {
  std::string heading;
  InspectionRole role = InspectionRole::kPlain;
  std::vector<std::string> cells{};  // one a row
  bool with_previous = false;        // belongs to the column before it
};

/// Rows with their labels and columns of numbers, and a bar for each of the first rows.
struct TableBlock {
  RoleText corner;
  std::vector<TableRow> rows;
  std::vector<TableColumn> columns;
  std::vector<float> bars;  // empty: none
  double bar_end = 1.0;     // what a whole bar stands for
  std::vector<std::string> remarks;
};

/// What each key gives to the context: its value, its weight, and the product.
struct ShareBlock {
  struct Row {
    std::string label;
    std::span<const float> value;
    std::string weight;
    std::span<const float> share;
  };
  std::vector<Row> rows;
  ConstMatrix values, shares;      // of all keys: what the numbers are written as
  std::size_t weight_columns = 1;  // of the widest weight
  std::vector<std::string> remarks;
};

using InspectionBlock = std::variant<VectorBlock, MatrixBlock, TableBlock, ShareBlock>;

/// One query in one or several heads, and what is to be shown of it.
struct InspectionPage {
  std::string title;                           // "random weights (seed 42)"
  std::optional<std::string> full_title = {};  // in place of what is made of it; empty: none
  std::vector<std::string> notes;              // warnings, said first: "RANDOM WEIGHTS: …"
  std::vector<std::string> remarks;      // said behind them: the model's origin, why this head
  std::vector<std::string_view> tokens;  // raw pieces: the document makes them safe
  std::span<const Inspection> heads;     // shown one after another
  std::vector<InspectionStep> steps;     // in order; empty: all
  bool full = false;                     // every key, every number, whole matrices
  bool explain = false;                  // a sentence to each step
  bool batch = false;                    // shapes of all heads and tokens at once
  std::string facts;                     // what it was made from, for a picture's metadata

  bool shows(InspectionStep step) const noexcept;
  /// The same of a head: only steps that it takes are shown.
  bool shows(const Inspection& head, InspectionStep step) const;
  /// Whether this step is the last shown of those that are columns of one table of keys: scores,
  /// scale, cap, mask, softmax.
  bool ends_key_table(const Inspection& head, InspectionStep step) const;
};

/// What the numbers are to be shown as: written out, written out with those of all queries and the
/// model's matrices, or as colours, which show matrices, too.
enum class InspectionDetail { kWritten, kFull, kColored };

/// A step that a head takes and that is shown.
struct InspectedStep {
  InspectionStep step = InspectionStep::kX;
  std::size_t number = 0;          // 1-based, of the head's steps
  std::string formula, shape;      // "q = x · W_Q" and "[4] · [4, 2] → [2]"
  std::string sentence;            // that explains it, if it is to be explained
  std::string note;                // what the numbers come from; may be empty
  bool goes_on = false;            // its numbers stand in the table of a later step
  std::size_t number_columns = 0;  // of its widest number, where blocks stand column over column
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

/// Hues and what they mean: "q query", "k key", "v value".
std::span<const RoleText> inspection_legend();

/// The document of `page`, whose heads it looks at. Tokens are 7-bit when `ascii`. Precondition:
/// kFull needs the heads' matrices over all queries.
InspectionDocument inspection_document(const InspectionPage& page, InspectionDetail detail,
                                       bool ascii);

/// "[1, 4, 128] · [128, 4 · 32] → [1, 4, 4, 32]": batch, then heads, tokens, dimensions. The batch
/// is the one text that is followed.
std::string batch_shape(const Inspection& head, InspectionStep step);

/// Where this head's numbers are among those of all heads; empty for most steps.
std::string batch_sentence(const Inspection& head, InspectionStep step);

}  // namespace attnviz
