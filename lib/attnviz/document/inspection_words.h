// The words of a page about one query: what each step is called, its formula, its shapes, and one
// plain sentence about its numbers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/document/inspection_page.h"

namespace attnviz {

/// The tokens of a page as labels: safe to print, 7-bit when `ascii`, told apart where one occurs
/// several times.
class TokenNames {
 public:
  TokenNames(const std::vector<std::string_view>& pieces, bool ascii);

  /// The token as a label, not cut.
  const std::string& label(std::size_t token) const { return labels_[token]; }
  /// "3 sat": with its index, indices as wide as the largest.
  std::string indexed(std::size_t token) const;
  /// In a sentence: "sat" in quotes, and `"the" (token 4)` where there are several.
  std::string quoted(std::size_t token) const;

 private:
  std::vector<std::string> labels_;
  std::vector<bool> is_repeated_;
  std::size_t index_width_ = 1;
  bool ascii_ = false;
};

/// A step's heading: "q = x · W_Q" and "[4] · [4, 2] → [2]".
struct StepHeading {
  std::size_t number = 0;  // 1-based
  std::string formula;
  std::string shape;
};

StepHeading step_heading(const Inspection& head, InspectionStep step, bool ascii);

/// What the numbers of a step come from, shown with it even when nothing is to be explained: "Mean
/// of x² = 0.25, so the root = 0.5." Empty where there is nothing to tell.
std::string step_note(const Inspection& head, InspectionStep step, bool ascii);

/// The model's own number under the root in place of d_head; d_head when it has none, 0 when its
/// scale is no such root.
std::size_t scale_root(const Inspection& head) noexcept;

/// "RMSNorm" or "LayerNorm".
const char* norm_name(const Norm& norm) noexcept;

/// One sentence, or two, true for the numbers of this head and query: "sat" looks mostly at "cat":
/// 46 %, then at "The": 30 %. Empty for a step that the head does not take.
std::string step_sentence(const Inspection& head, const TokenNames& names, InspectionStep step,
                          bool ascii);

/// The formulas' signs in 7 bits: q · k is q * k, √d is sqrt(d), → is ->.
std::string in_ascii(std::string_view formula);

}  // namespace attnviz
