// How often the files of a model are opened, as the system sees it.
#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {

namespace {

namespace fs = std::filesystem;

using Opens = std::map<std::string, int>;

ProgramResult traced(std::vector<std::string> arguments, const std::string& log) {
  ProgramRun run;
  run.arguments = {"-f", "-qq", "-e", "trace=open,openat,openat2", "-o", log, ATTNVIZ_PROGRAM};
  run.arguments.insert(run.arguments.end(), arguments.begin(), arguments.end());
  return run_program("/usr/bin/strace", run);
}

bool can_trace() {
  const TemporaryFolder folder;
  const bool can =
      fs::exists("/usr/bin/strace") && traced({"--version"}, folder.file("log")).exit_code == 0;
  if (!can) {
    MESSAGE("skipped: opens are counted by strace, which is not there, or may not trace");
  }
  return can;
}

// The files below `folder` that were opened, by name, with how often.
Opens opens_of(std::vector<std::string> arguments, const fs::path& folder) {
  const TemporaryFolder place;
  const std::string log = place.file("log");
  const ProgramResult result = traced(std::move(arguments), log);
  CHECK(result.exit_code == 0);
  CHECK(result.err == "");
  Opens opens;
  std::istringstream lines(read_file(log));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find('"') + 1;
    const fs::path path = line.substr(begin, line.find('"', begin) - begin);
    if (path.parent_path() == folder && line.find("O_DIRECTORY") == std::string::npos) {
      ++opens[path.filename()];
    }
  }
  return opens;
}

}  // namespace

TEST_CASE("a GGUF file is opened once, by every command") {
  if (!can_trace()) {
    return;
  }
  const std::vector<std::vector<std::string>> commands = {
      {"show", "--ids", "1,2,3", "--style", "ascii", "-q"},
      {"inspect", "--ids", "1,2,3", "-q"},
      {"tokenize", "--ids", "1,2,3"},
      {"info"},
  };
  // By extension, and by content alone.
  for (const char* name : {"model.gguf", "blob", "model.safetensors"}) {
    CAPTURE(name);
    const TemporaryFolder place;
    fs::copy_file(kReference + "gguf/models/gpt2-all-bytes.gguf", place.file(name));
    for (std::vector<std::string> command : commands) {
      CAPTURE(command.front());
      command.insert(command.end(), {"-m", place.file(name)});
      CHECK(opens_of(command, place.path()) == Opens{{name, 1}});
    }
  }
}

TEST_CASE("the files of a safetensors folder are opened once, however the folder is named") {
  if (!can_trace()) {
    return;
  }
  const fs::path model = kReference + "models/gpt2-tied";
  const Opens weights = {{"config.json", 1}, {"model.safetensors", 1}};
  const TemporaryFolder place;
  for (const auto& [name, times] : weights) {
    fs::copy_file(model / name, place.path() / name);
  }
  for (const std::string named : {"", "/model.safetensors", "/config.json"}) {
    CAPTURE(named);
    const std::string path = place.path().string() + named;
    CHECK(opens_of({"show", "--ids", "1,2,3", "--style", "ascii", "-q", "-m", path},
                   place.path()) == weights);
    CHECK(opens_of({"inspect", "--ids", "1,2,3", "-q", "-m", path}, place.path()) == weights);
    CHECK(opens_of({"info", "-m", path}, place.path()) == weights);
  }
}

TEST_CASE(
    "in a safetensors folder tokenize opens only the tokenizer, other commands all files, once") {
  if (!can_trace()) {
    return;
  }
  const TemporaryFolder place;
  fs::copy(ATTNVIZ_SOURCE_DIR "/assets/demo/model", place.path());
  const std::string path = place.path().string();
  const Opens tokenizer = {{"tokenizer.json", 1}, {"tokenizer_config.json", 1}};
  CHECK(opens_of({"tokenize", "the cat", "-m", path}, place.path()) == tokenizer);
  Opens all = tokenizer;
  all.insert({{"config.json", 1}, {"model.safetensors", 1}});
  CHECK(opens_of({"show", "the cat", "--style", "ascii", "-q", "-m", path}, place.path()) == all);
  CHECK(opens_of({"inspect", "the cat", "-q", "-m", path}, place.path()) == all);
  CHECK(opens_of({"info", "-m", path}, place.path()) == all);
}

TEST_CASE("weights JSON is opened once") {
  if (!can_trace()) {
    return;
  }
  const fs::path samples = ATTNVIZ_SOURCE_DIR "/samples";
  const std::string path = samples / "four-heads.json";
  const Opens once = {{"four-heads.json", 1}};
  CHECK(opens_of({"tokenize", "a b", "-m", path}, samples) == once);
  CHECK(opens_of({"info", "-m", path}, samples) == once);
  CHECK(opens_of({"show", "a b c d e f g h i", "--style", "ascii", "-q", "-m", path}, samples) ==
        once);
}

}  // namespace attnviz::test
