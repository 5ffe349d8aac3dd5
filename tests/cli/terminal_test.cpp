// What the program makes of the terminal: colour, width, style.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "attnviz/core/utf8.h"
#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

using Environment = std::map<std::string, std::string>;

bool has_color(const ProgramRun& run) {
  return contains(attnviz(run).out, "\x1b[");
}

ProgramRun piped(Environment environment, std::vector<std::string> options = {}) {
  ProgramRun run;
  run.arguments = std::move(options);
  run.arguments.emplace_back("The cat sat");
  run.environment = std::move(environment);
  return run;
}

ProgramRun on_terminal(Environment environment, std::vector<std::string> options = {}) {
  ProgramRun run = piped(std::move(environment), std::move(options));
  run.tty_columns = 100;
  return run;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (const std::string& line : lines_of(terminal_text(text))) {
    widest = std::max(widest, display_width(line));
  }
  return widest;
}

}  // namespace

TEST_CASE("colour: --color, then NO_COLOR, then CLICOLOR_FORCE, then the terminal") {
  const std::string term = "xterm-256color";
  CHECK(has_color(on_terminal({{"TERM", term}})));
  CHECK(!has_color(piped({{"TERM", term}})));
  CHECK(!has_color(on_terminal({{"TERM", term}, {"NO_COLOR", "1"}})));
  CHECK(has_color(on_terminal({{"TERM", term}, {"NO_COLOR", ""}})));
  CHECK(has_color(piped({{"TERM", term}, {"CLICOLOR_FORCE", "1"}}, {"--style", "blocks"})));
  CHECK(!has_color(piped({{"CLICOLOR_FORCE", "0"}}, {"--style", "blocks"})));
  CHECK(!has_color(piped({{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}, {"--style", "blocks"})));
  CHECK(has_color(piped({{"NO_COLOR", "1"}}, {"--color", "always", "--style", "blocks"})));
  CHECK(!has_color(on_terminal({{"TERM", term}, {"CLICOLOR_FORCE", "1"}}, {"--color", "never"})));
  CHECK(has_color(on_terminal({{"TERM", term}}, {"--color", "auto"})));
}

TEST_CASE("colour: as many as the terminal says") {
  const auto drawing = [](Environment environment) {
    return attnviz(on_terminal(std::move(environment))).out;
  };
  CHECK(contains(drawing({{"TERM", "xterm"}, {"COLORTERM", "truecolor"}}), "48;2;"));
  CHECK(contains(drawing({{"TERM", "xterm-256color"}}), "48;5;"));
  const std::string plain = drawing({{"TERM", "xterm"}});
  CHECK(contains(plain, "\x1b["));
  CHECK(!contains(plain, "8;2;"));
  CHECK(!contains(plain, "8;5;"));
}

TEST_CASE("style: blocks on a terminal, ascii when piped or on a dumb one") {
  const std::string ascii = attnviz({"The cat sat"}).out;
  CHECK(terminal_text(attnviz(on_terminal({{"TERM", "xterm"}})).out) != ascii);
  const std::string dumb = attnviz(on_terminal({{"TERM", "dumb"}})).out;
  CHECK(!contains(dumb, "\x1b"));
  for (const char c : dumb) {
    REQUIRE(static_cast<unsigned char>(c) < 0x80);
  }
}

TEST_CASE("style: mask is 7-bit and shows who may see whom once, however many heads there are") {
  const std::string out = attnviz({"The cat sat", "--style", "mask", "--heads", "12"}).out;
  CHECK(contains(out, "    mask causal\n    The cat sat\nThe #   .   .\ncat #   #   .\n"));
  for (const char c : out) {
    REQUIRE(static_cast<unsigned char>(c) < 0x80);
  }
}

TEST_CASE("width: the terminal's, COLUMNS before it, 80 when neither is known") {
  const std::string text = "one two three four five six seven eight nine ten eleven twelve";
  const auto drawing = [&text](std::size_t tty, Environment environment) {
    ProgramRun run;
    run.arguments = {"--heads", "12", text};
    run.environment = std::move(environment);
    run.environment["TERM"] = "xterm-256color";
    if (tty > 0) {
      run.tty_columns = tty;
    }
    return widest_line(attnviz(run).out);
  };
  const std::size_t at_40 = drawing(40, {});
  const std::size_t at_80 = drawing(80, {});
  const std::size_t at_200 = drawing(200, {});
  CHECK(at_40 <= 40);
  CHECK(at_80 <= 80);
  CHECK(at_200 <= 200);
  CHECK(at_40 < at_80);
  CHECK(at_80 < at_200);
  CHECK(drawing(200, {{"COLUMNS", "80"}}) <= 80);
  CHECK(drawing(0, {}) <= 80);
  CHECK(drawing(0, {{"COLUMNS", "200"}}) > 80);
  CHECK(drawing(0, {{"COLUMNS", "-3"}}) <= 80);
  CHECK(drawing(0, {{"COLUMNS", "wide"}}) <= 80);
}

TEST_CASE("wide characters and emoji stay inside the width") {
  for (const char* style : {"blocks", "ascii", "dots", "numbers", "mask"}) {
    ProgramRun run = on_terminal({{"TERM", "xterm-256color"}}, {"--style", style});
    run.arguments.back() = "猫がマットに座った 👩‍👩‍👧 e\u0301 fin";
    run.tty_columns = 60;
    CAPTURE(std::string(style));
    CHECK(widest_line(attnviz(run).out) <= 60);
  }
}

TEST_CASE("without the first token the others keep their indices") {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += fmt::format("word{} ", i);
  }
  const ProgramResult run = attnviz({"--random", text, "--head", "0.1", "--drop-sink", "-q"});
  CHECK(mentions(run.out, {"\n 1 word1 ", "\n39 word39 "}));
  CHECK_FALSE(contains(run.out, "0 word0 "));
}

TEST_CASE("messages: broken between words on a terminal of standard error, and nowhere else") {
  ProgramRun run;
  run.arguments = {"--random", "The cat sat", "--layers", "2", "-o", "-", "--format", "json"};
  run.tty_columns = 40;
  const std::string whole = attnviz(run).err;
  CHECK(widest_line(whole) > 100);
  run.stderr_is_tty = true;
  std::string said;
  for (const std::string& line : lines_of(terminal_text(attnviz(run).out))) {
    if (!said.empty() || line.starts_with("attnviz: ")) {
      CHECK(display_width(line) <= 40);
      said += (said.empty() ? "" : " ") + line;
    }
    if (said.size() + 1 >= whole.size()) {
      break;
    }
  }
  CHECK(said + "\n" == whole);
}

TEST_CASE("messages: lines to copy stay whole on a narrow terminal") {
  ProgramRun run;
  run.arguments = {"The cat sat on the mat", "A dog"};
  run.tty_columns = 30;
  run.stderr_is_tty = true;
  CHECK(contains(terminal_text(attnviz(run).out),
                 "\n  attnviz diff \"The cat sat on the mat\" \"A dog\"\n"));
  run.arguments = {"lessons"};
  CHECK(mentions(terminal_text(attnviz(run).out), {"attnviz lesson"}));
}

}  // namespace attnviz::test
