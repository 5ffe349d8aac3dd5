// What a shell opens for the program, and files that are not what their names say.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {

namespace {

namespace fs = std::filesystem;

}  // namespace

TEST_CASE("a link that lies under /dev names a file, which is written whole") {
  if (access("/dev/shm", W_OK) != 0) {
    MESSAGE("SKIPPED: /dev/shm cannot be written");
    return;
  }
  const TemporaryFolder folder;
  write_file(folder.file("a.json"), std::string(20'000, 'x'));
  const std::string link = "/dev/shm/attnviz-test-" + std::to_string(getpid()) + ".json";
  fs::create_symlink(folder.file("a.json"), link);
  const int exit_code = attnviz({"The cat", "-q", "-o", link}).exit_code;
  CHECK(fs::is_symlink(link));
  fs::remove(link);
  CHECK(exit_code == 0);
  CHECK(parse_json(read_file(folder.file("a.json")))["tokens"].size() == 3);
}

TEST_CASE("-o /dev/stdout writes where standard output is, and after what is there") {
  const TemporaryFolder folder;
  write_file(folder.file("log"), "before\n" + std::string(5'000, 'x'));
  CHECK(in_shell(folder, "$PROGRAM cat -q -o /dev/stdout --format json >> log").exit_code == 0);
  CHECK(read_file(folder.file("log")).starts_with("before\nxxx"));
  CHECK(read_file(folder.file("log")).ends_with("}\n"));
  for (const char* name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    CAPTURE(name);
    const std::string line = "$PROGRAM cat -o " + std::string(name) + " --format json > both";
    CHECK(in_shell(folder, line).exit_code == 0);
    const std::string both = read_file(folder.file("both"));
    CHECK(both.starts_with("{"));
    CHECK(contains(both, "attention: demo"));
  }
  const ProgramResult closed = in_shell(folder, "$PROGRAM cat -q -o /dev/fd/7 --format json");
  CHECK(closed.exit_code == 1);
  CHECK(mentions(closed.err, {"/dev/fd/7", "Bad file descriptor"}));
  CHECK(in_shell(folder, "$PROGRAM cat -q -o /dev/stdin --format json < log").exit_code == 1);
}

TEST_CASE("a file that standard output goes to is not replaced") {
  const TemporaryFolder folder;
  const ProgramResult both = in_shell(folder, "$PROGRAM cat --json -o a.json > a.json");
  CHECK(both.exit_code == 2);
  CHECK(mentions(both.err, {"-o a.json"}));
  CHECK(in_shell(folder, "$PROGRAM cat -q -o a.json > a.json").exit_code == 0);
  CHECK(parse_json(read_file(folder.file("a.json")))["tokens"].size() == 2);
}

TEST_CASE("a file that is standard input is not overwritten") {
  const TemporaryFolder folder;
  const std::string attention = attnviz({"cat", "--json"}).out;
  for (const char* line :
       {"$PROGRAM render -q -o a.json < a.json", "$PROGRAM render - -q -o ./a.json < a.json",
        "$PROGRAM --random -q -o a.json < a.json", "$PROGRAM -q --json-lines -o a.json < a.json",
        "$PROGRAM heads --lines - -q -o a.json < a.json", "$PROGRAM why - -o a.json < a.json",
        "$PROGRAM cite 'Who?' --doc - -o a.json < a.json"}) {
    CAPTURE(line);
    write_file(folder.file("a.json"), attention);
    const ProgramResult result = in_shell(folder, line);
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, "a.json"));
    CHECK(read_file(folder.file("a.json")) == attention);
  }
  CHECK(in_shell(folder, "$PROGRAM cat -q -o a.json < a.json").exit_code ==
        0);  // which is not read
}

TEST_CASE("no shard of a model is overwritten") {
  const TemporaryFolder folder;
  const std::string name = "llama-q8-q5-split-0000";
  const std::vector<std::string> shards = {fmt::format("{}1-of-00002.gguf", name),
                                           fmt::format("{}2-of-00002.gguf", name)};
  for (const std::string& shard : shards) {
    write_file(folder.file(shard), read_file(fmt::format("{}gguf/models/{}", kReference, shard)));
  }
  for (const std::string& shard : shards) {
    const ProgramResult result =
        in_folder(folder, {"-m", shards[0], "--ids", "1,2", "-q", "--format", "json", "-o", shard});
    CHECK(result.exit_code == 2);
    CHECK(read_file(folder.file(shard)).starts_with("GGUF"));
  }
}

TEST_CASE("what lies beside the file of a tokenizer is not overwritten") {
  const TemporaryFolder folder;
  write_file(folder.file("vocab.json"), R"({"a": 0, "b": 1, "ab": 2})");
  write_file(folder.file("merges.txt"), "#version: 0.2\na b\n");
  for (const char* output : {"merges.txt", "./tokenizer_config.json", "vocab.json"}) {
    CAPTURE(output);
    write_file(folder.file("tokenizer_config.json"), "{}");
    const ProgramResult result =
        in_folder(folder, {"--random", "--tokenizer", "vocab.json", "ab", "-q", "-o", output});
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, output));
  }
  CHECK(read_file(folder.file("merges.txt")) == "#version: 0.2\na b\n");
  CHECK(in_folder(folder, {"--random", "--tokenizer", "vocab.json", "ab", "-q", "-o", "a.json"})
            .exit_code == 0);
}

TEST_CASE("files of lines are all written where standard output is not read, or is full") {
  const TemporaryFolder folder;
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    lines += "the cat\n";
  }
  write_file(folder.file("lines.txt"), lines);
  CHECK(in_shell(folder, "set -o pipefail; $PROGRAM --lines -f lines.txt -o '{line}.json' | true")
            .exit_code == 0);
  CHECK(fs::exists(folder.file("1.json")));
  CHECK(fs::exists(folder.file("40.json")));
  const ProgramResult full =
      in_shell(folder, "$PROGRAM --lines -f lines.txt -o all.json > /dev/full");
  CHECK(full.exit_code == 1);
  CHECK(mentions(full.err, {"No space left on device"}));
  CHECK(lines_of(read_file(folder.file("all.json"))).size() == 40);
}

TEST_CASE("heads: expectations are checked even where the table is not read") {
  const TemporaryFolder folder;
  write_file(folder.file("a.json"), attnviz({"The cat sat", "--json"}).out);
  for (const std::string words :
       {"--expect '0.0 induction>0.99'", "a.json --expect '0.0 self>1'"}) {
    CAPTURE(words);
    // The reader has to be gone: only then does writing to the pipe fail.
    const std::string line = "(sleep 0.3; $PROGRAM heads " + words + "; echo $? > code) | true";
    CHECK(in_shell(folder, line).exit_code == 0);
    CHECK(read_file(folder.file("code")) == "5\n");
  }
}

TEST_CASE("heads --lines: a signal ends the wait for a line, and what was counted is kept") {
  const TemporaryFolder folder;
  const ProgramResult result = in_shell(
      folder,
      "mkfifo q; (printf 'the cat sat\\nthe dog saw\\nthe b'; exec sleep 40) > q & writer=$!\n"
      "$PROGRAM heads --lines --partial p.json --json - < q > out.json & pid=$!\n"
      "until [ -e p.json ]; do sleep 0.1; done\n"
      // It waits for the third line once it takes no more time.
      "used() { cut -d ' ' -f 14,15 /proc/$pid/stat; }\n"
      "until before=$(used); sleep 1; [ \"$before\" = \"$(used)\" ]; do :; done\n"
      "kill -TERM $pid; wait $pid; code=$?; kill $writer; exit $code");
  CHECK(result.exit_code == 130);
  CHECK(parse_json(read_file(folder.file("p.json")))["n_texts"] == 2);
  CHECK(parse_json(read_file(folder.file("out.json")))["heads"].size() == 16);
}

TEST_CASE("heads --lines: an interruption before the first text leaves outputs as they were") {
  const TemporaryFolder folder;
  write_file(folder.file("a.json"), "before");
  const ProgramResult result = in_shell(
      folder,
      "mkfifo q; sleep 40 > q & writer=$!\n"
      "$PROGRAM heads --lines --partial p.json -q -o a.json - < q & pid=$!\n"
      "until [ -e p.json ]; do sleep 0.1; done; sleep 0.5; kill -TERM $pid; wait $pid; code=$?\n"
      "kill $writer; exit $code");
  CHECK(result.exit_code == 130);
  CHECK(mentions(result.err, {"line 0"}));
  CHECK(read_file(folder.file("a.json")) == "before");
}

TEST_CASE("a file that only its owner may replace is reported before the work") {
  if (geteuid() != 0 || !fs::exists("/usr/bin/setpriv")) {
    MESSAGE("SKIPPED: takes root and setpriv");
    return;
  }
  const TemporaryFolder folder;
  const std::string other = "setpriv --reuid 65534 --regid 65534 --clear-groups ";
  fs::permissions(folder.path(), fs::perms::others_read | fs::perms::others_exec,
                  fs::perm_options::add);
  if (in_shell(folder, other + "$PROGRAM --version").exit_code != 0) {
    MESSAGE("SKIPPED: other users cannot run the program");
    return;
  }
  fs::create_directory(folder.file("sticky"));
  CHECK(chmod(folder.file("sticky").c_str(), 01777) == 0);
  write_file(folder.file("sticky/a.json"), "");
  CHECK(chmod(folder.file("sticky/a.json").c_str(), 0666) == 0);
  // A text that is refused, too, but later.
  write_file(folder.file("blank.txt"), "\n");
  const ProgramResult result =
      in_shell(folder, other + "$PROGRAM -q -f blank.txt -o sticky/a.json");
  CHECK(result.exit_code == 1);
  CHECK(mentions(result.err, {"sticky/a.json", "Operation not permitted"}));
}

}  // namespace attnviz::test
