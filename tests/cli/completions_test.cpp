// What three shells propose, tested in the shells themselves.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

namespace fs = std::filesystem;
using Proposed = std::set<std::string>;

const std::string kCompletions = ATTNVIZ_DOCS_DIR "/";

// Lines as they are typed, in a folder with a few files.
class Typed {
 public:
  Typed() {
    write_file(home_.file("cat.json"), "{}");
    write_file(home_.file("dog.txt"), "The dog");
  }

  void write(const std::string& name) const { write_file(home_.file(name), "{}"); }
  bool has_expanded() const { return fs::exists(home_.file("expanded")); }

  // The lines at a terminal, each completed and run.
  std::string run_in_bash(const std::vector<std::string>& typed) const {
    write_file(home_.file("rc"), "PS1='READY> '\nsource " + kCompletions + "attnviz.bash\n");
    ProgramRun shell = shell_run();
    shell.arguments = {"-c", "exec bash --noprofile --rcfile rc -i 2>&1"};  // prompts go there
    shell.environment["TERM"] = "xterm";
    shell.tty_columns = 200;
    shell.stdin_is_tty = true;
    shell.prompt = "READY> ";
    for (const std::string& line : typed) {
      shell.keys.push_back(line + "\t\n");
    }
    shell.keys.emplace_back("exit\n");
    return run_program("/usr/bin/bash", shell).out;
  }

  // One process for all lines: a shell is slow to start.
  std::vector<Proposed> in_bash(const std::vector<std::string>& typed) const {
    // As bash cuts a line: at colons and equals signs, and with the quotes that were typed.
    return answers(run("bash", R"sh(
source "$1/attnviz.bash"
cut() {
  local rest=$1 word= quote= c
  COMP_WORDS=()
  while [[ -n $rest ]]; do
    c=${rest:0:1} rest=${rest:1}
    if [[ -n $quote ]]; then
      word+=$c
      if [[ $c == "$quote" ]]; then quote=; fi
    elif [[ $c == ' ' ]]; then
      if [[ -n $word ]]; then COMP_WORDS+=("$word"); fi
      word=
    elif [[ $c == [:=] ]]; then
      if [[ -n $word ]]; then COMP_WORDS+=("$word"); fi
      COMP_WORDS+=("$c") word=
    else
      word+=$c
      if [[ $c == [\'\"] ]]; then quote=$c; fi
    fi
  done
  if [[ -n $word || $1 == *' ' ]]; then COMP_WORDS+=("$word"); fi
}
for line in "${@:2}"; do
  cut "$line"
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _attnviz
  printf '%s\n' "${COMPREPLY[@]}" ---
done)sh",
                       typed));
  }

  std::vector<Proposed> in_fish(const std::vector<std::string>& typed) const {
    return answers(run("fish", R"sh(
source $argv[1]/attnviz.fish
for line in $argv[2..-1]
  complete -C $line
  echo ---
end)sh",
                       typed));
  }

  // At a terminal: what the completion passes to compadd and matches what was typed.
  std::vector<Proposed> in_zsh(const std::vector<std::string>& typed) const {
    write_file(home_.file(".zshrc"), R"sh(
PS1='READY> '
LISTMAX=1000
fpath=($DOCS $fpath)
autoload -Uz compinit
compinit -u -d $ZDOTDIR/dump
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
    builtin compadd "$@"
    return $?
  fi
  local -a hits
  builtin compadd -A hits "$@"
  print -rl -- ${(Q)hits} >> $ZDOTDIR/hits
}
next() { print -r -- --- >> $ZDOTDIR/hits; BUFFER=; zle .accept-line }
zle -N next
bindkey '^]' next
)sh");
    ProgramRun shell = shell_run();
    shell.arguments = {"-i"};
    shell.environment["ZDOTDIR"] = home_.path().string();
    shell.environment["DOCS"] = kCompletions;
    shell.environment["TERM"] = "xterm";
    shell.tty_columns = 200;
    shell.stdin_is_tty = true;
    shell.prompt = "READY> ";
    for (const std::string& line : typed) {
      shell.keys.push_back(line + "\t\x1d");
    }
    shell.keys.emplace_back("exit\n");
    run_program("/usr/bin/zsh", shell);
    const std::string hits = home_.file("hits");
    return answers(fs::exists(hits) ? read_file(hits) : std::string());
  }

 private:
  ProgramRun shell_run() const {
    ProgramRun shell;
    shell.folder = home_.path();
    shell.environment = {
        {"HOME", home_.path().string()},
        {"PATH", fs::path(ATTNVIZ_PROGRAM).parent_path().string() + ":/usr/bin:/bin"}};
    return shell;
  }

  std::string run(const std::string& shell_name, const std::string& script,
                  const std::vector<std::string>& typed) const {
    ProgramRun shell = shell_run();
    shell.arguments = {"-c", script};
    if (shell_name == "bash") {
      shell.arguments.push_back(shell_name);  // $0
    }
    shell.arguments.push_back(kCompletions);
    shell.arguments.insert(shell.arguments.end(), typed.begin(), typed.end());
    return run_program("/usr/bin/" + shell_name, shell).out;
  }

  // Splits lines in which --- follows the proposals for each line that was typed.
  static std::vector<Proposed> answers(const std::string& out) {
    std::vector<Proposed> all(1);
    for (const std::string& line : lines_of(out)) {
      if (line == "---") {
        all.emplace_back();
        continue;
      }
      // fish has descriptions after a tab, and puts the option before a value into one word with
      // it.
      const std::string word = line.substr(0, line.find('\t'));
      const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
      all.back().insert(word.substr(equals == std::string::npos ? 0 : equals + 1));
      all.back().erase("");
    }
    all.pop_back();
    return all;
  }

  TemporaryFolder home_;
};

struct Line {
  std::string typed;
  Proposed proposed;  // all of them
};

// What all shells propose alike; bash leaves out the part before a colon.
const std::vector<Line>& lines_for_all() {
  static const std::vector<Line> lines = {
      {"attnviz tok", {"tokenize"}},
      {"attnviz to", {"tokenize", "tour"}},
      {"attnviz --sty", {"--style"}},
      {"attnviz weights --d-h", {"--d-head"}},
      {"attnviz tokenize --mask", {}},
      {"attnviz --style b", {"blocks"}},
      {"attnviz --style arcs", {"arcs", "arcs-ascii"}},
      {"attnviz tour --style a", {"ascii", "auto"}},
      {"attnviz --style=bl", {"blocks"}},
      {"attnviz \"The cat\" --mask ",
       {"causal", "none", "window:", "strided:", "block:", "around:"}},
      {"attnviz \"The cat\" --mask win", {"window:"}},
      {"attnviz x --range ", {"auto"}},
      {"attnviz x --colormap vi", {"viridis"}},
      {"attnviz x --scale r", {"row-max"}},
      {"attnviz x --format sv", {"svg"}},
      {"attnviz x --positions r", {"rope"}},
      {"attnviz x --merge ", {"lines", "sentences", "turns", "words"}},
      {"attnviz x --side-by-side ", {"ablated", "causal", "none"}},
      {"attnviz x --theme ", {"dark", "light"}},
      {"attnviz inspect x --step soft", {"softmax"}},
      {"attnviz heads --sort prev", {"previous"}},
      {"attnviz heads --min prev", {"previous="}},
      {"attnviz heads --known ", {"gpt2"}},
      {"attnviz why x --ablate-each ", {"heads", "layers", "mlps"}},
      {"attnviz lesson sca", {"scaling"}},
      {"attnviz -m samp",
       {"sample:cat-sat-on-the-mat", "sample:four-heads", "sample:numpy-3-tokens",
        "sample:verbs-and-nouns", "sample:your-journey"}},
      {"attnviz -m dem", {"demo"}},
      {"attnviz info --model ca", {"cat.json"}},
      {"attnviz render ca", {"cat.json"}},
      {"attnviz -f do", {"dog.txt"}},
      {"attnviz --tokenizer c", {"chars", "cat.json"}},
      {"attnviz \"The cat saw the cat, sadly\" --focus ",
       {"The", "cat", "saw", "the", "cat#2", "sadly"}},
      {"attnviz \"The cat saw the cat, sadly\" --focus c", {"cat", "cat#2"}},
      {"attnviz -m demo \"The cat sat\" --predict 3 --at ", {"The", "cat", "sat", "all"}},
      {"attnviz inspect \"The cat sat\" --query s", {"sat"}},
      {"attnviz --focus ", {}},
      {"attnviz \"a \\$(touch x) b\" --focus ", {"a", "b", "x"}},
      {"attnviz why \"The cat\" --toward ", {}},
      {"attnviz x --title ", {}},
      {"attnviz x --head ", {}},
      {"attnviz x --seed ", {}},
  };
  return lines;
}

using Ask = std::vector<Proposed> (Typed::*)(const std::vector<std::string>&) const;

// `of_sample`: what the shell proposes for a name with a colon.
void check_all(const std::string& shell, Ask ask, const std::string& of_sample) {
  if (!fs::exists("/usr/bin/" + shell)) {
    MESSAGE("SKIPPED: no /usr/bin/", shell, " (apt-get install ", shell, ")");
    return;
  }
  const Typed typed;
  std::vector<Line> expected = lines_for_all();
  expected.push_back({"attnviz -m sample:fo", {of_sample}});
  std::vector<std::string> lines;
  lines.reserve(expected.size());
  for (const Line& line : expected) {
    lines.push_back(line.typed);
  }
  const std::vector<Proposed> proposed = (typed.*ask)(lines);
  REQUIRE(proposed.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(lines[i]);
    std::string found;
    for (const std::string& word : proposed[i]) {
      found += word + " ";
    }
    CHECK_MESSAGE(proposed[i] == expected[i].proposed, found);
  }
}

}  // namespace

TEST_CASE("bash completes commands, options, values, models, tokens and files") {
  check_all("bash", &Typed::in_bash, "four-heads");  // it keeps the part before the colon
}

TEST_CASE("fish completes commands, options, values, models, tokens and files") {
  check_all("fish", &Typed::in_fish, "sample:four-heads");
}

TEST_CASE("zsh completes commands, options, values, models, tokens and files") {
  check_all("zsh", &Typed::in_zsh, "sample:four-heads");
}

TEST_CASE("bash quotes what it completes: names of files and models may hold anything") {
  const Typed typed;
  typed.write("demo-$(touch expanded).json");
  typed.write("ox$(touch expanded) 2.json");
  const std::vector<Proposed> proposed =
      typed.in_bash({"attnviz -m ox", "attnviz -m dem", "attnviz -m \"sam"});
  REQUIRE(proposed.size() == 3);
  CHECK(proposed[0] == Proposed{"ox$(touch expanded) 2.json"});  // by bash, as a file's name
  CHECK(proposed[1] == Proposed{"demo", R"(demo-\$\(touch\ expanded\).json)"});
  CHECK(proposed[2].contains("sample:four-heads"));
  const std::string out =
      typed.run_in_bash({"attnviz info -m ox", "attnviz info -m \"ox", "attnviz info -m demo-",
                         "attnviz render ox", "attnviz --tokenizer demo-"});
  CHECK(contains(out, R"(attnviz info -m ox\$\(touch\ expanded\)\ 2.json)"));
  CHECK_FALSE(typed.has_expanded());
}

TEST_CASE("no placeholder is proposed as a value") {
  const std::vector<std::string> options = lines_of(attnviz({"--complete", "2", "show", "-"}).out);
  CHECK(options.size() > 80);
  for (const std::string& line : options) {
    const std::string option = line.substr(0, line.find('\t'));
    CAPTURE(option);
    for (const std::string& word : lines_of(attnviz({"--complete", "3", "show", option, ""}).out)) {
      CAPTURE(word);
      CHECK(std::ranges::any_of(word, [](char c) { return c >= 'a' && c <= 'z'; }));
    }
  }
}

TEST_CASE("--complete: tokens of the text alone, and nothing that a terminal could obey") {
  CHECK(attnviz({"--complete", "5", "--max-memory", "1G", "The cat", "--focus", ""}).out ==
        "The\ncat\n");
  CHECK(attnviz({"--complete", "2", "--focus", "", "The cat"}).out == "The\ncat\n");
  const std::string hostile = std::string("cat \xC2\x9B") + "31mdog a\u202Eb";
  CHECK(attnviz({"--complete", "3", hostile, "--focus", ""}).out == "cat\n");
  CHECK(attnviz({"--complete", "9", "x"}).exit_code == 2);
  CHECK(attnviz({"--complete", "x", "x"}).exit_code == 2);
}

TEST_CASE("models --names: what -m takes, one a line") {
  const std::vector<std::string> names = lines_of(attnviz({"models", "--names"}).out);
  CHECK(names.front() == "demo");
  CHECK(std::ranges::find(names, "sample:four-heads") != names.end());
}

}  // namespace attnviz::test
