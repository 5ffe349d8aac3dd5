// What is said of one query in one or several heads: steps made of blocks, without a medium.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/document/steps/inspection_blocks.h"
#include "attnviz/document/steps/inspection_steps.h"
#include "attnviz/document/words/token_names.h"

namespace attnviz {

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

}  // namespace attnviz
