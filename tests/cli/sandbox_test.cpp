// What the program cannot do once it knows its options, tried from inside it.
#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/attnviz_program.h"

#ifdef ATTNVIZ_INTRUDER

namespace attnviz::test {

namespace {

bool has_seccomp() {
  const bool has = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
  if (!has) {
    MESSAGE("SKIPPED: this kernel has no seccomp");
  }
  return has;
}

bool has_landlock() {
  constexpr long kCreateRuleset = 444;  // of all machines
  const bool has = syscall(kCreateRuleset, nullptr, 0, 1) >= 3;
  if (!has) {
    MESSAGE("SKIPPED: this kernel has no Landlock, or one that cannot keep files from being cut");
  }
  return has;
}

ProgramResult intruded(const TemporaryFolder& folder, std::vector<std::string> arguments,
                       std::map<std::string, std::string> environment = {}) {
  ProgramRun run;
  run.folder = folder.path();
  run.arguments = std::move(arguments);
  run.environment = std::move(environment);
  run.environment["LD_PRELOAD"] = ATTNVIZ_INTRUDER;
  return attnviz(run);
}

}  // namespace

TEST_CASE("the program can open no socket, start no program and touch no other process") {
  if (!has_seccomp()) {
    return;
  }
  const TemporaryFolder folder;
  const std::vector<std::vector<std::string>> lines = {{"The cat sat"},
                                                       {"info"},
                                                       {"tokenize", "a cat"},
                                                       {"weights", "--layers", "1"},
                                                       {"--version"}};
  for (const std::vector<std::string>& line : lines) {
    CAPTURE(line[0]);
    const ProgramResult result = intruded(folder, line);
    CHECK(result.exit_code == 0);
    CHECK(result.out != "");
    for (const char* attempt :
         {"internet socket", "local socket", "ring", "tracing", "signal", "signal to a thread",
          "limits of another", "owner of a descriptor", "owner by request",
          "signal of a descriptor", "typing", "program"}) {
      CAPTURE(attempt);
      CHECK(contains(result.err, std::string(attempt) + ": Operation not permitted\n"));
    }
    CHECK(mentions(result.err, {"signal", "limits"}));
  }
}

TEST_CASE("the program can write nothing outside the folders of its outputs") {
  if (!has_landlock()) {
    return;
  }
  const TemporaryFolder elsewhere;
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("out"));
  std::filesystem::create_directory(folder.file("linked"));
  std::filesystem::create_symlink("linked/new.json", folder.file("link.json"));
  write_file(elsewhere.file("notes"), "kept");
  const std::vector<std::vector<std::string>> lines = {
      {"The cat sat"},
      {"The cat sat", "-o", "out/a.png", "-o", "out/a.json"},
      {"The cat sat", "-o", "link.json"},
      {"The cat sat", "-o", "/dev/null", "--format", "json"},
      {"render", kReference + "../../samples/le-chat-dort.json", "-o", "out/b.svg"}};
  for (const std::vector<std::string>& line : lines) {
    CAPTURE(line.back());
    const ProgramResult result = intruded(folder, line,
                                          {{"ATTNVIZ_INTRUDER_CREATES", elsewhere.file("new")},
                                           {"ATTNVIZ_INTRUDER_CHANGES", elsewhere.file("notes")}});
    CHECK(result.exit_code == 0);
    for (const char* attempt : {"new file", "old file", "cut", "removal"}) {
      CAPTURE(attempt);
      CHECK(contains(result.err, std::string(attempt) + ": Permission denied\n"));
    }
  }
  CHECK(elsewhere.names() == std::vector<std::string>{"notes"});
  CHECK(read_file(elsewhere.file("notes")) == "kept");
  CHECK(std::filesystem::file_size(folder.file("out/a.png")) > 1000);
  CHECK(std::filesystem::file_size(folder.file("linked/new.json")) > 100);
}

TEST_CASE("outputs of every kind are written: numbered, kept on the way, over others, into pipes") {
  const TemporaryFolder folder;
  write_file(folder.file("texts"), "the cat\nthe dog\n");
  write_file(folder.file("old.json"), "old");
  CHECK(in_folder(folder, {"-f", "texts", "--lines", "-o", "p-{line}.png", "-q"}).exit_code == 0);
  CHECK(
      in_folder(folder, {"heads", "-f", "texts", "--lines", "--partial", "sums.json"}).exit_code ==
      0);
  CHECK(in_folder(folder, {"merge", "sums.json", "-o", "all.json"}).exit_code == 0);
  CHECK(in_folder(folder, {"weights", "--layers", "1", "-o", "old.json"}).exit_code == 0);
  CHECK(folder.names() == std::vector<std::string>{"all.json", "old.json", "p-1.png", "p-2.png",
                                                   "sums.json", "texts"});
  CHECK(in_folder(folder, {"The cat", "-q", "-o", "/dev/stdout", "--format", "json"}).out != "");
}

}  // namespace attnviz::test

#endif
