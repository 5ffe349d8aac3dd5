// Where scores of heads go, and what they are judged by. The file that keeps sums over many texts
// while these are read. Scores of heads whose attention, or whose sums, lie in a file.
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

/// Before slow work. Throws Error{kUsage} for names that are asked of what earns none.
void check_expected_names(const HeadsOptions& options);

/// "interrupted after line 7".
std::string interrupted_note(std::size_t line);

/// Throws what Outputs::write() throws, Error{kInterrupted} for a document that was interrupted,
/// and Error{kUnexpected} for one that is not as --expect has it: also where nobody reads it to its
/// end.
void write_and_judge(Outputs& outputs, const HeadsOptions& options, const HeadsDocument& document);

class PartialFile {
 public:
  /// Keeps `sums`, which must live as long.
  PartialFile(std::filesystem::path path, CorpusScores& sums)
      : path_(std::move(path)), sums_(sums) {}

  /// Throws Error{kUsage} when there are sums, or something else, that would be lost.
  void require_new() const;

  /// Takes the sums of the file, if there is one, and skips the lines that are in them. Throws
  /// Error{kUsage} when they are no beginning of this input's sums.
  void resume(TextSource& source, const Verbosity& verbosity);

  /// After these lines of the input.
  void save(const LinesRead& lines);

  bool is_due() const;

 private:
  using Clock = std::chrono::steady_clock;

  [[noreturn]] void refuse_to_resume(const std::string& why) const;

  std::filesystem::path path_;
  CorpusScores& sums_;
  Clock::time_point saved_ = Clock::now();
};

/// What the options ask of a text's scores.
ScoredTokens::Options how_scored(const HeadsOptions& options, const TokenizedText& text);

/// Of options.patterns; without notes. Throws what read_attention() and read_corpus_scores() throw,
/// and Error{kUsage} for what the file cannot give.
HeadsDocument score_file(const HeadsOptions& options);

}  // namespace attnviz::app
