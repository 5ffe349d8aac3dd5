// Writes scores of heads and checks expectations. Keeps sums over many texts in a file while the
// texts are read. Scores heads from a file of attention or sums.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/report/heads_document.h"
#include "attnviz/report/json/corpus_scores.h"
#include "commands/input.h"
#include "options/command_options.h"
#include "outputs/outputs.h"

namespace attnviz::app {

/// Call before slow work. Throws Error{kUsage} if --expect names a pattern although no probes are
/// scored.
void check_expected_names(const HeadsOptions& options);

/// "interrupted after line 7".
std::string interrupted_note(std::size_t line);

/// Throws what Outputs::write() throws, Error{kInterrupted} for a document that was interrupted,
/// and Error{kUnexpected} for one that does not meet --expect: also if the output's reader stops
/// early.
void write_and_judge(Outputs& outputs, const HeadsOptions& options, const HeadsDocument& document);

class PartialFile {
 public:
  /// Keeps `sums`, which must outlive it.
  PartialFile(std::filesystem::path path, CorpusScores& sums)
      : path_(std::move(path)), sums_(sums) {}

  /// Throws Error{kUsage} if the file exists and would be overwritten.
  void require_new() const;

  /// Loads the sums from the file, if it exists, and skips the lines that they cover. Throws
  /// Error{kUsage} if they are not sums over the beginning of this input.
  void resume(TextSource& source, const Verbosity& verbosity);

  /// Saves the sums after these lines of the input.
  void save(const LinesRead& lines);

  bool is_due() const;

 private:
  using Clock = std::chrono::steady_clock;

  [[noreturn]] void refuse_to_resume(const std::string& why) const;

  std::filesystem::path path_;
  CorpusScores& sums_;
  Clock::time_point saved_ = Clock::now();
};

/// How the options score the tokens of a text.
ScoredTokens::Options how_scored(const HeadsOptions& options, const TokenizedText& text);

/// Scores from the file options.patterns, without notes. Throws what read_attention() and
/// read_corpus_scores() throw, and Error{kUsage} for output that the file cannot provide.
HeadsDocument score_file(const HeadsOptions& options);

}  // namespace attnviz::app
