#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/heads/probe.h"
#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/attention/head_math.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/visibility.h"
#include "attnviz/core/error.h"
#include "attnviz/core/exact_sum.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/message.h"
#include "attnviz/report/json/corpus_scores.h"
#include "commands/attention_run.h"
#include "commands/commands.h"
#include "commands/heads_output.h"
#include "system/diagnostics.h"
#include "system/output_file.h"
#include "system/process.h"
#include "system/system_fonts.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

// Notes on the model, the run, and how far the scores can be judged.
std::vector<std::string> notes_of(const HeadsDocument& document) {
  std::vector<std::string> notes;
  if (document.model) {
    notes = model_notes(*document.model);
  }
  for (const std::string& note : run_notes(document.run)) {
    notes.push_back(note);
  }
  if (document.uniform[Score::kSinkAlpha].value_or(0.0) > kSinkEpsilon) {
    notes.emplace_back(
        "so few keys are visible that a head that spreads its attention evenly would already count "
        "as a sink");
  }
  if (std::string note = random_baseline_note(document); !note.empty()) {
    notes.push_back(std::move(note));
  }
  if (document.copying) {
    const std::optional<double>& sd = document.copying->random_sd;
    notes.push_back(
        sd ? fmt::format(
                 "copying: for random heads 0 on average, with a standard deviation of {:.2g}", *sd)
           : "copying: not measured, because the model has no embeddings or no unembedding");
  }
  if (document.known) {
    notes.push_back(
        fmt::format("{}; this model has the same shape, but was not checked to be theirs",
                    known_source(*document.known)));
  }
  if (const auto line = document.interrupted_after()) {
    notes.push_back(interrupted_note(*line));
  }
  return notes;
}

HeadsDocument::Copying copying_of_heads(const Model& model, const std::vector<HeadId>& heads,
                                        std::size_t n_threads) {
  HeadsDocument::Copying copying;
  copying.scores = copying_scores(model, heads, n_threads);
  if (copying.scores.empty()) {
    copying.scores.resize(heads.size());
    return copying;
  }
  std::size_t narrowest = model.config.d_model;
  for (const HeadId id : heads) {
    narrowest = std::min(narrowest, model.layers[id.layer].heads[id.head].d_value());
  }
  copying.random_sd = random_copying_sd(narrowest);
  return copying;
}

// Adds up the scores of heads, text by text.
class Scorer {
 public:
  Scorer(const HeadsOptions& options, const Model& model, const std::vector<HeadId>& heads)
      : options_(options), model_(model), sums_(heads) {
    request_.detect = options.transformer_lens;
    if (options.known) {
      require_known(model, *options.known);
      known_ = options.known;
    }
    if (options.copying) {
      copying_ = copying_of_heads(model, heads, options.request.n_threads);
    }
    sums_.band = options.band;
    sums_.run = facts_of_each(options, model);
    sums_.model = model_facts(model, {});
  }

  void add(const TokenizedText& text, const ScoredTokens& tokens) {
    request_.attention = request_of(options_, model_, text);
    require_memory_for(text.size());
    sums_.take_length(text.size());
    const TextScores scores = score_heads(model_, text, tokens, sums_.heads, request_);
    sums_.raw.add(scores.raw);
    sums_.weighted.add(scores.weighted);
    detected_ = scores.detected;
    const ScoreValues uniform = uniform_scores(
        tokens, shared_visibility(model_, sums_.heads, request_.attention, tokens.size()));
    sums_.uniform.add(std::span(&uniform, 1));
    if (sums_.raw.n_texts() == 1) {
      sums_.model = model_facts(model_, text);
    }
  }

  /// As add(), for the only text; the run's facts then refer to its tokens.
  void add_only(const TokenizedText& text, const ScoredTokens& tokens) {
    add(text, tokens);
    sums_.run = run_facts(model_, request_.attention);
  }

  CorpusScores& sums() noexcept { return sums_; }

  HeadsDocument finish(ScoreSource source) {
    HeadsDocument document = sums_.document();
    document.source = std::move(source);
    document.detected = detected_;
    document.copying = copying_;
    document.known = known_;
    const std::vector<std::string> notes = notes_of(document);
    document.notes.insert(document.notes.begin(), notes.begin(), notes.end());
    if (has_output_gates(model_)) {
      document.notes.emplace_back(kGatesLeftOut);
    }
    return document;
  }

 private:
  void require_memory_for(std::size_t n_tokens) const {
    const auto bytes = [this](std::size_t n_heads, std::size_t n) {
      constexpr double kOfKey =
          2.0 * sizeof(ExactSum) + sizeof(double);  // weights, norms, their sums
      const auto rows =
          static_cast<double>(attending_rows(n) * request_.attention.n_threads * n) * sizeof(float);
      return layer_bytes(model_, n) + rows +
             static_cast<double>(n_heads) * static_cast<double>(n) * kOfKey;
    };
    require_memory_for_heads(bytes, "scoring", sums_.heads.size(), n_tokens);
  }

  const HeadsOptions& options_;
  const Model& model_;
  ScoreRequest request_;  // for the last text
  CorpusScores sums_;
  std::vector<DetectedScores> detected_;  // of the last text
  std::optional<HeadsDocument::Copying> copying_;
  std::optional<KnownModel> known_;
};

std::vector<TokenizedText> given_probes(const HeadsOptions& options, const Tokenizer& tokenizer) {
  std::vector<TokenizedText> probes;
  for (const std::vector<TokenId>& ids : read_id_lists(*options.probe_ids)) {
    probes.push_back(tokenizer.from_ids(ids));
  }
  return probes;
}

HeadsDocument score_probes(const HeadsOptions& options, AttentionSetup& setup,
                           const Tokenizer& tokenizer, Scorer& scorer) {
  ProbeSource probes{options.probe, options.probe_ids.has_value(), {}};
  probes.texts = probes.is_given
                     ? given_probes(options, tokenizer)
                     : make_probes(setup.model, dynamic_cast<const ModelTokenizer*>(&tokenizer),
                                   options.probe);
  ProgressLine progress("probes", options.verbosity);
  double n_done = 0.0;
  for (const TokenizedText& probe : probes.texts) {
    scorer.add(probe, probe_tokens(probe, options.probe, options.band));
    ++n_done;
    if (const ProgressReport report = progress.report()) {
      report(n_done / static_cast<double>(probes.texts.size()));
    }
  }
  // Warns about a text piped in without "-". It is not read, because it may belong to a script or a
  // loop. This check comes last to give the pipe's writer time to write.
  if (stdin_has_unread()) {
    inform(options.verbosity,
           "scored heads on random tokens; attnviz heads - reads a text from standard input");
  }
  return scorer.finish(std::move(probes));
}

ScoredTokens scored_tokens(const HeadsOptions& options, const TokenizedText& text) {
  return {text.ids(), how_scored(options, text)};
}

HeadsDocument score_text(const HeadsOptions& options, AttentionSetup& setup,
                         const Tokenizer& tokenizer, Scorer& scorer) {
  TokenizedText text;
  setup.source.for_each([&](const InputText& input) {
    text = read_text(setup, options, tokenizer, input);
    scorer.add_only(text, scored_tokens(options, text));
  });
  return scorer.finish(ScoredText{std::move(text)});
}

// The reading choices that sums in a file depend on.
CorpusReading reading_of(const HeadsOptions& options) {
  CorpusReading reading;
  reading.format = options.input.json_lines ? LineFormat::kJson : LineFormat::kText;
  reading.pair = options.input.pair;
  reading.bos = options.input.bos;
  reading.special = options.input.special;
  reading.truncate = options.truncate;
  if (options.punctuation) {
    const std::set<std::size_t> indices(options.punctuation->begin(), options.punctuation->end());
    reading.punctuation.emplace(indices.begin(), indices.end());
  }
  return reading;
}

HeadsDocument score_corpus(const HeadsOptions& options, AttentionSetup& setup,
                           const Tokenizer& tokenizer, Scorer& scorer) {
  const Interruption interruption;
  CorpusScores& sums = scorer.sums();
  std::optional<PartialFile> partial;
  if (options.partial) {
    for (const std::filesystem::path& file : read_files(options, setup.origin)) {
      refuse_to_overwrite("--partial", *options.partial, file);
    }
    sums.model_print = model_fingerprint(setup.model);
    sums.tokenizer_print = tokenizer_fingerprint(tokenizer);
    sums.reading = reading_of(options);
    partial.emplace(*options.partial, sums);
    if (options.resume) {
      partial->resume(setup.source, options.verbosity);
    } else {
      partial->require_new();
    }
    // Reports a folder that cannot be written before slow work.
    partial->save(setup.source.lines());
  }
  ProgressLine progress("texts", options.verbosity);
  const ProgressReport report = progress.report();
  LinesRead done = setup.source.lines();
  const auto save = [&] {
    if (partial) {
      partial->save(done);
    }
  };
  try {
    setup.source.for_each([&](const InputText& input) {
      const TokenizedText text = read_text(setup, options, tokenizer, input);
      scorer.add(text, scored_tokens(options, text));
      done = setup.source.lines();
      if (report) {
        report(setup.source.share_read());
      }
      if (partial && partial->is_due()) {
        save();
      }
      if (interruption.is_requested()) {
        setup.source.stop();
      }
    });
  } catch (const Error&) {
    save();
    throw;
  }
  const bool is_interrupted = interruption.is_requested();
  done = is_interrupted ? done : setup.source.lines();
  save();
  if (is_interrupted && sums.raw.n_texts() == 0) {
    throw Error(ErrorKind::kInterrupted, interrupted_note(done.count()));  // existing outputs stay
  }
  CorpusSource corpus{sums.raw.n_texts()};
  if (is_interrupted) {
    corpus.interrupted_after = done.count();
  }
  return scorer.finish(corpus);
}

void run_file(const HeadsOptions& options) {
  Phases phases(options.verbosity);
  const auto fonts = open_fonts(options.look.fonts, options.verbosity);
  Outputs outputs({.result = Result::kReport,
                   .options = options.output,
                   .look = options.look,
                   .verbosity = options.verbosity,
                   .fonts = *fonts,
                   .read_files = {*options.patterns}});
  HeadsDocument document = score_file(options);
  const std::vector<std::string> notes = notes_of(document);
  document.notes.insert(document.notes.begin(), notes.begin(), notes.end());
  phases.done("scores");
  write_and_judge(outputs, options, document);
}

}  // namespace

void run(const HeadsOptions& options) {
  check_expected_names(options);
  if (options.patterns) {
    return run_file(options);
  }
  for (const std::string& name : options.output.files) {
    if (options.partial && name != "-" && same_place(name, *options.partial)) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("--partial {}: -o names the same file", options.partial->string()));
    }
  }
  AttentionSetup setup(
      options, options.look, Result::kReport, /*side_by_side=*/false,
      options.probe_ids ? std::vector{*options.probe_ids} : std::vector<std::filesystem::path>());
  setup.phases.done("model");
  const auto tokenizer = chosen_tokenizer(options, setup.origin, setup.model);
  const std::vector<HeadId> heads = chosen_heads(options.heads, setup.model, options.verbosity);
  setup.model.config.named_heads.reset();  // measured here instead
  Scorer scorer(options, setup.model, heads);
  HeadsDocument document;
  if (!options.input.is_given()) {
    document = score_probes(options, setup, *tokenizer, scorer);
  } else if (!options.input.many_texts()) {
    document = score_text(options, setup, *tokenizer, scorer);
  } else {
    document = score_corpus(options, setup, *tokenizer, scorer);
  }
  setup.phases.done("scores");
  write_and_judge(setup.outputs, options, document);
  setup.phases.done("render");
}

void run(const MergeOptions& options) {
  constexpr std::size_t kMostFiles = 4096;
  if (options.files.size() > kMostFiles) {
    throw Error(ErrorKind::kUsage, fmt::format("expected at most {} files, found {}",
                                               counted(kMostFiles, "file"), options.files.size()));
  }
  std::optional<CorpusScores> sum;
  std::set<FileId> known;
  std::set<std::string> prints;  // of lines
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    const std::filesystem::path& file = options.files[i];
    refuse_to_overwrite("-o", options.output, file);
    if (const auto id = id_of(file); id && !known.insert(*id).second) {
      throw Error(ErrorKind::kUsage, fmt::format("{}: given twice", file.string()));
    }
    const MappedFile bytes(file);
    const CorpusScores scores = read_corpus_scores(bytes.bytes(), file.string());
    bool shares_lines = false;
    for (std::string& print : scores.prints()) {
      shares_lines = !prints.insert(std::move(print)).second || shares_lines;
    }
    if (!sum) {
      sum = scores;
      continue;
    }
    if (const std::string difference = sum->difference(scores); !difference.empty()) {
      throw Error(ErrorKind::kUsage, fmt::format("{}: does not go with {}: {}", file.string(),
                                                 options.files.front().string(), difference));
    }
    if (shares_lines) {
      inform(options.verbosity,
             fmt::format("{}: counts the same lines as an earlier file, so they count twice",
                         file.string()));
    }
    sum->add(scores);
  }
  inform(options.verbosity, fmt::format("{} of {}", counted(sum->raw.n_texts(), "text"),
                                        counted(options.files.size(), "file")));
  if (options.output == "-") {
    return write_corpus_scores(*sum, write_to_stdout);
  }
  OutputFile file(options.output);
  write_corpus_scores(*sum, [&file](std::string_view bytes) { file.write(bytes); });
  file.commit();
  inform(options.verbosity, "wrote " + options.output);
}

}  // namespace attnviz::app
