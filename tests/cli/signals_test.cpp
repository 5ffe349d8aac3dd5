// Signals that end the program leave no files.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/sanitized.h"

namespace attnviz::test {

namespace {

// How a program ends that has written a line to standard output and begun a file of each name.
int end_of_writing(int signal, const TemporaryFolder& folder,
                   const std::vector<std::string>& names) {
  ProgramRun run;
  run.folder = folder.path();
  run.arguments = {"--lines", "--json"};
  for (const std::string& name : names) {
    run.arguments.insert(run.arguments.end(), {"-o", name});
  }
  run.input = "The cat\n";
  run.signal_after_output = signal;
  return attnviz(run).signal;
}

bool has_unnamed_files(const TemporaryFolder& folder) {
  const int unnamed = open(folder.path().c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (unnamed < 0) {
    MESSAGE("SKIPPED: the file system of " << folder.path() << " has no files without a name");
    return false;
  }
  close(unnamed);
  return true;
}

}  // namespace

TEST_CASE("signals remove unfinished files and end the program as if it handled none") {
  for (const int signal :
       {SIGQUIT, SIGALRM, SIGXCPU, SIGUSR1, SIGABRT, SIGSEGV, SIGIO, SIGSYS, SIGRTMIN + 1}) {
    if (kSanitized && (signal == SIGABRT || signal == SIGSEGV)) {
      continue;  // reported by the sanitizer
    }
    const TemporaryFolder folder;
    CAPTURE(signal);
    CHECK(end_of_writing(signal, folder, {"a.json", "b.json"}) == signal);
    CHECK(folder.names().empty());
  }
}

TEST_CASE("signals reach the program even where the process that runs these tests ignores them") {
  const auto before = std::signal(SIGQUIT, SIG_IGN);
  const TemporaryFolder folder;
  CHECK(end_of_writing(SIGQUIT, folder, {"a.json"}) == SIGQUIT);
  CHECK(folder.names().empty());
  std::signal(SIGQUIT, before);
}

TEST_CASE("an end that nothing can handle leaves no file, where files may be without a name") {
  const TemporaryFolder folder;
  if (!has_unnamed_files(folder)) {
    return;
  }
  CHECK(end_of_writing(SIGKILL, folder, {"a.json"}) == SIGKILL);
  CHECK(folder.names().empty());
}

TEST_CASE("a new file has no other name before, where files may be without a name") {
  const TemporaryFolder folder;
  if (!has_unnamed_files(folder)) {
    return;
  }
  const int watch = inotify_init1(IN_NONBLOCK);
  REQUIRE(inotify_add_watch(watch, folder.path().c_str(), IN_CREATE | IN_MOVE) >= 0);
  CHECK(in_folder(folder, {"cat", "-q", "-o", "a.json"}).exit_code == 0);
  alignas(inotify_event) std::array<char, 4096> events;
  const ssize_t size = read(watch, events.data(), events.size());
  close(watch);
  std::string names;
  for (ssize_t at = 0; at < size;) {
    const auto* const event = reinterpret_cast<const inotify_event*>(events.data() + at);
    names += std::string(event->name) + " ";
    at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
  }
  CHECK(names == "a.json ");
}

TEST_CASE("a file that may not become larger is an error of the write") {
  const TemporaryFolder folder;
  write_file(folder.file("a.npy"), "old");
  ProgramRun run;
  run.folder = folder.path();
  run.environment = {{"PROGRAM", ATTNVIZ_PROGRAM}};
  run.arguments = {"-c",
                   "ulimit -f 4; exec \"$PROGRAM\" -q \"$(printf 'a %.0s' {1..60})\" -o a.npy"};
  const ProgramResult result = run_program("/bin/bash", run);
  CHECK(result.exit_code == 1);
  CHECK(mentions(result.err, {"a.npy", "File too large"}));
  CHECK(folder.names() == std::vector<std::string>{"a.npy"});
  CHECK(read_file(folder.file("a.npy")) == "old");
}

}  // namespace attnviz::test
