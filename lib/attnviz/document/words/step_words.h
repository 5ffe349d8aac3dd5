// The words of each step of an inspection: its formula with its shapes, the facts behind its
// numbers, and one plain sentence, or two, that is true for the numbers of this head and query. In
// Unicode; a function for a step that some heads do not take wants a head that takes it.
#pragma once

#include <cstddef>
#include <string>

#include "attnviz/analysis/inspection.h"
#include "attnviz/document/words/key_words.h"

namespace attnviz {

/// "q = x · W_Q" and "[4] · [4, 2] → [2]".
struct StepFormula {
  std::string formula;
  std::string shape;
};

namespace step_formulas {

StepFormula x(const Inspection& head);
StepFormula norm(const Inspection& head);
StepFormula query(const Inspection& head);
StepFormula keys(const Inspection& head);
StepFormula query_key_norm(const Inspection& head);
StepFormula rope(const Inspection& head);
StepFormula scores(const Inspection& head);
StepFormula scale(const Inspection& head);
StepFormula cap(const Inspection& head);
StepFormula mask(const Inspection& head);
StepFormula softmax(const Inspection& head);
StepFormula values(const Inspection& head);
StepFormula context(const Inspection& head);
StepFormula output(const Inspection& head);
StepFormula residual(const Inspection& head);

}  // namespace step_formulas

/// "mean of x² = 0.25, so the root = 0.5"; empty where there is nothing to tell.
namespace step_notes {

std::string norm(const Inspection& head);
std::string keys(const Inspection& head);
std::string query_key_norm(const Inspection& head);
std::string rope(const Inspection& head);
std::string mask(const Inspection& head);
std::string residual(const Inspection& head);

}  // namespace step_notes

/// `"sat" looks mostly at "cat": 46 %, then at "The": 30 %.`
namespace step_sentences {

std::string x(const KeyWords& words);
std::string norm(const KeyWords& words);
std::string query(const KeyWords& words);
std::string keys(const KeyWords& words);
std::string query_key_norm(const KeyWords& words);
std::string rope(const KeyWords& words);
std::string scores(const KeyWords& words);
std::string scale(const KeyWords& words);
std::string cap(const KeyWords& words);
std::string mask(const KeyWords& words);
std::string softmax(const KeyWords& words);
std::string values(const KeyWords& words);
std::string context(const KeyWords& words);
std::string output(const KeyWords& words);
std::string residual(const KeyWords& words);

}  // namespace step_sentences

/// The model's own number under the root in place of d_head; d_head when it has none, 0 when its
/// scale is no such root.
std::size_t scale_root(const Inspection& head) noexcept;

}  // namespace attnviz
