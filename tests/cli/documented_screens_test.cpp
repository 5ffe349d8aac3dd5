// What the pages for readers say that a command prints is what it prints.
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

// A line of "…" alone stands for any number of them; those at the end may be left out.
bool shows(const std::vector<std::string>& printed, const std::vector<std::string>& told) {
  std::size_t at = 0;
  bool may_skip = false;
  for (const std::string& line : told) {
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

TEST_CASE("pages for readers: commands print what stands there") {
  // At least so many of each: one that is not found is not run.
  const std::map<std::string, std::size_t> pages = {{"samples/lessons.md", 19},
                                                    {"samples/recipes.md", 3}};
  for (const auto& [page, n_screens] : pages) {
    const std::vector<Screen> screens = screens_of(page);
    CHECK(screens.size() >= n_screens);
    for (const Screen& screen : screens) {
      CAPTURE(screen.command);
      ProgramRun run;
      run.folder = ATTNVIZ_SOURCE_DIR;
      run.arguments = {"-c", screen.command};
      run.environment = {{"PATH", std::filesystem::path(ATTNVIZ_PROGRAM).parent_path().string() +
                                      ":/usr/bin:/bin"},
                         {"LC_ALL", "C.UTF-8"},
                         {"COLUMNS", "80"}};
      const ProgramResult result = run_program("/bin/sh", run);
      CHECK(result.exit_code == 0);
      CAPTURE(result.out);
      CAPTURE(result.err);
      CHECK(shows(lines_of(result.out), screen.lines));
    }
  }
}

}  // namespace attnviz::test
