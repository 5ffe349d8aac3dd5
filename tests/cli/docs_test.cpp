// Help, man page and completions: complete, well-formed, and made from the same options.
#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "attnviz/core/utf8.h"
#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

const std::string kDocs = ATTNVIZ_DOCS_DIR "/";

constexpr const char* kCommands[] = {"show",     "inspect", "heads",  "why",     "cite",   "render",
                                     "tokenize", "info",    "models", "weights", "merge",  "tour",
                                     "rollout",  "diff",    "lesson", "softmax", "meaning"};

std::string help_of(const char* command) {
  return attnviz({command, "--help"}).out;
}

// Every --long name in a text.
std::set<std::string> long_options(const std::string& text) {
  std::set<std::string> names;
  for (std::size_t i = text.find("--"); i != std::string::npos; i = text.find("--", i + 2)) {
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", i);
    if (end > i + 2 && (i == 0 || text[i - 1] == ' ')) {
      names.insert(text.substr(i, end - i));
    }
  }
  return names;
}

std::set<std::string> all_long_options() {
  std::set<std::string> names;
  for (const char* command : kCommands) {
    names.merge(long_options(help_of(command)));
  }
  return names;
}

// The options that completions propose for all commands, one per line.
std::string all_completed_options() {
  std::string lines = "\n";
  for (const char* command : kCommands) {
    lines += attnviz({"--complete", "2", command, "-"}).out;
  }
  return lines;
}

// Without the checker the test is skipped with a message.
void check_with(const std::string& tool, std::vector<std::string> arguments) {
  const std::string path = "/usr/bin/" + tool;
  if (!std::filesystem::exists(path)) {
    MESSAGE("SKIPPED: no " << path);
    return;
  }
  ProgramRun run;
  run.arguments = std::move(arguments);
  const ProgramResult result = run_program(path, run);
  CHECK(result.exit_code == 0);
  CHECK(result.out == "");
  CHECK(result.err == "");
}

}  // namespace

TEST_CASE("help: examples first, then grouped options, in 80 columns, on standard output") {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"},
                                                    {"show", "--help"},
                                                    {"inspect", "--help"},
                                                    {"tokenize", "--help"},
                                                    {"weights", "--help"}}) {
    const ProgramResult run = attnviz(arguments);
    CAPTURE(arguments.front());
    CHECK(run.exit_code == 0);
    CHECK(run.err.empty());
    // An example comes first, then what may be typed, then the options.
    CHECK(run.out.find("\n  attnviz ") < run.out.find("[OPTIONS]"));
    CHECK(run.out.find("[OPTIONS]") < run.out.find("--help  "));
    for (const std::string& line : lines_of(run.out)) {
      CAPTURE(line);
      CHECK(display_width(line) <= 80);
    }
  }
  CHECK(help_of("show") == attnviz({"--help"}).out);
}

TEST_CASE("-h: how a command is used, on one screen") {
  for (const char* command : kCommands) {
    const ProgramResult run = attnviz({command, "-h"});
    CAPTURE(command);
    CHECK(run.exit_code == 0);
    CHECK(run.err.empty());
    CHECK(mentions(run.out, {"Usage: attnviz", "--help"}));
    const std::vector<std::string> lines = lines_of(run.out);
    CHECK(lines.size() <= 24);
    for (const std::string& line : lines) {
      CAPTURE(line);
      CHECK(display_width(line) <= 80);
    }
  }
  CHECK(attnviz({"-h"}).out == attnviz({"show", "-h"}).out);
  CHECK(contains(attnviz({"-h"}).out, "--head SEL"));
}

TEST_CASE("help lists the commands there are, and no others") {
  const std::string help = attnviz({"--help"}).out;
  for (const char* command : kCommands) {
    CHECK(contains(help, std::string("\n  ") + command));
  }
  for (const char* command : {"train"}) {
    CHECK(!contains(help, std::string("\n  ") + command));
  }
}

TEST_CASE("help wins over every other mistake") {
  CHECK(attnviz({"--heads", "0", "--help"}).exit_code == 0);
  CHECK(attnviz({"--nonsense", "--help"}).exit_code == 0);
  CHECK(attnviz({"two", "texts", "--help"}).exit_code == 0);
  CHECK(attnviz({"--heads", "x", "--version"}).exit_code == 0);
}

TEST_CASE("--version prints name and version") {
  for (const char* command : kCommands) {
    const ProgramResult run = attnviz({command, "--version"});
    CHECK(run.exit_code == 0);
    CHECK(run.out == "attnviz " ATTNVIZ_VERSION "\n");
  }
}

TEST_CASE("every long option of the help is in man page and completions") {
  const auto names = all_long_options();
  CHECK(names.size() > 30);
  std::string man = read_file(kDocs + "attnviz.1");
  CHECK(contains(man, ".B attnviz \\(dqThe cat sat on the mat\\(dq\n"));  // quotes survive
  man.erase(std::remove(man.begin(), man.end(), '\\'), man.end());
  const std::string completed = all_completed_options();
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(contains(man, name));
    CHECK(contains(completed, "\n" + name + "\t"));
  }
}

TEST_CASE("every option that completions know is in the help") {
  const auto names = all_long_options();
  const std::string completed = all_completed_options();
  const std::regex option("\n(--[a-z-]+)\t");
  std::size_t count = 0;
  for (std::sregex_iterator found(completed.begin(), completed.end(), option), end; found != end;
       ++found) {
    const std::string name = (*found)[1];
    CAPTURE(name);
    CHECK(names.count(name) == 1);
    ++count;
  }
  CHECK(count >= names.size());
}

TEST_CASE("man page and completions are well-formed") {
  check_with("bash", {"-n", kDocs + "attnviz.bash"});
  check_with("zsh", {"-n", kDocs + "_attnviz"});
  check_with("fish", {"-n", kDocs + "attnviz.fish"});
  check_with("mandoc", {"-T", "lint", "-W", "warning", kDocs + "attnviz.1"});
}

}  // namespace attnviz::test
