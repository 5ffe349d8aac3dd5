// The Report of each command, built from its document.
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

/// The answer, a conclusion, a table of the `top` sentences (0: all) whose removal costs the answer
/// most, and the texts with the sentences that matter shaded.
Report cite_report(const CiteDocument& document, std::size_t top, const Colormap& colormap);

/// A and B, a table of the `top` heads that differ most (0: all), and for two models their
/// predictions, streams, settings and weights. The document must outlive the report.
Report diff_report(const DiffDocument& document, std::size_t top);

/// The heads of each name, on probes, then a row for each head.
Report heads_report(const HeadsDocument& document, const HeadsTableChoice& choice);

/// Facts in words, then tables of parameters and of memory. The model must outlive the report.
/// Throws the errors of text_memory().
Report info_report(const ModelInfo& info);

/// A row for each model, then problems with some of them, and the searched places. The document
/// `attnviz.models/1`: {models: [{name, store, path, family, quantisation, parameters, bytes,
/// n_layers, n_heads, chat_template, problem}], stores: [{store, path, exists}]}.
Report model_list_report(const ModelList& list);

/// A row for each family: its names in files of either format, and its models that cannot be read.
/// The document `attnviz.families/1`: {families: [{name, hugging_face, gguf, left_out}]}.
Report families_report(std::span<const KnownFamily> families);

Report lesson_report(const Lesson& lesson);

/// Every lesson with its topic and its figure.
Report lesson_list_report();

/// The texts, a row of cosines for each layer, and a chart of them. The document must outlive the
/// report.
Report meaning_report(const MeaningDocument& document);

/// The continuation of a text, and the predictions of each document, at one position or at all, in
/// tables; empty if there are none of these. Precondition: at least one document; the first of
/// several has their names.
Report next_tokens_report(std::span<const AttentionDocument> documents);

/// A row for each score, from the score to its weight, and the naive formula if it fails. The
/// figure shows the weights as bars.
Report softmax_report(const SoftmaxSteps& steps);

/// "÷ 11.31", "÷ (11.31 · T 2)"; empty if scores are not divided.
std::string divisor_words(const SoftmaxSteps& steps);

/// "softmax of 3 scores ÷ 11.31".
std::string softmax_title(const SoftmaxSteps& steps);

struct SoftmaxFigure {
  Heatmap heatmap;  // a row of weights; if scores are divided, preceded by the weights of undivided
                    // scores; columns are labelled with the scores
  BarsSubject subject;
};

SoftmaxFigure softmax_figure(const SoftmaxSteps& steps);

/// Tables of the `top` words, parts and ablations that matter most (0: all), for each part that the
/// document has.
Report why_report(const WhyDocument& document, std::size_t top);

// The numbers of `why`, as rows for each part and as records. The decomposition of a head's score,
// as part of a report.

/// The part that a number belongs to.
struct PartPlace {
  std::string part;
  std::optional<std::size_t> layer = {};
  std::optional<std::size_t> head = {};
};
PartPlace place_of(LogitPartKind kind, std::size_t layer, std::size_t head);

/// "part", and "layer" and "head" for parts that have them.
Record place_record(LogitPartKind kind, std::size_t layer, std::size_t head);

/// A row for each part, ablation, word and layer; cells that do not apply are empty.
Table why_numbers(const WhyDocument& document);

/// The names that a test on random tokens gave a head, in at most 30 columns.
std::string short_names(const ModelFacts& model, HeadId head);

/// " (rounding: 4e-08)"; empty for 0.
std::string off_by(double rounding);

/// Tables of the `top` parts and pairs of parts (0: all) that add most to the score, and the
/// numbers of all pairs. Precondition: the document has a split.
void add_score_split(Report& report, const WhyDocument& document, std::size_t top);

}  // namespace attnviz
