// Commands print what the pages for readers say they print.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

struct Screen {
  std::string command;
  std::vector<std::string> lines;
};

// The blocks of a page that begin with "$ ".
std::vector<Screen> screens_of(const std::string& page) {
  std::vector<Screen> screens;
  bool is_open = false;
  bool goes_on = false;
  for (const std::string& line : lines_of(read_file(ATTNVIZ_SOURCE_DIR "/" + page))) {
    if (line.starts_with("```")) {
      is_open = line == "```text";
      goes_on = false;
    } else if (is_open && line.starts_with("$ ")) {
      screens.push_back({line.substr(2), {}});
      goes_on = line.ends_with('\\');
    } else if (is_open && goes_on) {
      screens.back().command += "\n" + line;
      goes_on = line.ends_with('\\');
    } else if (is_open && !screens.empty()) {
      screens.back().lines.push_back(line);
    }
  }
  return screens;
}

// The commands in the rows of a page's tables; "…" stands for what a reader types.
std::vector<std::string> table_commands(const std::string& page) {
  std::vector<std::string> commands;
  for (const std::string& line : lines_of(read_file(ATTNVIZ_SOURCE_DIR "/" + page))) {
    const std::size_t begin = line.find("`attnviz ");
    if (line.starts_with("| ") && begin != std::string::npos && !contains(line, "…")) {
      commands.push_back(line.substr(begin + 1, line.find('`', begin + 1) - begin - 1));
    }
  }
  return commands;
}

ProgramResult typed_in(const std::filesystem::path& folder, const std::string& command) {
  ProgramRun run;
  run.folder = folder;
  run.arguments = {"-c", command};
  run.environment = {
      {"PATH", std::filesystem::path(ATTNVIZ_PROGRAM).parent_path().string() + ":/usr/bin:/bin"},
      {"LC_ALL", "C.UTF-8"},
      {"COLUMNS", "80"}};
  return run_program("/bin/sh", run);
}

// A line of "…" alone stands for any number of lines; those at the end may be left out.
bool shows(const std::vector<std::string>& printed, const std::vector<std::string>& expected) {
  std::size_t at = 0;
  bool may_skip = false;
  for (const std::string& line : expected) {
    if (line == "…") {
      may_skip = true;
      continue;
    }
    while (may_skip && at < printed.size() && printed[at] != line) {
      ++at;
    }
    if (at == printed.size() || printed[at] != line) {
      MESSAGE("not printed there: " << line);
      return false;
    }
    ++at;
    may_skip = false;
  }
  return may_skip || at == printed.size() || printed[at].empty();
}

}  // namespace

TEST_CASE("pages for readers: commands print what is shown there") {
  // At least this many on each page: a command that is not found is not run.
  const std::map<std::string, std::size_t> pages = {{"samples/lessons.md", 19},
                                                    {"samples/recipes.md", 3}};
  for (const auto& [page, n_screens] : pages) {
    const std::vector<Screen> screens = screens_of(page);
    CHECK(screens.size() >= n_screens);
    for (const Screen& screen : screens) {
      CAPTURE(screen.command);
      const ProgramResult result = typed_in(ATTNVIZ_SOURCE_DIR, screen.command);
      CHECK(result.exit_code == 0);
      CAPTURE(result.out);
      CAPTURE(result.err);
      CHECK(shows(lines_of(result.out), screen.lines));
    }
  }
}

TEST_CASE("lessons: each row of the table is a line that can be typed anywhere") {
  const TemporaryFolder folder;
  const std::vector<std::string> commands = table_commands("samples/lessons.md");
  CHECK(commands.size() >= 15);
  for (const std::string& command : commands) {
    CAPTURE(command);
    const ProgramResult result = typed_in(folder.path(), command);
    CHECK(result.exit_code == 0);
    CHECK_FALSE(result.out.empty());
    CHECK(result.err.empty());
  }
  CHECK(folder.names().empty());
}

}  // namespace attnviz::test
