// One lesson about attention as a screen and a figure: the data that every view of it is built
// from.
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

// All lessons.

enum class LessonKind { kScaling, kHeads, kLinear, kPositions, kCost, kCache, kMasks };

inline constexpr std::array kLessonChoices = {
    Choice{"scaling", LessonKind::kScaling}, Choice{"heads", LessonKind::kHeads},
    Choice{"linear", LessonKind::kLinear},   Choice{"positions", LessonKind::kPositions},
    Choice{"cost", LessonKind::kCost},       Choice{"cache", LessonKind::kCache},
    Choice{"masks", LessonKind::kMasks}};

/// The topic of a lesson, and the content of its figure, in the order of kLessonChoices.
struct LessonSummary {
  std::string_view teaches;
  std::string_view draws;
};

inline constexpr std::array<LessonSummary, kLessonChoices.size()> kLessonSummaries = {{
    {"why scores are divided by √d_head", "variance of q · k and sharpness of softmax, over d"},
    {"one wide head or many narrow ones, with the same parameters", "their patterns"},
    {"linear attention, which never makes the n × n matrix", "its weights beside softmax's"},
    {"how attention takes positions into account", "four kinds of positions, side by side"},
    {"what attention costs as texts grow, measured here", "time and memory over n"},
    {"what keeping keys and values saves", "multiplications and time over the text's length"},
    {"which tokens can see which", "the masks, side by side"},
}};

/// A number with its text for people, or a text alone.
struct LessonCell {
  std::string text;
  std::optional<double> number = {};
  bool is_count = false;  // programs get the number without a decimal point
};

/// Cells of one kind, one for each row of the table.
struct LessonColumn {
  std::string key;  // "variance": for programs
  std::string heading;
  std::vector<LessonCell> cells;
  bool is_shown = true;  // for people
};

/// A command to try next, and its effect.
struct NextCommand {
  std::string command;
  std::string text;
};

struct Lesson {
  LessonKind kind = LessonKind::kScaling;
  std::string title;
  std::vector<std::string> says;  // before the figure, a paragraph each
  std::variant<std::monostate, Heatmap, ChartFigure> figure;
  std::vector<LessonColumn> table;    // the first column names the rows; may be empty
  std::vector<std::string> ends;      // what the figure shows
  std::optional<std::uint64_t> seed;  // of random numbers
  std::vector<NextCommand> next;
};

/// The settings that lessons may use.
struct LessonRequest {
  std::uint64_t seed = 42;
  std::size_t n_threads = 1;
  ProgressReport report;  // for lessons that measure; may be empty
};

/// Computes a lesson without its commands. Lessons that measure take a few seconds.
Lesson make_lesson(LessonKind kind, const LessonRequest& request);

Lesson scaling_lesson(const LessonRequest& request);
Lesson heads_lesson(const LessonRequest& request);
Lesson linear_lesson(const LessonRequest& request);
Lesson positions_lesson(const LessonRequest& request);
Lesson cost_lesson(const LessonRequest& request);
Lesson cache_lesson(const LessonRequest& request);
Lesson masks_lesson(const LessonRequest& request);

/// A number with its text.
LessonCell number_cell(double number, std::string text);

/// The same for counts of tokens, bytes or multiplications. Precondition: whole, from 0 to 2^53.
LessonCell count_cell(double count, std::string text);

/// A picture of matrices over the same tokens, which it owns; weights from 0 to 1, or to the next
/// tenth if all are faint.
struct LessonPattern {
  std::string title;
  MatrixBuffer weights;
  std::optional<Mask> mask = {};  // hidden cells are not drawn
};
Heatmap lesson_heatmap(std::vector<LessonPattern> patterns, std::vector<std::string> tokens,
                       std::string title);

// The similarity of a word's vectors in several texts, layer by layer, independent of a medium.

/// The word in one text.
struct WordContext {
  TokenizedText text;
  std::vector<std::size_t> tokens;  // of the word
  MatrixBuffer vectors;             // from word_vectors()
};

struct MeaningDocument {
  ModelFacts model;
  RunFacts run;
  std::string word;
  std::vector<WordContext> contexts;  // at least two
  std::vector<std::string> notes;

  /// Rows of the vectors: one for the embedding, and one after each layer.
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

/// A summary of the numbers in a sentence or two.
std::vector<std::string> meaning_words(const MeaningDocument& document);

/// Cosines over layers: a line for each pair or, if there are many, for the pairs of the first
/// context.
ChartFigure meaning_chart(const MeaningDocument& document);

}  // namespace attnviz
