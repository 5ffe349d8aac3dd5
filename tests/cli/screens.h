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

/// Whether two lines are the same but for what another SIMD target may round differently: the last
/// printed digit of numbers with decimals, one higher or lower, and numbers below 1e-05, which are
/// rounding errors themselves.
inline bool is_same_line(const std::string& a, const std::string& b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t at = 0; at < a.size();) {
    std::size_t end = at;
    while (end < a.size() && is_digit(a[end]) && is_digit(b[end])) {
      ++end;
    }
    const auto is_tiny = [&](const std::string& line) {
      return line.compare(end, 2, "e-") == 0 && line.compare(end + 2, 2, "06") >= 0;
    };
    if (end > at && is_tiny(a) && is_tiny(b)) {
      at = end + 4;
      continue;
    }
    const bool has_decimals = end > at && end < a.size() && a[end] == '.' && b[end] == '.';
    if (has_decimals) {
      for (++end; end < a.size() && is_digit(a[end]) && is_digit(b[end]);) {
        ++end;
      }
      const auto digits = [&](std::string number) {
        number.erase(number.find('.'), 1);
        return std::stoll(number);
      };
      if (std::abs(digits(a.substr(at, end - at)) - digits(b.substr(at, end - at))) > 1) {
        return false;
      }
    } else {
      end = std::max(end, at + 1);
      if (a.compare(at, end - at, b, at, end - at) != 0) {
        return false;
      }
    }
    at = end;
  }
  return true;
}

/// Fails the test unless `output` is the text of screens/NAME.txt, but for last digits, and shows
/// the first line that differs. With ATTNVIZ_UPDATE_SCREENS in the environment it writes that file
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
  while (at < before.size() && at < now.size() && is_same_line(before[at], now[at])) {
    ++at;
  }
  if (at == before.size() && at == now.size()) {
    return;
  }
  FAIL_CHECK("line " << at + 1 << "\n  expected " << line_at(before, at) << "\n  printed  "
                     << line_at(now, at));
}

}  // namespace attnviz::test
