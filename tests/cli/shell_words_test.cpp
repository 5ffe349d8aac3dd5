// Lines that the program prints to be typed: every shell that people have reads the same words.
#include <doctest/doctest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

// Texts after "a ", of which shells, terminals and printf make something of their own.
std::vector<std::string> odd_texts() {
  std::vector<std::string> texts = {"x\\'; touch PWNED; #",
                                    "\\",
                                    "\\\\",
                                    "'",
                                    "\\'\\'",
                                    "it's \"so\"",
                                    "$HOME `id` $(id) ${x}",
                                    "(id)",
                                    "!! !x",
                                    "~ ~root",
                                    "* ? [a] {a,b}",
                                    "; | & < > ^",
                                    "%s %d %self 100%",
                                    "\\n \\x41 \\101",
                                    "\x03 '; touch PWNED; #",
                                    "\x1b]0;x\x07 \\ ' % $HOME \"",
                                    "\u202E \u2066 7",
                                    "a\nb",
                                    "\xC2\x9B 1",
                                    "b\xFFz",
                                    "caf\u00E9 \u732B"};
  const std::string signs = "\\'\"$`!;()%=~#*? aZ09\x01\x7f-";
  std::mt19937 random(17);
  for (std::size_t i = 0; i < 60; ++i) {
    std::string text = "t";
    for (std::size_t n = 1 + random() % 8; n > 0; --n) {
      text += signs[random() % signs.size()];
    }
    texts.push_back(text + "z");  // a line feed or a space at the end is another matter
  }
  return texts;
}

struct Shell {
  const char* path;
  const char* function;  // named attnviz: prints its words, each with a NUL after it
};

constexpr Shell kShells[] = {
    {"/bin/sh", "attnviz() { printf '%s\\0' \"$@\"; }\n"},
    {"/bin/dash", "attnviz() { printf '%s\\0' \"$@\"; }\n"},
    {"/bin/bash", "attnviz() { printf '%s\\0' \"$@\"; }\n"},
    {"/usr/bin/zsh", "attnviz() { printf '%s\\0' \"$@\"; }\n"},
    {"/usr/bin/fish", "function attnviz; for word in $argv; printf '%s\\0' $word; end; end\n"},
};

}  // namespace

TEST_CASE("lines to type are the same words in sh, dash, bash, zsh and fish") {
  std::string script;
  std::string expected;
  for (const std::string& text : odd_texts()) {
    CAPTURE(text);
    const std::string message = attnviz({"a", text}).err;
    const std::size_t begin = message.find("\n  attnviz ");
    REQUIRE(begin != std::string::npos);
    script += message.substr(begin + 3, message.find('\n', begin + 1) - begin - 3) + "\n";
    expected += "a " + text + '\0';
  }
  for (const Shell& shell : kShells) {
    CAPTURE(shell.path);
    if (!std::filesystem::exists(shell.path)) {
      MESSAGE("SKIPPED: no " << shell.path);
      continue;
    }
    const TemporaryFolder folder;
    write_file(folder.file("lines"), shell.function + script);
    ProgramRun run;
    run.folder = folder.path();
    run.arguments = {folder.file("lines")};
    const ProgramResult result = run_program(shell.path, run);
    CHECK(result.out == expected);
    CHECK_FALSE(std::filesystem::exists(folder.file("PWNED")));
  }
}

}  // namespace attnviz::test
