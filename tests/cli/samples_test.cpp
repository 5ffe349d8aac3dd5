// Samples by name: from a build tree and from wherever the program is unpacked.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

namespace fs = std::filesystem;

const std::string kSampleFolder = ATTNVIZ_SOURCE_DIR "/samples/";

// What a command prints for a sample, run in an empty folder.
ProgramResult elsewhere(std::vector<std::string> arguments) {
  const TemporaryFolder folder;
  return in_folder(folder, std::move(arguments));
}

}  // namespace

TEST_CASE("samples: a name is the file of that name, for every command that takes one") {
  const std::string file = kSampleFolder + "verbs-and-nouns.json";
  const std::string sentence = "the cat saw a dog";
  const std::string shown = elsewhere({"-m", "sample:verbs-and-nouns", sentence, "--json"}).out;
  CHECK(!shown.empty());
  CHECK(shown == attnviz({"-m", file, sentence, "--json"}).out);
  CHECK(elsewhere({"-m", "sample:verbs-and-nouns.json", sentence, "--json"}).out == shown);
  CHECK(elsewhere({"info", "sample:four-heads"}).out ==
        attnviz({"info", kSampleFolder + "four-heads.json"}).out);
  CHECK(elsewhere({"render", "sample:le-chat-dort", "--json"}).out ==
        attnviz({"render", kSampleFolder + "le-chat-dort.json", "--json"}).out);
  CHECK(elsewhere({"diff", "-m", "sample:verbs-and-nouns", "the cat", "the dog"}).exit_code == 0);
}

TEST_CASE("samples: the colon alone, or an unknown name, lists those that there are") {
  const ProgramResult alone = elsewhere({"-m", "sample:", "the cat"});
  CHECK(alone.exit_code == 1);
  CHECK(mentions(alone.err, {"four-heads", "le-chat-dort"}));
  const ProgramResult wrong = elsewhere({"render", "sample:le-chat-dor"});
  CHECK(wrong.exit_code == 1);
  CHECK(mentions(wrong.err, {"\"sample:le-chat-dort\""}));
  for (const char* name : {"sample:../README", "sample:/etc/passwd", "sample:README.md"}) {
    CAPTURE(name);
    CHECK(mentions(elsewhere({"-m", name, "cat"}).err, {name}));
  }
  CHECK(mentions(elsewhere({"render", "sample:four-heads"}).err, {"four-heads"}));
  CHECK(mentions(elsewhere({"-m", "sample:le-chat-dort", "x"}).err, {"attnviz"}));
}

TEST_CASE("samples: a file with the same name comes first") {
  const TemporaryFolder folder;
  fs::copy(kSampleFolder + "four-heads.json", folder.file("sample:verbs-and-nouns"));
  CHECK(contains(in_folder(folder, {"info", "sample:verbs-and-nouns"}).out, "4 per layer"));
}

TEST_CASE("samples: attnviz models lists those that are models") {
  const nlohmann::json document = attnviz_json({"models"});
  std::vector<std::string> names;
  for (const nlohmann::json& model : document["models"]) {
    if (model["store"] == "samples") {
      names.push_back(model["name"]);
      CHECK(model["problem"].is_null());
      CHECK(model["n_layers"] == 1);
    }
  }
  CHECK(names == std::vector<std::string>{"sample:cat-sat-on-the-mat", "sample:four-heads",
                                          "sample:numpy-3-tokens", "sample:verbs-and-nouns",
                                          "sample:your-journey"});
}

TEST_CASE("samples: they are found beside a program that was unpacked anywhere") {
  const TemporaryFolder prefix;
  fs::create_directories(prefix.path() / "bin");
  fs::create_directories(prefix.path() / "share/attnviz/samples");
  fs::copy(ATTNVIZ_PROGRAM, prefix.path() / "bin/attnviz");
  fs::copy(kSampleFolder + "four-heads.json", prefix.path() / "share/attnviz/samples/mine.json");
  ProgramRun run;
  run.arguments = {"info", "sample:mine"};
  CHECK(run_program(prefix.path() / "bin/attnviz", run).exit_code == 0);
  run.arguments = {"info", "sample:four-heads"};
  CHECK(mentions(run_program(prefix.path() / "bin/attnviz", run).err, {"mine"}));

  fs::create_symlink("nowhere", prefix.path() / "share/attnviz/samples/lost.json");
  run.arguments = {"models", "--json"};
  const std::string listed = run_program(prefix.path() / "bin/attnviz", run).out;
  CHECK(mentions(listed, {"\"sample:lost\"", "lost.json", "No such file or directory"}));
}

TEST_CASE("samples: without a TEXT weights are drawn with the text that they are for") {
  const std::string own = "the cat saw the dog and the cat ran";
  const std::string shown = elsewhere({"-m", "sample:four-heads", own, "--json"}).out;
  CHECK(elsewhere({"-m", "sample:four-heads", "--json"}).out == shown);
  CHECK(elsewhere({"inspect", "-m", "sample:four-heads"}).exit_code == 0);
  ProgramRun run;
  run.arguments = {"-m", "sample:four-heads"};
  run.tty_columns = 80;
  run.stdin_is_tty = true;
  CHECK(attnviz(run).exit_code == 0);
  CHECK(
      contains(attnviz({"-m", "sample:four-heads", "--json"}, "a b c d e f g h i").out, "\"a b c"));
  CHECK(mentions(attnviz({"-m", "sample:four-heads"}, "a b c").err, {own}));
  run.arguments = {"--random"};
  CHECK(contains(attnviz(run).out + attnviz(run).err, "TEXT"));
}

TEST_CASE("samples: each has a tour") {
  for (const std::string name :
       {"cat-sat-on-the-mat", "four-heads", "numpy-3-tokens", "verbs-and-nouns", "your-journey"}) {
    CAPTURE(name);
    const ProgramResult run = elsewhere({"tour", "-m", "sample:" + name});
    CHECK(run.exit_code == 0);
    CHECK(contains(run.out, "1 of "));
  }
}

TEST_CASE("samples/corpus.sh: blank lines are not texts; a folder has the sums of one corpus") {
  if (!std::filesystem::exists("/usr/bin/parallel")) {
    MESSAGE("SKIPPED: no /usr/bin/parallel");
    return;
  }
  const TemporaryFolder folder;
  write_file(folder.file("a.txt"), "the cat\nthe dog\nit ran\n" + std::string(100, '\n'));
  write_file(folder.file("b.txt"), "the cat\n");
  const auto score = [&folder](const std::string& corpus) {
    ProgramRun run;
    run.environment = {{"PROGRAM", ATTNVIZ_PROGRAM}, {"JOBS", "1"}, {"BLOCKS", "2"}};
    run.arguments = {folder.file(corpus), folder.file("sums"), "--head", "0.0"};
    return run_program(ATTNVIZ_SOURCE_DIR "/samples/corpus.sh", run);
  };
  CHECK(score("a.txt").exit_code == 0);
  CHECK(parse_json(read_file(folder.file("sums/all.json")))["n_texts"] == 3);
  CHECK(score("a.txt").exit_code == 0);
  const ProgramResult other = score("b.txt");
  CHECK(other.exit_code == 2);
  CHECK(contains(other.err, folder.file("sums")));
}

}  // namespace attnviz::test
