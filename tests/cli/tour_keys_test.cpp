// attnviz tour at a terminal: the answers that go through it.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <regex>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

constexpr const char* kQuestion = "[Enter: ";

// The numbers of the screens' titles, in the order in which they were printed.
std::string screens_seen(const std::string& printed) {
  const std::string out = terminal_text(printed);
  static const std::regex title("(^|\n)([1-6]) of 6: ");
  std::string numbers;
  for (std::sregex_iterator found(out.begin(), out.end(), title), end; found != end; ++found) {
    numbers += (*found)[2];
  }
  return numbers;
}

// Typed on a terminal.
ProgramResult typed(const std::string& keys, std::vector<std::string> options = {}) {
  ProgramRun run;
  run.arguments = {"tour"};
  run.arguments.insert(run.arguments.end(), options.begin(), options.end());
  run.environment["TERM"] = "xterm-256color";
  run.tty_columns = 80;
  run.stdin_is_tty = true;
  run.input = keys;
  return attnviz(run);
}

}  // namespace

TEST_CASE("tour: Enter leads through all screens and out") {
  const ProgramResult run = typed("\n\n\n\n\n\n");
  CHECK(run.exit_code == 0);
  CHECK(screens_seen(run.out) == "123456");
  CHECK(typed(" \n \n\n\n\n \n").exit_code == 0);
}

TEST_CASE("tour: b goes back, from the first screen nowhere, and q leaves") {
  CHECK(screens_seen(typed("q\n").out) == "1");
  CHECK(screens_seen(typed("\nb\nq\n").out) == "121");
  CHECK(screens_seen(typed("b\n\n\nB\nQ\n").out) == "11232");
  CHECK(screens_seen(typed("\n\n\n\n\nb\nq\n").out) == "1234565");
  CHECK(typed("q\n").exit_code == 0);
}

TEST_CASE("tour: the end of input leaves, and an interrupt does as everywhere") {
  const ProgramResult ended = typed("\n\x04");
  CHECK(ended.exit_code == 0);
  CHECK(screens_seen(ended.out) == "12");
  ProgramRun run;
  run.arguments = {"tour"};
  run.tty_columns = 80;
  run.stdin_is_tty = true;
  run.signal_after_output = SIGINT;
  CHECK(attnviz(run).exit_code == 130);
}

TEST_CASE("tour: another answer is asked again") {
  const ProgramResult run = typed("x\n\n q \n");
  CHECK(screens_seen(run.out) == "12");
  CHECK(run.exit_code == 0);
}

TEST_CASE("tour: no question where it cannot be answered, and none with --all") {
  CHECK(contains(typed("q\n").out, kQuestion));
  const ProgramResult all = typed("", {"--all"});
  CHECK(screens_seen(all.out) == "123456");
  CHECK(!contains(all.out, kQuestion));
  ProgramRun run;
  run.arguments = {"tour"};
  run.tty_columns = 80;  // standard input is a pipe
  CHECK(screens_seen(attnviz(run).out) == "123456");
  CHECK(!contains(attnviz(run).out, kQuestion));
}

TEST_CASE("tour: nothing moves the cursor or clears the screen") {
  static const std::regex escape("\x1b\\[[0-9;]*([A-Za-z])");
  const std::string out = typed("\n\n\n\n\n\n").out;
  std::size_t count = 0;
  for (std::sregex_iterator found(out.begin(), out.end(), escape), end; found != end; ++found) {
    CHECK((*found)[1] == "m");
    ++count;
  }
  CHECK(count == static_cast<std::size_t>(std::count(out.begin(), out.end(), '\x1b')));
}

TEST_CASE("tour: the question names the answers that there are") {
  const std::string out = typed("\n\n\n\n\n\n").out;
  CHECK(mentions(out, {"[Enter: next   q: quit] ", "[Enter: next   b: back   q: quit] ",
                       "[Enter: end   b: back] "}));
}

TEST_CASE("tour: at 80 x 24 each screen leaves a line for the question") {
  const std::string out = attnviz({"tour", "--all"}).out;
  std::size_t begin = out.find("1 of 6: ");
  for (const char* const next : {"2 of 6: ", "3 of 6: ", "4 of 6: ", "5 of 6: ", "6 of 6: ", ""}) {
    REQUIRE(begin != std::string::npos);
    const std::size_t end = *next == '\0' ? out.size() : out.find(next);
    CHECK(std::ranges::count(out.substr(begin, end - begin), '\n') < 24);
    begin = end;
  }
}

}  // namespace attnviz::test
