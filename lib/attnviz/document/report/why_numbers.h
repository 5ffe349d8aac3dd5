// The numbers of why as rows, a part each, and as records. What a head's score is the sum of, as
// part of a report.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "attnviz/document/report/report.h"
#include "attnviz/document/why_document.h"

namespace attnviz {

/// Which part a number is about.
struct PartPlace {
  std::string part;
  std::optional<std::size_t> layer = {};
  std::optional<std::size_t> head = {};
};
PartPlace place_of(LogitPartKind kind, std::size_t layer, std::size_t head);

/// "part", and "layer" and "head" where the part has them.
Record place_record(LogitPartKind kind, std::size_t layer, std::size_t head);

/// A row for each part, ablation, word and layer; cells of what a row does not have are empty.
Table why_numbers(const WhyDocument& document);

/// What a test on random tokens found a head to be, in at most 30 columns.
std::string short_names(const ModelFacts& model, HeadId head);

/// " (rounding: 4e-08)", or nothing for 0.
std::string off_by(double rounding);

/// Tables of the `top` parts and pairs of parts (0: all) that add most to the score, and the
/// numbers of all pairs. Precondition: the document has a split.
void add_score_split(Report& report, const WhyDocument& document, std::size_t top);

}  // namespace attnviz
