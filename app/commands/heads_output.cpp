#include "commands/heads_output.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/message.h"
#include "attnviz/report/json/attention_reader.h"
#include "attnviz/report/json/corpus_scores.h"
#include "attnviz/report/model_info.h"
#include "attnviz/report/patterns/step_patterns.h"
#include "attnviz/report/reports/reports.h"
#include "commands/attention_run.h"
#include "outputs/outputs.h"
#include "system/diagnostics.h"
#include "system/output_file.h"

namespace attnviz::app {

namespace {

// Writes the scores to the outputs; warns about options without effect.
void write_scores(Outputs& outputs, const HeadsOptions& options, const HeadsDocument& document) {
  const bool is_test = options.verbosity.quiet && !options.expected.empty();
  if (is_test && options.output.files.empty() && !options.output.json) {
    return;  // with --quiet, --expect is a mere test
  }
  if (!outputs.writes(Content::kPage) && (options.map || !outputs.writes(Content::kScreen))) {
    warn_unused(options.verbosity, Effect::kTable, "no table was drawn");
  }
  std::optional<Heatmap> map;
  // A page has a table anyway; it gets a map of the default score only if some head has that score.
  bool has_usual = false;
  for (std::size_t i = 0; i < document.heads.size(); ++i) {
    has_usual = has_usual || document.raw.estimate(i, Score::kInduction);
  }
  if (options.map || outputs.writes(Content::kFigure) ||
      (outputs.writes(Content::kPage) && has_usual)) {
    map = heads_map(document, options.map.value_or(Score::kInduction));
  } else {
    warn_unused(options.verbosity, Effect::kMap, "no map was drawn (--score, -o FILE.png)");
  }
  Report report = heads_report(document, options.table);
  if (options.map) {
    show_only(report, std::move(*map));
  } else if (map) {
    report.draw(Figure{std::move(*map), /*on_screen=*/false});
  }
  draw_as_asked(report, options.drawing);
  outputs.write(report);
}

void refuse_name(const HeadName& name, std::string_view why) {
  throw Error(ErrorKind::kUsage,
              fmt::format("--expect: {} cannot be judged here: {}; a score can: {}>={}", name.name,
                          why, word_for(kScoreNames, name.score), name.at_least));
}

void check_expected(const HeadsOptions& options, const HeadsDocument& document) {
  std::vector<ScoreValues> scores;
  for (std::size_t i = 0; i < document.heads.size(); ++i) {
    scores.push_back(document.raw.means(i));
  }
  std::string failures;
  for (const Expectation& expected : options.expected) {
    if (expected.name() != nullptr && !document.judges(*expected.name())) {
      refuse_name(*expected.name(), random_baseline_note(document));
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
      refuse_name(*expected.name(),
                  fmt::format("heads are identified only on test sequences of at least {} tokens",
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

void PartialFile::require_new() const {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path_, ignored)) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format(
            "--partial {}: exists and would be overwritten; --resume continues with its sums",
            path_.string()));
  }
}

void PartialFile::resume(TextSource& source, const Verbosity& verbosity) {
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored)) {
    return;
  }
  const MappedFile file(path_);
  CorpusScores earlier = read_corpus_scores(file.bytes(), path_.string());
  if (const std::string difference = sums_.difference(earlier); !difference.empty()) {
    refuse_to_resume(difference);
  }
  if (earlier.lines_print.empty()) {
    refuse_to_resume("merged sums have no position in one corpus");
  }
  if (const std::string difference = sums_.input_difference(earlier); !difference.empty()) {
    refuse_to_resume(difference);
  }
  source.skip_lines(earlier.n_lines);
  const std::string n_lines = counted(earlier.n_lines, "line");
  const LinesRead& skipped = source.lines();
  if (source.is_stopped()) {
    throw Error(ErrorKind::kInterrupted, interrupted_note(skipped.count()));
  }
  if (skipped.count() < earlier.n_lines) {
    refuse_to_resume(
        fmt::format("counts {}, but {} has {}", n_lines, source.name(), skipped.count()));
  }
  if (skipped.fingerprint() != earlier.lines_print) {
    refuse_to_resume(fmt::format("counts another corpus: {} does not begin with its {}",
                                 source.name(), n_lines));
  }
  if (earlier.n_lines > 0) {
    inform(verbosity, fmt::format("{}: skipped {} already counted in {}", source.name(), n_lines,
                                  path_.string()));
  }
  sums_ = std::move(earlier);
}

void PartialFile::save(const LinesRead& lines) {
  sums_.n_lines = lines.count();
  sums_.lines_print = lines.fingerprint();
  OutputFile file(path_);
  write_corpus_scores(sums_, [&file](std::string_view bytes) { file.write(bytes); });
  file.commit();
  saved_ = Clock::now();
}

bool PartialFile::is_due() const {
  constexpr std::chrono::seconds kMost{10};
  return Clock::now() - saved_ > kMost;
}

void PartialFile::refuse_to_resume(const std::string& why) const {
  throw Error(ErrorKind::kUsage, fmt::format("{}: --resume: {}", path_.string(), why));
}

namespace {

ScoredTokens tokens_of(const HeadsOptions& options, const AttentionDocument& document) {
  TokenizedText text;
  for (const std::string& token : document.query_tokens) {
    text.tokens.emplace_back().text = token;
  }
  const ScoredTokens::Options how = how_scored(options, text);
  const std::vector<TokenId> ids = options.input.ids.value_or(document.token_ids);
  if (ids.empty()) {
    return {text.size(), how};
  }
  if (ids.size() != text.size()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--ids: {} ids for {} tokens", ids.size(), text.size()));
  }
  return {ids, how};
}

// Reads sums; refuses options that would have had to be given when the sums were made.
HeadsDocument read_sums(const HeadsOptions& options, std::string_view bytes,
                        const std::string& name) {
  const CorpusScores sums = read_corpus_scores(bytes, name);
  const bool is_band_asked = options.asks_band && options.band != sums.band;
  const char* const option = !options.heads.heads.empty()    ? "--head"
                             : !options.heads.layers.empty() ? "--layer"
                             : options.input.ids             ? "--ids"
                             : options.punctuation           ? "--punctuation"
                             : options.transformer_lens      ? "--transformer-lens"
                             : is_band_asked                 ? "--band"
                                                             : nullptr;
  if (option != nullptr) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: {} holds sums that were made without it", option, name));
  }
  return sums.document();
}

}  // namespace

ScoredTokens::Options how_scored(const HeadsOptions& options, const TokenizedText& text) {
  ScoredTokens::Options how;
  how.band = options.band;
  how.punctuation = options.punctuation.value_or(punctuation_of(text));
  return how;
}

HeadsDocument score_file(const HeadsOptions& options) {
  const MappedFile file(*options.patterns);
  const std::string name = options.patterns->string();
  if (are_corpus_scores(file.bytes())) {
    return read_sums(options, file.bytes(), name);
  }
  std::vector<ReadDocument> read = read_attention(file.bytes(), name, {});
  if (read.size() > 1) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: has {} documents; score them one at a time", name, read.size()));
  }
  AttentionDocument& patterns = read.front().document;
  if (patterns.kind != PatternKind::kWeights) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: holds {}, but heads scores attention weights (--show weights)",
                            name, word_for(kPatternKinds, patterns.kind)));
  }
  if (patterns.part == AttentionPart::kCross ||
      patterns.query_tokens.size() != patterns.key_tokens.size()) {
    throw Error(
        ErrorKind::kUnsupported,
        name + ": queries and keys are different tokens, but head scores need the same tokens");
  }
  keep_patterns(patterns,
                select_heads(heads_of(patterns), options.heads.heads, options.heads.layers));
  const ScoredTokens tokens = tokens_of(options, patterns);
  if (options.transformer_lens && !tokens.has_ids()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--transformer-lens: {} has no token ids; give --ids", name));
  }
  HeadsDocument document;
  document.model = patterns.model;
  document.run = patterns.run;
  document.source = FileSource{name, tokens.size()};
  document.heads = heads_of(patterns);
  document.raw = ScoreMeans(document.heads.size());
  if (const std::string note = row_sum_note(patterns); !note.empty()) {
    document.notes.push_back(note);
  }
  if (std::string note = visibility_note(document.run, document.heads, tokens.size());
      !note.empty()) {
    document.notes.push_back(std::move(note));
  }
  if (patterns.average) {
    document.notes.emplace_back(patterns.average->rollout
                                    ? "attention rollout through all layers, not a head's own"
                                    : "means over several heads, not a head's own");
  }
  DetectHead detect(document.heads, tokens);
  try {
    const PatternScores scores =
        pattern_scores(patterns, tokens, options.transformer_lens ? &detect : nullptr);
    document.raw.add(scores.heads);
    document.uniform = scores.uniform;
    if (scores.n_hidden > 0) {
      document.notes.push_back(fmt::format("{} on keys that the mask hides count as 0",
                                           counted(scores.n_hidden, "weight")));
    }
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", name, error.what()));
  }
  if (options.transformer_lens) {
    for (const HeadId head : document.heads) {
      document.detected.push_back(detected_scores(detect, head));
    }
  }
  return document;
}

}  // namespace attnviz::app
