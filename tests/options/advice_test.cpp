// Words for shells, read back by the shells themselves.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "options/advice.h"
#include "support/run_program.h"

namespace attnviz::test {
namespace {

const std::vector<std::string>& nasty_words() {
  static const std::vector<std::string> words = {
      "plain",   "",         " ",      "a b",
      "=ls",     "=",        "a=~",    "=(ls)",
      "~",       "~root",    "#x",     "!!",
      "!x",      "a!b",      "^a^b",   "\n^a^b",
      "%self",   "%1",       "{a,b}",  "a{1..3}",
      "*",       "?",        "[a]",    "$HOME",
      "$(id)",   "`id`",     "a\nb",   "\n",
      "a\n",     "\n\n",     "a\r\nb", "\\",
      "\\\\",    "a\\",      "'\\",    "\\'",
      "'",       "''",       "\"",     "heat x\\'; touch PWNED; #",
      "\\n",     "\\x41",    "x\\\n",  "\t",
      "\x03",    "\x1b[31m", "\x7f",   "-x",
      "--",      "-\x03",    "%s\x03", "it's\x03 $(id) `id` \"!!\" \\n",
      "\x03\n",  "\x03\x31", "<",      ">",
      "|",       "&",        ";",      "(",
      ")",       "<(ls)",    "é漢",    "a\u202eb",
      "\u0301'", "\xff",     "\x81x",  "\x88\x84\x83"};
  return words;
}

std::vector<std::string> random_words(std::size_t n_words) {
  const std::vector<std::string> signs = {
      "a",    "b", "-", "=",  "~", "#", "!", "^", "%",  "{",  "}",      "*",    "?",   "[",
      "]",    "$", "(", ")",  "`", "'", "'", "<", "\"", "\\", "\\",     "\n",   "\t",  "\x03",
      "\x1b", ";", "&", "\r", "|", ">", ".", ",", " ",  "é",  "\u202e", "\xff", "\x81"};
  std::mt19937 random(1);
  std::vector<std::string> words(n_words);
  for (std::string& word : words) {
    for (std::size_t n = 1 + random() % 8; n > 0; --n) {
      word += signs[random() % signs.size()];
    }
  }
  return words;
}

using Quote = std::string (*)(const std::string& word);

// What a shell makes of the words of a file with a line for each of them.
void check_read_back(const std::string& shell, const std::string& first_line, Quote quote) {
  std::vector<std::string> words = nasty_words();
  const std::vector<std::string> more = random_words(400);
  words.insert(words.end(), more.begin(), more.end());
  const TemporaryFolder folder;
  std::string wanted;
  {
    std::ofstream script(folder.file("lines"), std::ios::binary);
    script << first_line;
    for (const std::string& word : words) {
      script << "printf '%s|\\0' " << quote(word) << '\n';
      wanted += word + '|' + '\0';
    }
  }
  ProgramRun run;
  run.folder = folder.path();
  run.environment = {{"LC_ALL", "C.UTF-8"}};
  run.arguments = {"lines"};
  const ProgramResult result = run_program(shell, run);
  CAPTURE(shell);
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  if (result.out != wanted) {
    const auto differs = std::ranges::mismatch(wanted, result.out).in1 - wanted.begin();
    const std::size_t index =
        static_cast<std::size_t>(std::count(wanted.begin(), wanted.begin() + differs, '\0'));
    CAPTURE(quote(words[std::min(index, words.size() - 1)]));
    CHECK(result.out == wanted);
  }
  CHECK(folder.names() == std::vector<std::string>{"lines"});
}

}  // namespace

TEST_CASE("sh, dash, bash, zsh and fish read a word for a shell as it was") {
  for (const std::string name : {"sh", "dash", "bash", "zsh", "fish"}) {
    const std::string shell = "/usr/bin/" + name;
    if (!std::filesystem::exists(shell)) {
      MESSAGE("SKIPPED: " << shell << " is absent (Debian: " << name << ")");
      continue;
    }
    check_read_back(shell, "", &app::shell_word);
    check_read_back(shell, "", &app::shell_quoted);
  }
}

TEST_CASE("where a shell replaces words by earlier lines, a word for a shell stays as it was") {
  if (!std::filesystem::exists("/usr/bin/bash")) {
    MESSAGE("SKIPPED: /usr/bin/bash is absent (Debian: bash)");
    return;
  }
  const std::string as_on_a_terminal = "set -o history -o histexpand\n";
  check_read_back("/usr/bin/bash", as_on_a_terminal, &app::shell_word);
  check_read_back("/usr/bin/bash", as_on_a_terminal, &app::shell_quoted);
}

TEST_CASE("a word for a shell stays readable") {
  CHECK(app::shell_word("model.gguf") == "model.gguf");
  CHECK(app::shell_word("--mask=window:3") == "--mask=window:3");
  CHECK(app::shell_word("it's") == R"x('it'"'"'s')x");
  CHECK(app::shell_word(R"(C:\a b)") == R"('C:'\\'a b')");
  CHECK(app::shell_word("a\nb c") == R"x("$(printf 'a\012b c')")x");
  CHECK(app::shell_quoted("The cat sat") == "\"The cat sat\"");
}

}  // namespace attnviz::test
