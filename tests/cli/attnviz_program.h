// The built program, run from a test.
#pragma once

#include <algorithm>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "support/json.h"
#include "support/run_program.h"
#include "support/screen_text.h"

namespace attnviz::test {

/// Models, texts and numbers of other programs: those of the project, and more where the folder is.
inline const std::string kReference = ATTNVIZ_SOURCE_DIR "/tests/reference/";
inline const std::string kSharedReference = ATTNVIZ_SOURCE_DIR "/../shared/reference/";
inline const std::string kModels = kReference + "models/";
inline const std::string kStories = kSharedReference + "models/stories260k";

inline ProgramResult attnviz(const ProgramRun& run) {
  return run_program(ATTNVIZ_PROGRAM, run);
}

inline ProgramResult attnviz(std::vector<std::string> arguments, std::string input = {}) {
  ProgramRun run;
  run.arguments = std::move(arguments);
  run.input = std::move(input);
  return attnviz(run);
}

/// The same, in a folder.
inline ProgramResult in_folder(const TemporaryFolder& folder, std::vector<std::string> arguments,
                               std::string input = {}) {
  ProgramRun run;
  run.folder = folder.path();
  run.arguments = std::move(arguments);
  run.input = std::move(input);
  return attnviz(run);
}

/// In a shell in which $PROGRAM is the program, and whose current folder this is.
inline ProgramResult in_shell(const TemporaryFolder& folder, const std::string& script) {
  ProgramRun run;
  run.folder = folder.path();
  run.environment = {{"PROGRAM", ATTNVIZ_PROGRAM}, {"SOURCE", ATTNVIZ_SOURCE_DIR}};
  run.arguments = {"-c", script};
  return run_program("/bin/bash", run);
}

/// The JSON document that the program prints for these arguments.
inline nlohmann::json attnviz_json(std::vector<std::string> arguments, std::string input = {}) {
  arguments.emplace_back("--json");
  const ProgramResult result = attnviz(std::move(arguments), std::move(input));
  return parse_json(result.out);
}

/// What a terminal shows of `text`.
inline std::string terminal_text(const std::string& text) {
  std::string shown = without_escapes(text);
  std::erase(shown, '\r');
  return shown;
}

/// Whether `message` names each of `parts`: options, numbers, files, keys, in any order. The words
/// around them may change without a change to the tests.
inline bool mentions(const std::string& message, const std::vector<std::string>& parts) {
  return std::ranges::all_of(parts, [&message](const std::string& part) {
    if (!contains(message, part)) {
      MESSAGE("\"" << part << "\" is missing in: " << message);
      return false;
    }
    return true;
  });
}

/// The head that the sentence below an overview names, as in "L2H1: …"; empty without one.
inline std::string captioned_head(const std::string& screen) {
  static const std::regex caption("(^|\n)(L[0-9]+H[0-9]+): ");
  std::smatch match;
  return std::regex_search(screen, match, caption) ? match[2].str() : std::string();
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace attnviz::test
