#include "commands/partial_file.h"

#include <fmt/core.h>

#include <string_view>
#include <system_error>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/message.h"
#include "attnviz/document/json/corpus_scores_json.h"
#include "commands/heads_output.h"
#include "system/output_file.h"
#include "system/talk.h"

namespace attnviz::app {

void PartialFile::require_new() const {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path_, ignored)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--partial {}: exists, and would be overwritten: --resume goes on "
                            "with the sums in it",
                            path_.string()));
  }
}

void PartialFile::resume(TextSource& source, const TalkOptions& talk) {
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
    refuse_to_resume("merged sums have no place in one corpus");
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
    refuse_to_resume(
        fmt::format("counts another text: {} does not begin with its {}", source.name(), n_lines));
  }
  if (earlier.n_lines > 0) {
    tell(talk,
         fmt::format("{}: {} skipped: counted in {}", source.name(), n_lines, path_.string()));
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

}  // namespace attnviz::app
