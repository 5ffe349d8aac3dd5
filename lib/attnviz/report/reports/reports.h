// What each command says of its document, as a Report.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnviz/report/heatmap.h"
#include "attnviz/report/patterns/focus_bars.h"
#include "attnviz/report/report_requests.h"
#include "attnviz/report/reports/report.h"

namespace attnviz {

struct AttentionDocument;
struct CiteDocument;
class Colormap;
struct DiffDocument;
struct HeadsDocument;
struct KnownFamily;
struct Lesson;
enum class LogitPartKind;
struct MeaningDocument;
struct ModelFacts;
struct ModelInfo;
struct ModelList;
struct SoftmaxSteps;
struct WhyDocument;

/// The answer, a conclusion, a table of the `top` sentences (0: all) that the answer loses most
/// without, and the texts with those that matter shaded.
Report cite_report(const CiteDocument& document, std::size_t top, const Colormap& colormap);

/// A and B, a table of the `top` heads that differ most (0: all), and of two models their
/// predictions, streams, settings and weights. The document must outlive the report.
Report diff_report(const DiffDocument& document, std::size_t top);

/// The heads of each name, on probes; then a row for each head.
Report heads_report(const HeadsDocument& document, const HeadsTableChoice& choice);

/// Facts in words, then tables of parameters and of memory. The model must outlive the report.
/// Throws what text_memory() throws.
Report info_report(const ModelInfo& info);

/// A row for each model; then what is wrong with some, and which places were searched. The
/// document `attnviz.models/1`: {models: [{name, store, path, family, quantisation, parameters,
/// bytes, n_layers, n_heads, chat_template, problem}], stores: [{store, path, exists}]}.
Report model_list_report(const ModelList& list);

/// A row for each family: its names in files of either form, and which of its models are not read.
/// The document `attnviz.families/1`: {families: [{name, hugging_face, gguf, left_out}]}.
Report families_report(std::span<const KnownFamily> families);

Report lesson_report(const Lesson& lesson);

/// Every lesson: what it teaches and what its figure shows.
Report lesson_list_report();

/// The texts, a row of cosines for each layer, and a chart of them. The document must outlive the
/// report.
Report meaning_report(const MeaningDocument& document);

/// How a text goes on, and what each document predicts, at one place or at every place, in tables;
/// nothing where there is neither. Precondition: at least one document; of several the first one
/// has their names.
Report next_tokens_report(std::span<const AttentionDocument> documents);

/// A row for each score, from the score to its weight; and, where it fails, the naive formula. The
/// figure is of the weights as bars.
Report softmax_report(const SoftmaxSteps& steps);

/// "÷ 11.31", "÷ (11.31 · T 2)"; empty where scores are taken as they are.
std::string divisor_words(const SoftmaxSteps& steps);

/// "softmax of 3 scores ÷ 11.31".
std::string softmax_title(const SoftmaxSteps& steps);

struct SoftmaxFigure {
  Heatmap heatmap;  // a row of weights, and one before it of the scores as they are where these are
                    // divided; columns are called by their scores
  BarsSubject subject;
};

SoftmaxFigure softmax_figure(const SoftmaxSteps& steps);

/// Tables of the `top` words, parts and ablations that matter most (0: all), each part of the
/// document that is there.
Report why_report(const WhyDocument& document, std::size_t top);

// The numbers of why as rows, a part each, and as records. What a head's score is the sum of, as
// part of a report.

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
