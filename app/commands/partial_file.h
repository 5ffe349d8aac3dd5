// The file that keeps sums over many texts while these are read.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include "attnviz/document/corpus_scores.h"
#include "commands/input.h"

namespace attnviz::app {

class PartialFile {
 public:
  /// Keeps `sums`, which must live as long.
  PartialFile(std::filesystem::path path, CorpusScores& sums)
      : path_(std::move(path)), sums_(sums) {}

  /// Throws Error{kUsage} when there are sums, or something else, that would be lost.
  void require_new() const;

  /// Takes the sums of the file, if there is one, and skips the lines that are in them. Throws
  /// Error{kUsage} when they are no beginning of this input's sums.
  void resume(TextSource& source, const TalkOptions& talk);

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

}  // namespace attnviz::app
