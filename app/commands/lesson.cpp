#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/document/lessons/lesson.h"
#include "attnviz/document/report/lesson_report.h"
#include "attnviz/terminal/report_view.h"
#include "commands/commands.h"
#include "outputs/outputs.h"
#include "system/output_file.h"
#include "system/progress_line.h"
#include "system/system_fonts.h"
#include "system/talk.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

// The lesson's figure comes first among them.
std::vector<NextCommand> next_commands(LessonKind kind) {
  std::vector<NextCommand> next;
  switch (kind) {
    case LessonKind::kScaling:
      next = {{"attnviz softmax 2.1 8.7 3.2 --divide-by 11.31", "one row, step by step"},
              {"attnviz \"The cat sat\" --no-scale", "a model without the division"}};
      break;
    case LessonKind::kHeads:
      next = {{"attnviz heads", "what each head of the demo model does"},
              {"attnviz \"The cat sat\" --layer 1", "the heads of one layer"}};
      break;
    case LessonKind::kLinear:
      next = {{"attnviz inspect \"The cat sat\" --head 0.1", "q, k and scores, number by number"},
              {"attnviz lesson cost", "what softmax attention takes"}};
      break;
    case LessonKind::kPositions:
      next = {{"attnviz --random \"the cat saw the dog\" --positions rope", "one kind alone"},
              {"attnviz inspect \"The cat sat\" --step rope", "how RoPE turns q and k"}};
      break;
    case LessonKind::kCost:
      next = {{"attnviz lesson cache", "what need not be computed twice"}};
      break;
    case LessonKind::kCache:
      next = {{"attnviz \"Once upon a time\" --generate 20", "a model that writes"},
              {"attnviz info --d-model 4096 --heads 32 --kv-heads 8", "one of your sizes"}};
      break;
    case LessonKind::kMasks:
      next = {{"attnviz \"The cat sat on the mat\" --mask window:2", "the demo model with a mask"}};
      break;
  }
  const std::string name(word_for(kLessonChoices, kind));
  next.insert(next.begin(), {"attnviz lesson " + name + " -o " + name + ".png", "this figure"});
  return next;
}

}  // namespace

void run(const LessonOptions& options) {
  if (!options.lesson) {
    const Report report = lesson_list_report();
    return write_report(report, options.output.json,
                        stdout_drawing(options.look.style, options.look.color), write_to_stdout);
  }
  const auto fonts = open_fonts(options.look.fonts, options.talk);
  Outputs outputs({.result = Result::kReport,
                   .options = options.output,
                   .look = options.look,
                   .talk = options.talk,
                   .fonts = *fonts,
                   .read_files = {}});
  LessonRequest request{options.seed.value_or(kDefaultSeed), options.n_threads, {}};
  Lesson lesson;
  {
    ProgressLine progress("measuring", options.talk);
    request.report = progress.report();
    lesson = make_lesson(*options.lesson, request);
  }
  const std::pair<bool, const char*> unused[] = {{options.seed && !lesson.seed, "--seed"}};
  tell_unused(options.talk, unused, "this lesson draws nothing at random");
  if (std::holds_alternative<ChartFigure>(lesson.figure)) {
    const FigureStyle usual;
    const bool is_drawn = outputs.writes(Content::kFigure);  // otherwise that is told already
    const FigureStyle& asked = options.look.figure;
    const std::pair<bool, const char*> of_cells[] = {
        {is_drawn && asked.cell != usual.cell, "--cell"},
        {is_drawn && !asked.values, "--no-values"},
        {options.drawing.colormap.has_value(), "--colormap"}};
    tell_unused(options.talk, of_cells, "this lesson's figure is a chart of lines");
  }
  lesson.next = next_commands(*options.lesson);
  Report report = lesson_report(lesson);
  draw_as_asked(report, options.drawing);
  outputs.write([&](const Format& format, const Look& look, const ByteSink& sink) {
    format.report(report, look, sink);
  });
}

}  // namespace attnviz::app
