#include <fmt/core.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/message.h"
#include "attnviz/document/json/corpus_scores_json.h"
#include "commands/commands.h"
#include "system/file_id.h"
#include "system/output_file.h"
#include "system/talk.h"

namespace attnviz::app {

void run(const MergeOptions& options) {
  constexpr std::size_t kMostFiles = 4096;
  if (options.files.size() > kMostFiles) {
    throw Error(ErrorKind::kUsage, fmt::format("expected at most {} at once, found {}",
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
      tell(options.talk,
           fmt::format("{}: counts the same lines as a file before it: they count twice",
                       file.string()));
    }
    sum->add(scores);
  }
  tell(options.talk, fmt::format("{} of {}", counted(sum->raw.n_texts(), "text"),
                                 counted(options.files.size(), "file")));
  if (options.output == "-") {
    return write_corpus_scores(*sum, write_to_stdout);
  }
  OutputFile file(options.output);
  write_corpus_scores(*sum, [&file](std::string_view bytes) { file.write(bytes); });
  file.commit();
  tell(options.talk, "wrote " + options.output);
}

}  // namespace attnviz::app
