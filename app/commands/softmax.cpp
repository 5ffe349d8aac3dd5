#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/analysis/lessons/softmax_steps.h"
#include "attnviz/core/error.h"
#include "attnviz/document/report/softmax_report.h"
#include "commands/commands.h"
#include "commands/input.h"
#include "options/option_values.h"
#include "outputs/outputs.h"
#include "outputs/overview_choice.h"
#include "system/system_fonts.h"
#include "system/talk.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

// All that standard input holds.
std::string typed_scores(const TalkOptions& talk) {
  InputOptions input;
  input.text = "-";
  TextSource source(input, talk);
  const auto text = source.next();
  return text ? std::get<std::string>(text->content) : "";
}

std::vector<double> given_scores(const SoftmaxOptions& options) {
  if (options.scores.empty() && stdin_is_terminal()) {
    throw Error(ErrorKind::kUsage, "softmax needs SCOREs, as in: attnviz softmax 2.1 8.7 3.2");
  }
  const bool reads =
      options.scores.empty() || (options.scores.size() == 1 && options.scores.front() == "-");
  std::string words = reads ? typed_scores(options.talk) : "";
  for (const std::string& word : options.scores) {
    words += reads ? "" : word + " ";
  }
  return parse_numbers("softmax", words);
}

}  // namespace

void run(const SoftmaxOptions& options) {
  const auto fonts = open_fonts(options.look.fonts, options.talk);
  Outputs outputs({.result = Result::kReport,
                   .options = options.output,
                   .look = options.look,
                   .talk = options.talk,
                   .fonts = *fonts,
                   .read_files = {}});
  const SoftmaxSteps steps =
      softmax_steps(given_scores(options), static_cast<double>(options.divide_by),
                    static_cast<double>(options.temperature));
  Report report = softmax_report(steps);
  draw_as_asked(report, options.drawing);
  const std::pair<bool, const char*> unused[] = {
      {outputs.writes(Content::kFigure) && options.look.figure.cell != FigureStyle().cell,
       "--cell"}};
  tell_unused(options.talk, unused, "weights are drawn as bars");
  if (!outputs.writes(Content::kFigure) && !outputs.writes(Content::kPage)) {
    tell_unused_map(options.drawing, options.talk, "no picture was drawn (-o FILE.png)");
  }
  outputs.write([&](const Format& format, const Look& look, const ByteSink& sink) {
    format.report(report, look, sink);
  });
}

}  // namespace attnviz::app
