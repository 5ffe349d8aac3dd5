// attnviz tour at a terminal: the keys that go through it, and how it leaves the terminal.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

constexpr const char* kQuestion = "[Enter or right arrow: ";

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

// One key after another, each when it is asked for.
ProgramResult pressed(std::vector<std::string> keys) {
  ProgramRun run;
  run.arguments = {"tour"};
  run.environment["TERM"] = "xterm-256color";
  run.tty_columns = 80;
  run.stdin_is_tty = true;
  run.prompt = "] ";
  run.keys = std::move(keys);
  return attnviz(run);
}

}  // namespace

TEST_CASE("tour: Enter goes on through all screens and out") {
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

TEST_CASE("tour: another key is answered with the keys that there are") {
  const ProgramResult run = typed("x\nq\n");
  CHECK(contains(run.out, "b, the left arrow and Page Up go back"));
  CHECK(screens_seen(run.out) == "1");
  CHECK(contains(pressed({"\x1b[H", "q"}).out, "Page Down go on"));
  CHECK(contains(pressed({"\xc3\xa9", "q"}).out, "Page Down go on"));
}

TEST_CASE("tour: no question where nobody can answer, and none with --all") {
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

TEST_CASE("tour: the question names the keys that there are") {
  const std::string out = typed("\n\n\n\n\n\n").out;
  CHECK(contains(out, "[Enter or right arrow: next   q: quit] "));
  CHECK(contains(out, "[Enter or right arrow: next   left arrow: back   q: quit] "));
  CHECK(contains(out, "[Enter: end   left arrow: back] "));
}

TEST_CASE("tour: single keys go on and back, and the last screen stays until Enter") {
  // As terminals send them, in both modes of the arrow keys, and with Shift.
  for (const std::string next :
       {"\x1b[C", "\x1b[B", "\x1bOC", "\x1bOB", "\x1b[6~", "\x1b[1;2C", " ", "n"}) {
    CAPTURE(next);
    CHECK(screens_seen(pressed({next, next, "q"}).out) == "123");
  }
  for (const std::string back :
       {"\x1b[D", "\x1b[A", "\x1bOD", "\x1bOA", "\x1b[5~", "b", "B", "\x7f"}) {
    CAPTURE(back);
    CHECK(screens_seen(pressed({" ", " ", back, "q"}).out) == "1232");
  }
  const ProgramResult stays = pressed({" ", " ", " ", " ", " ", "\x1b[C\x1b[6~\x1b[D", " ", "\n"});
  CHECK(screens_seen(stays.out) == "12345656");
  CHECK(stays.exit_code == 0);
  CHECK(pressed({" ", " ", " ", " ", " ", " "}).exit_code == 0);     // a space leaves the last one
  CHECK(screens_seen(pressed({"\n", "b\n", "\x04"}).out) == "121");  // as one types lines
}

TEST_CASE("tour: however it ends, the terminal is as it was") {
  if (!std::filesystem::exists("/usr/bin/setsid")) {
    MESSAGE("SKIPPED: no /usr/bin/setsid");
    return;
  }
  // What a shell says of the terminal before, while a key is waited for, and behind.
  const auto settings = [](const std::string& keys, const std::string& signal) {
    ProgramRun run;
    const std::string tour = "'" ATTNVIZ_PROGRAM "' tour < /dev/tty & ";
    const std::string wait =
        "for i in $(seq 200); do [ \"$(stty -g)\" = \"$before\" ] || break; sleep 0.1; done; ";
    run.arguments = {"-c", "-w", "/bin/sh", "-c",
                     "trap : INT; before=$(stty -g); echo \"$before\"; " + tour + wait +
                         "echo; stty -g; echo READY; " +
                         (signal.empty() ? "" : "kill -" + signal + " $!; ") +
                         "wait $!; code=$?; echo; echo $code; stty -g"};
    run.environment["TERM"] = "xterm";
    run.tty_columns = 80;
    run.stdin_is_tty = true;
    run.prompt = "READY";
    run.keys = {keys};
    const std::string out = terminal_text(run_program("/usr/bin/setsid", run).out);
    std::vector<std::string> told;
    for (const std::string& line : lines_of(out)) {
      if (std::count(line.begin(), line.end(), ':') > 20 ||
          (!line.empty() && line.find_first_not_of("0123456789") == std::string::npos)) {
        told.push_back(line);
      }
    }
    REQUIRE(told.size() == 4);
    CHECK(told[0] != told[1]);
    CHECK(told[0] == told[3]);
    return told[2];
  };
  CHECK(settings("q", "") == "0");
  CHECK(settings("\x04", "") == "0");
  CHECK(settings("", "TERM") == "130");
  CHECK(settings("", "HUP") == "130");
}

TEST_CASE("tour: Ctrl-C ends it, and Ctrl-Z stops it, with the terminal as it was") {
  if (!std::filesystem::exists("/usr/bin/setsid") || !std::filesystem::exists("/usr/bin/bash")) {
    MESSAGE("SKIPPED: no /usr/bin/setsid, or no /usr/bin/bash");
    return;
  }
  ProgramRun run;  // with jobs, as a shell at a terminal has them
  const std::string script =
      "set -m; stty -g; '" ATTNVIZ_PROGRAM
      "' tour; code=$?; echo; echo stopped $code; stty -g; fg; code=$?; echo; echo ended $code; "
      "stty -g";
  run.arguments = {"-c", "-w", "/usr/bin/bash", "-c", script};
  run.environment["TERM"] = "xterm";
  run.tty_columns = 80;
  run.stdin_is_tty = true;
  run.stderr_is_tty = true;
  run.prompt = kQuestion;
  run.keys = {" ", "\x1a", " ", "\x03"};
  const std::string out = terminal_text(run_program("/usr/bin/setsid", run).out);
  CHECK(screens_seen(out) == "123");
  CHECK(contains(out, "\nstopped 148\n"));  // 128 + SIGTSTP
  CHECK(contains(out, "\nended 130\n"));
  std::vector<std::string> settings;
  for (const std::string& line : lines_of(out)) {
    if (std::count(line.begin(), line.end(), ':') > 20) {
      settings.push_back(line);
    }
  }
  REQUIRE(settings.size() == 3);
  CHECK(settings[0] == settings[1]);
  CHECK(settings[0] == settings[2]);
}

TEST_CASE("tour: a screen that is longer than the window is gone through in parts") {
  ProgramRun run;
  run.arguments = {"tour"};
  run.environment["TERM"] = "xterm-256color";
  run.tty_columns = 40;
  run.tty_rows = 24;
  run.stdin_is_tty = true;
  run.prompt = "] ";
  run.keys = {"q"};
  const std::string first = terminal_text(attnviz(run).out);
  CHECK(contains(first, ": more   q: quit] "));
  CHECK(lines_of(first).size() <= run.tty_rows);
  run.keys = {" ", "b", " ", " ", "q"};
  CHECK(screens_seen(attnviz(run).out).starts_with("11"));
  run.keys = std::vector<std::string>(40, " ");
  const ProgramResult through = attnviz(run);
  CHECK(through.exit_code == 0);
  CHECK(screens_seen(through.out) == "123456");
  // Together the parts are what is printed without a question.
  std::string shown;
  bool is_question = false;
  for (const std::string& line : lines_of(terminal_text(through.out))) {
    is_question = line.starts_with("[Enter");
    shown += line.empty() || is_question ? "" : line + "\n";
    CHECK(line.size() <= 3 * *run.tty_columns);  // signs of several bytes
  }
  ProgramRun whole = run;
  whole.arguments = {"tour", "--all"};
  whole.keys = {};
  std::string all;
  for (const std::string& line : lines_of(terminal_text(attnviz(whole).out))) {
    all += line.empty() ? "" : line + "\n";
  }
  CHECK(shown == all);
}

TEST_CASE("tour: at 80 x 24 each screen is one part, with room for the question") {
  ProgramRun run;
  run.arguments = {"tour"};
  run.environment["TERM"] = "xterm-256color";
  run.tty_columns = 80;
  run.tty_rows = 24;
  run.stdin_is_tty = true;
  run.prompt = "] ";
  run.keys = std::vector<std::string>(6, " ");
  const ProgramResult through = attnviz(run);
  CHECK(screens_seen(through.out) == "123456");
  CHECK(!contains(through.out, "arrow: more"));
}

}  // namespace attnviz::test
