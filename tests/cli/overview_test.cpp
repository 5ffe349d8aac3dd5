// The default drawing of models with many heads.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {

namespace {

using Words = std::vector<std::string>;

const Words kDeep = {"The cat sat on the mat because it was tired",
                     "--layers",
                     "3",
                     "--heads",
                     "5",
                     "--style",
                     "ascii",
                     "-q"};

ProgramResult drawn(const Words& more, const Words& base = kDeep) {
  Words arguments = base;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return attnviz(arguments);
}

bool is_overview(const std::string& drawing) {
  return !captioned_head(drawing).empty() && contains(drawing, "\nL2 ");
}

}  // namespace

TEST_CASE("a few heads get a sentence, too, unless their weights are random") {
  const std::string samples = ATTNVIZ_SOURCE_DIR "/samples";
  const auto said = [](const Words& arguments) {
    std::string out = attnviz(arguments).out;
    std::replace(out.begin(), out.end(), '\n', ' ');
    return out;
  };
  CHECK(mentions(said({"-m", samples + "/four-heads.json", "the cat saw the dog and the cat ran"}),
                 {"L0H0", "99 %", "L0H1", "L0H2", "79 %", "L0H3"}));
  CHECK(mentions(said({"-m", samples + "/verbs-and-nouns.json", "the cat saw a dog"}),
                 {"\"saw\"", "\"cat\""}));
}

TEST_CASE("overview: a deep model's heads are in rows of layers, the most informative one below") {
  const ProgramResult result = drawn({});
  CHECK(result.exit_code == 0);
  const std::vector<std::string> lines = lines_of(result.out);
  REQUIRE(lines.size() > 20);
  CHECK(lines[0] == "attention: random weights (seed 42)");
  CHECK(lines[2].starts_with("   H0 "));
  CHECK(lines[2].ends_with("H4"));
  CHECK(lines[3].starts_with("L0 "));
  CHECK(is_overview(result.out));
  CHECK(contains(result.out, "8 was "));  // the labels of the large head
  CHECK(contains(result.out, "RANDOM WEIGHTS"));
  CHECK_FALSE(contains(result.out, "mask causal"));  // the usual one
  CHECK(contains(attnviz({"-m", "sample:your-journey", "--mask", "causal"}).out, "mask causal"));
}

TEST_CASE("overview: options that say what to draw are followed") {
  for (const Words& more : std::vector<Words>{{"--head", "*.*"},
                                              {"--head", "*.0,*.1,*.2,*.3,*.4"},
                                              {"--layer", "0-2"},
                                              {"--average", "heads"},
                                              {"--focus", "cat"},
                                              {"--side-by-side", "causal,none"},
                                              {"--style", "mask"}}) {
    CAPTURE(more[0]);
    Words base = kDeep;
    if (more[0] == "--style") {
      base.resize(5);
    }
    const ProgramResult result = drawn(more, base);
    CHECK(result.exit_code == 0);
    CHECK(captioned_head(result.out).empty());
  }
  CHECK(contains(drawn({"--head", "*.*"}).out, "L2H4"));
}

TEST_CASE("overview: as many as twelve heads, and the heads of one layer, are panels") {
  for (const Words& shape : std::vector<Words>{{"3", "4"}, {"1", "16"}, {"12", "1"}}) {
    const ProgramResult result = attnviz({"The cat sat on the mat", "--layers", shape[0], "--heads",
                                          shape[1], "--style", "ascii", "-q"});
    CHECK(captioned_head(result.out).empty());
    CHECK(contains(result.out, "L0H0"));
  }
}

TEST_CASE("overview: documents and arrays hold all heads, regardless of what is drawn") {
  const TemporaryFolder folder;
  const Words files = {"-o", folder.file("a.json"), "-o", folder.file("a.npy"),
                       "-o", folder.file("a.png")};
  REQUIRE(drawn(files).exit_code == 0);
  Words panels = {"-o", folder.file("b.json"), "-o",     folder.file("b.npy"),
                  "-o", folder.file("b.png"),  "--head", "*.*"};
  REQUIRE(drawn(panels).exit_code == 0);
  CHECK(read_file(folder.file("a.json")) == read_file(folder.file("b.json")));
  CHECK(read_file(folder.file("a.npy")) == read_file(folder.file("b.npy")));
  const std::string overview = read_file(folder.file("a.png"));
  CHECK(contains(overview, R"("overview": {"layer": )"));
  CHECK_FALSE(contains(read_file(folder.file("b.png")), R"("overview")"));
  CHECK(read_file(folder.file("a.json")) == drawn({"--json"}).out);
}

TEST_CASE("overview: with --merge words it is one of words") {
  const ProgramResult result = drawn({"--tokenizer", "bytes", "--merge", "words"});
  CHECK(result.exit_code == 0);
  CHECK(is_overview(result.out));
  CHECK(contains(result.out, "was "));
  CHECK_FALSE(contains(result.out, "42 "));  // bytes
}

TEST_CASE("overview: every line of --lines has its own") {
  ProgramRun run;
  run.arguments = {"--lines", "--style", "ascii", "-q"};
  run.input =
      "The cat sat on the mat because it was tired\nA dog\nHarry Potter is a wizard. Harry\n";
  const std::string out = attnviz(run).out;
  CHECK(mentions(out, {"\"it\"", "\"cat\"", "L0H0", "\"Harry\""}));
}

TEST_CASE("overview: a head that is computed again is the one that was chosen") {
  // 26 heads of 1600 tokens: 266 MB in the large picture, more than is kept of all heads.
  const TemporaryFolder folder;
  std::string text;
  for (std::size_t i = 0; i < 1600; ++i) {
    text += "word" + std::to_string(i * i % 97) + ' ';
  }
  write_file(folder.file("words.txt"), text);
  const Words run = {
      "-f", folder.file("words.txt"), "--layers", "2", "--heads", "13", "--d-head", "8", "-q"};
  Words chosen = run;
  chosen.insert(chosen.end(), {"--style", "ascii"});
  const std::string drawing = attnviz(chosen).out;
  Words picture = run;
  picture.insert(picture.end(), {"-o", folder.file("a.png")});
  CHECK(attnviz(picture).exit_code == 0);
  const std::string png = read_file(folder.file("a.png"));
  const std::size_t at = png.find(R"("overview": {"layer": )");
  REQUIRE(at != std::string::npos);
  const std::string head =
      "L" + png.substr(at + 22, 1) + "H" + png.substr(at + 33, png.find(',', at + 33) - at - 33);
  CHECK(captioned_head(drawing) == head);
}

TEST_CASE("overview: heads that are far apart are panels") {
  nlohmann::json document = {{"selected", nlohmann::json::array()}};
  for (int i = 0; i < 13; ++i) {
    document["selected"].push_back({{"layer", i}, {"head", i}, {"attention", {{1.0}}}});
  }
  const TemporaryFolder folder;
  write_file(folder.file("a.json"), document.dump());
  const ProgramResult result = attnviz({"render", folder.file("a.json"), "--style", "ascii"});
  CHECK(result.exit_code == 0);
  CHECK(captioned_head(result.out).empty());
  CHECK(contains(result.out, "L12H12"));
}

}  // namespace attnviz::test
