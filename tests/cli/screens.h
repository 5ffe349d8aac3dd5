// Whole screens that the program prints, kept as text files in tests/cli/screens.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {

/// Fails the test unless `output` is byte for byte the text of screens/NAME.txt, and shows the
/// first line that differs. With ATTNVIZ_UPDATE_SCREENS in the environment it writes that file
/// instead: review what changed with git diff.
inline void check_screen(const std::string& name, const std::string& output) {
  const std::filesystem::path path = ATTNVIZ_SOURCE_DIR "/tests/cli/screens/" + name + ".txt";
  if (std::getenv("ATTNVIZ_UPDATE_SCREENS") != nullptr) {
    write_file(path, output);
    return;
  }
  CAPTURE(path);
  REQUIRE_MESSAGE(std::filesystem::exists(path), "run once with ATTNVIZ_UPDATE_SCREENS=1");
  const std::string expected = read_file(path);
  if (output == expected) {
    return;
  }
  const std::vector<std::string> before = lines_of(expected);
  const std::vector<std::string> now = lines_of(output);
  const auto line_at = [](const std::vector<std::string>& lines, std::size_t i) {
    return i < lines.size() ? "\"" + lines[i] + "\"" : std::string("the end");
  };
  std::size_t at = 0;
  while (at < before.size() && at < now.size() && before[at] == now[at]) {
    ++at;
  }
  FAIL_CHECK("line " << at + 1 << "\n  expected " << line_at(before, at) << "\n  printed  "
                     << line_at(now, at));
}

}  // namespace attnviz::test
