// What a page about one query shows: which steps, which keys, in which words.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/inspection.h"

namespace attnviz {

/// The steps of attention in the order in which a head takes them.
enum class InspectionStep {
  kX,
  kNorm,
  kQuery,
  kKeys,
  kQueryKeyNorm,
  kRope,
  kScores,
  kScale,
  kCap,
  kMask,
  kSoftmax,
  kValues,
  kContext,
  kOutput,
  kResidual,
};

inline constexpr std::size_t kInspectionSteps = 15;

/// "x", "norm", "query", "keys", "qk-norm", "rope", "scores", "scale", "cap", "mask", "softmax",
/// "values", "context", "output", "residual", in the order of the enumerators.
std::span<const std::string> inspection_step_names();

/// For a help text: "x, query (q), keys (k), …", each with its other name.
std::string inspection_step_list();

/// Whether the head takes this step: many have no norm before attention (norm), no norm of queries
/// and keys (qk-norm), no rotation (rope) and no soft cap (cap).
bool has_step(const Inspection& head, InspectionStep step) noexcept;

/// The steps that a list with commas names, in order and each once; "q", "k", "v" and "weights"
/// mean query, keys, values and softmax. Throws Error{kUsage} that begins with `option` and names
/// the steps, with did-you-mean.
std::vector<InspectionStep> parse_inspection_steps(std::string_view option, std::string_view list);

/// One query in one or several heads, ready to be shown.
struct InspectionPage {
  std::string title;                     // "random weights (seed 42)"
  std::vector<std::string> notes;        // warnings, said first: "RANDOM WEIGHTS: …"
  std::vector<std::string> remarks;      // said behind them: the model's origin, why this head
  std::vector<std::string_view> tokens;  // raw pieces: the renderer makes them safe
  std::span<const Inspection> heads;     // shown one after another
  std::vector<InspectionStep> steps;     // in order; empty: all
  bool full = false;                     // every key, every number, whole matrices
  bool explain = false;                  // a sentence to each step
  std::string facts;                     // what it was made from, for a picture's metadata

  bool shows(InspectionStep step) const noexcept;
  /// The same of a head: only steps that it takes are shown.
  bool shows(const Inspection& head, InspectionStep step) const noexcept;
  /// Whether this step is the last shown of those that are columns of one table of keys: scores,
  /// scale, cap, mask, softmax.
  bool ends_key_table(const Inspection& head, InspectionStep step) const noexcept;
};

/// The keys that stand in the tables of a page, and what is said of the others.
struct ShownKeys {
  std::vector<std::size_t> keys;  // in order of position
  std::size_t masked_before = 0;  // masked keys that are not shown: before the query,
  std::size_t masked_after = 0;   // and after it
  std::size_t left_out = 0;       // visible keys that are not shown,
  float left_out_weight = 0.0f;   // and the weight they have together
};

/// Few tokens: every key. More: the visible ones, and of many those with the most weight, the
/// nearer ones of equals, and the query itself. `all`: every key.
ShownKeys shown_keys(const Inspection& head, bool all);

}  // namespace attnviz
