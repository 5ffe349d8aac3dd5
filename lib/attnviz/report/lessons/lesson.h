// One thing about attention, as a screen and a figure: what every view of a lesson is made from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/attention/request.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/tensor.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/report/lessons/line_chart.h"
#include "attnviz/report/run_facts.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

// The lessons that there are.

enum class LessonKind { kScaling, kHeads, kLinear, kPositions, kCost, kCache, kMasks };

inline constexpr std::array kLessonChoices = {
    Choice{"scaling", LessonKind::kScaling}, Choice{"heads", LessonKind::kHeads},
    Choice{"linear", LessonKind::kLinear},   Choice{"positions", LessonKind::kPositions},
    Choice{"cost", LessonKind::kCost},       Choice{"cache", LessonKind::kCache},
    Choice{"masks", LessonKind::kMasks}};

/// What a lesson teaches, and what its figure has, in the order of kLessonChoices.
struct LessonSummary {
  std::string_view teaches;
  std::string_view draws;
};

inline constexpr std::array<LessonSummary, kLessonChoices.size()> kLessonSummaries = {{
    {"why scores are divided by √d_head", "variance of q · k and sharpness of softmax, over d"},
    {"one wide head or many narrow ones, with the same parameters", "the patterns of both"},
    {"linear attention, which never makes the n x n matrix", "its weights beside softmax's"},
    {"how attention learns where a token stands", "four kinds of positions, side by side"},
    {"what attention takes as texts grow, measured here", "time and memory over n"},
    {"what keeping keys and values saves", "multiplications and time over the text's length"},
    {"who may see whom", "the masks, side by side"},
}};

/// A number as it is told to people and to programs, or a text alone.
struct LessonCell {
  std::string text;
  std::optional<double> number = {};
  bool is_count = false;  // the number is whole: programs get it without a point
};

/// Cells of one kind, as many as the table has rows.
struct LessonColumn {
  std::string key;  // "variance": of programs
  std::string heading;
  std::vector<LessonCell> cells;
  bool is_shown = true;  // to people
};

/// A command that goes on from here, and what it does.
struct NextCommand {
  std::string command;
  std::string text;
};

struct Lesson {
  LessonKind kind = LessonKind::kScaling;
  std::string title;
  std::vector<std::string> says;  // before the figure, a paragraph each
  std::variant<std::monostate, Heatmap, ChartFigure> figure;
  std::vector<LessonColumn> table;    // the first names its rows; may be empty
  std::vector<std::string> ends;      // what is to be seen
  std::optional<std::uint64_t> seed;  // of what is random
  std::vector<NextCommand> next;
};

/// What lessons may ask for.
struct LessonRequest {
  std::uint64_t seed = 42;
  std::size_t n_threads = 1;
  ProgressReport report;  // of those that measure; may be empty
};

/// Computes a lesson, without the commands. Those that measure take a few seconds.
Lesson make_lesson(LessonKind kind, const LessonRequest& request);

Lesson scaling_lesson(const LessonRequest& request);
Lesson heads_lesson(const LessonRequest& request);
Lesson linear_lesson(const LessonRequest& request);
Lesson positions_lesson(const LessonRequest& request);
Lesson cost_lesson(const LessonRequest& request);
Lesson cache_lesson(const LessonRequest& request);
Lesson masks_lesson(const LessonRequest& request);

/// Its number as `text`.
LessonCell number_cell(double number, std::string text);

/// The same of what is counted: tokens, bytes, multiplications. Precondition: whole, from 0 to
/// 2^53.
LessonCell count_cell(double count, std::string text);

/// A picture of matrices, that it owns, over the same tokens; weights from 0 to 1, or to
/// the next tenth where all are faint.
struct LessonPattern {
  std::string title;
  MatrixBuffer weights;
  std::optional<Mask> mask = {};  // what it hides is no cell
};
Heatmap lesson_heatmap(std::vector<LessonPattern> patterns, std::vector<std::string> tokens,
                       std::string title);

// How alike a word's vectors are in several texts, layer by layer, as a value without a medium.

/// The word in one text.
struct WordContext {
  TokenizedText text;
  std::vector<std::size_t> tokens;  // of the word
  MatrixBuffer vectors;             // as word_vectors() gives them
};

struct MeaningDocument {
  ModelFacts model;
  RunFacts run;
  std::string word;
  std::vector<WordContext> contexts;  // at least two
  std::vector<std::string> notes;

  /// Rows of the vectors: the embedding, and behind each layer.
  std::size_t n_points() const noexcept { return contexts.front().vectors.rows(); }
  /// Pairs of contexts (a < b), by a, then b.
  std::vector<std::pair<std::size_t, std::size_t>> pairs() const;
  std::optional<double> cosine_at(std::size_t point, std::size_t a, std::size_t b) const;
};

/// "meaning of "bank" in 2 texts (demo)".
std::string meaning_title(const MeaningDocument& document);

/// "embedding", "layer 0", ….
std::string stream_point_name(std::size_t point);

/// "1-2": contexts counted from 1.
std::string pair_name(std::pair<std::size_t, std::size_t> pair);

/// What the numbers say in a sentence or two.
std::vector<std::string> meaning_words(const MeaningDocument& document);

/// A line for each pair, or of many pairs for those of the first context; cosines over layers.
ChartFigure meaning_chart(const MeaningDocument& document);

}  // namespace attnviz
