#include "commands/heads_output.h"

#include <fmt/core.h>

#include <optional>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/document/report/heads_report.h"
#include "commands/attention_run.h"
#include "outputs/overview_choice.h"
#include "system/output_file.h"
#include "system/talk.h"

namespace attnviz::app {

namespace {

// Says which options are of a table that nobody draws.
void tell_unused(const Outputs& outputs, const HeadsOptions& options) {
  if (outputs.writes(Content::kPage) || (outputs.writes(Content::kScreen) && !options.map)) {
    return;
  }
  const HeadsTableChoice usual;
  const std::pair<bool, const char*> of_table[] = {
      {options.table.ranking.sort.has_value(), "--sort"},
      {!options.table.ranking.at_least.empty(), "--min"},
      {options.table.top != usual.top, "--top"},
      {!options.table.columns.empty(), "--columns"}};
  tell_unused(options.talk, of_table, "no table was drawn");
}

// What of the scores goes where, once they are there.
void write_scores(Outputs& outputs, const HeadsOptions& options, const HeadsDocument& document) {
  const bool is_test = options.talk.quiet && !options.expected.empty();
  if (is_test && options.output.files.empty() && !options.output.json) {
    return;  // nobody looks
  }
  tell_unused(outputs, options);
  std::optional<Heatmap> map;
  // A page has a table, too: a score that was not asked for may be that of no head.
  bool has_usual = false;
  for (std::size_t i = 0; i < document.heads.size(); ++i) {
    has_usual = has_usual || document.raw.estimate(i, Score::kInduction);
  }
  if (options.map || outputs.writes(Content::kFigure) ||
      (outputs.writes(Content::kPage) && has_usual)) {
    map = heads_map(document, options.map.value_or(Score::kInduction));
  } else {
    tell_unused_map(options.drawing, options.talk, "no map was drawn (--score, -o FILE.png)");
  }
  Report report = heads_report(document, options.table);
  if (options.map) {
    show_only(report, std::move(*map));
  } else if (map) {
    report.draw(Figure{std::move(*map), /*on_screen=*/false});
  }
  draw_as_asked(report, options.drawing);
  outputs.write([&](const Format& format, const Look& look, const ByteSink& sink) {
    format.report(report, look, sink);
  });
}

void refuse_name(const HeadName& name, std::string_view why) {
  throw Error(ErrorKind::kUsage,
              fmt::format("--expect: {} is not judged here: {}; a score can be asked for: {}>={}",
                          name.name, why, word_for(kScoreNames, name.score), name.at_least));
}

void check_expected(const HeadsOptions& options, const HeadsDocument& document) {
  std::vector<ScoreValues> scores;
  for (std::size_t i = 0; i < document.heads.size(); ++i) {
    scores.push_back(document.raw.means(i));
  }
  std::string failures;
  for (const Expectation& expected : options.expected) {
    if (expected.name() != nullptr && !document.judges(*expected.name())) {
      refuse_name(*expected.name(), unearned_note(document));
    }
    const std::string failure = expected.failure(document.heads, scores);
    failures += failure.empty() || failures.empty() ? failure : "; " + failure;
  }
  if (!failures.empty()) {
    throw Error(ErrorKind::kUnexpected, failures);
  }
}

}  // namespace

void check_expected_names(const HeadsOptions& options) {
  for (const Expectation& expected : options.expected) {
    if (expected.name() != nullptr && (options.patterns || options.input.is_given())) {
      refuse_name(*expected.name(), fmt::format("names are earned on probes of {} tokens or more",
                                                kShortestNamedProbe));
    }
  }
}

std::string interrupted_note(std::size_t line) {
  return fmt::format("interrupted after line {}", line);
}

void write_and_judge(Outputs& outputs, const HeadsOptions& options, const HeadsDocument& document) {
  const auto judge = [&] {
    if (const auto line = document.interrupted_after()) {
      throw Error(ErrorKind::kInterrupted, interrupted_note(*line));
    }
    check_expected(options, document);
  };
  try {
    write_scores(outputs, options, document);
  } catch (const ClosedPipe&) {
    judge();
    throw;
  }
  judge();
}

}  // namespace attnviz::app
