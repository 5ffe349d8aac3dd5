// One thing about attention, as a screen and a figure: what every view of a lesson is made from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "attnviz/attention/request.h"
#include "attnviz/core/byte_sink.h"
#include "attnviz/document/heatmap.h"
#include "attnviz/document/lessons/lesson_names.h"
#include "attnviz/document/lessons/line_chart.h"

namespace attnviz {

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

}  // namespace attnviz
