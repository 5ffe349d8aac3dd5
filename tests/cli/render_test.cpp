// attnviz render: attention from files of any tool.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {
namespace {

using Words = std::vector<std::string>;
using nlohmann::json;

const std::string kGptOss = kReference + "experts/gptoss-bf16";

}  // namespace

TEST_CASE("render: what show wrote as JSON gives the same picture, array, document and drawing") {
  const TemporaryFolder folder;
  const std::vector<Words> runs = {
      {"The cat sat on the mat"},
      {"naïve 猫 \x1b\xff", "--layers", "2", "--head", "0.1,1.2", "--seed", "7"},
      {"one", "--mask", "none", "--temperature", "0.7", "--no-scale"},
      {"The cat sat on the mat", "--positions", "rope", "--dropout", "0.3", "--mask", "window:2"},
      {"The cat sat", "--drop-sink", "--scale", "sqrt", "--colormap", "magma_r", "--title", "T"},
      {"The cat sat on the mat", "--side-by-side", "causal,none,0.5"},
      {"The cat sat on the mat", "--focus", "cat", "--side-by-side", "1,2"},
      {"The cat sat on the mat", "--focus", "the", "--as-key", "--drop-sink"},
      {"The cat sat on the mat", "--average", "heads", "--layers", "2"},
      {"The cat sat on the mat", "--average", "all", "--focus", "-1"},
      {"The cat sat", "--scale", "row-max", "--pool", "mean", "--title", ""},
      {"The cat sat", "--scale", "log", "--range", "0.01:0.5"},
      {"The cat sat on the mat and ran", "--layers", "3", "--heads", "6", "--dropout", "0.2"},
      {"The cat sat on the mat", "--layers", "2", "--heads", "7", "--drop-sink", "--mask", "none"},
      {"the cat saw the dog and the cat ran", "-m", ATTNVIZ_SOURCE_DIR "/samples/four-heads.json"}};
  for (const Words& run : runs) {
    CAPTURE(run.back());
    Words direct = run;
    direct.insert(direct.end(), {"-q", "-o", "a.json", "-o", "a.png", "-o", "a.txt"});
    REQUIRE(in_folder(folder, direct).exit_code == 0);
    const ProgramResult again =
        in_folder(folder, {"render", "a.json", "-q", "-o", "b.json", "-o", "b.png", "-o", "b.txt"});
    REQUIRE(again.exit_code == 0);
    CHECK(again.err.empty());
    for (const char* ending : {".json", ".png", ".txt"}) {
      CAPTURE(ending);
      CHECK(read_file(folder.file(std::string("a") + ending)) ==
            read_file(folder.file(std::string("b") + ending)));
    }
  }
}

TEST_CASE("render: an .npy array drawn with its tokens is the array again") {
  const TemporaryFolder folder;
  REQUIRE(in_folder(folder, {"The cat sat", "--layers", "2", "-q", "-o", "a.npy"}).exit_code == 0);
  const ProgramResult result = in_folder(
      folder, {"render", "a.npy", "--tokens", "The cat sat", "--head", "1.3", "--mask", "causal"});
  CHECK(result.exit_code == 0);
  CHECK(mentions(result.out, {"attention: a.npy", "L1H3"}));
  CHECK_FALSE(contains(result.out, "L0H3"));
  CHECK(contains(result.out, "= masked"));
  REQUIRE(in_folder(folder, {"render", "a.npy", "-q", "-o", "b.npy"}).exit_code == 0);
  CHECK(read_file(folder.file("a.npy")) == read_file(folder.file("b.npy")));
}

TEST_CASE("render: nested lists from standard input, queries and keys of their own") {
  const ProgramResult cross = attnviz({"render", "--tokens", "le chat", "--key-tokens",
                                       R"(["the", " cat", "!"])", "--style", "numbers"},
                                      "[[0.5, 0.25, 0.25], [0.1, 0.8, 0.1]]");
  CHECK(cross.exit_code == 0);
  CHECK(mentions(cross.out, {"chat", "␠cat", "0.80"}));
  CHECK(cross.err.empty());
}

TEST_CASE(
    "render: rows that do not sum to 1 are drawn and noted; other values get their own range") {
  const ProgramResult sums = attnviz({"render", "-"}, "[[0.5, 0.25], [0.5, 0.5]]");
  CHECK(sums.exit_code == 0);
  CHECK(mentions(sums.err, {"1 of 2", "head 0.0", "query 0", "0.75"}));
  CHECK(mentions(sums.out, {"1 of 2"}));
  const nlohmann::json scores = attnviz_json({"render", "-q"}, "[[-3, 1], [2, 0]]");
  CHECK(scores.at("drawing").at("range") == nlohmann::json({-3.0, 3.0}));
  CHECK(scores.at("drawing").at("colormap") == "blue-red");
  CHECK(scores.at("notes").size() == 1);
}

TEST_CASE("render: options change how the file was drawn, and nothing else") {
  const std::string drawn = attnviz({"The cat sat", "--json", "-q", "--colormap", "magma"}).out;
  const nlohmann::json before = parse_json(drawn);
  nlohmann::json after = attnviz_json({"render", "--scale", "sqrt"}, drawn);
  CHECK(after.at("drawing").at("scale") == "sqrt");
  CHECK(after.at("drawing").at("colormap") == "magma");
  after.at("drawing") = before.at("drawing");
  CHECK(after == before);
}

TEST_CASE("render: several documents are drawn one after the other") {
  const std::string lines = attnviz({"--lines", "--json", "-q"}, "one two\nthree four\n").out;
  const ProgramResult result = attnviz({"render", "-q"}, lines);
  CHECK(result.exit_code == 0);
  CHECK(mentions(result.out, {"two", "four"}));
}

TEST_CASE("render: some of the means of an averaged document are a document again") {
  const TemporaryFolder folder;
  for (const Words& choice :
       {Words{"--average", "heads", "--layer", "1"}, Words{"--average", "layers", "--head", "2"}}) {
    REQUIRE(
        in_folder(folder, {"a b c", "--layers", "3", "--average", choice[1], "-q", "-o", "a.json"})
            .exit_code == 0);
    REQUIRE(in_folder(folder, {"render", "a.json", choice[2], choice[3], "-q", "-o", "b.json"})
                .exit_code == 0);
    const ProgramResult again = in_folder(folder, {"render", "b.json", "-q", "--json"});
    CHECK(again.exit_code == 0);
    CHECK(again.out == read_file(folder.file("b.json")));
  }
}

TEST_CASE("render: what JSON cannot hold is drawn, but not written as JSON") {
  const TemporaryFolder folder;
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n";
  std::string array("\x93NUMPY\x01\x00", 8);
  array += static_cast<char>(header.size());
  array += '\0';
  array += header + std::string("\x00\x00\xC0\x7F\x00\x00\x80\x3F", 8);  // NaN, 1
  write_file(folder.file("nan.npy"), array);
  const ProgramResult drawn = in_folder(folder, {"render", "nan.npy"});
  CHECK(drawn.exit_code == 0);
  CHECK(contains(drawn.out, "? = NaN"));
  const ProgramResult written = in_folder(folder, {"render", "nan.npy", "--json"});
  CHECK(written.exit_code == 4);
  CHECK(contains(written.err, "head 0.0, query 0"));
}

TEST_CASE("render: scores are not rescaled, and a mask that was not named is not drawn") {
  CHECK(attnviz({"render", "--drop-sink"}, "[[-3, 1], [2, 0]]").exit_code == 2);
  CHECK(attnviz({"render", "--style", "mask"}, "[[0.5, 0.5]]").exit_code == 2);
}

TEST_CASE("render: a picture is not attention, and the error says so") {
  const TemporaryFolder folder;
  REQUIRE(in_folder(folder, {"The cat", "--head", "0.0", "-q", "-o", "a.png"}).exit_code == 0);
  const ProgramResult run = in_folder(folder, {"render", "a.png"});
  CHECK(run.exit_code == 3);
  CHECK(mentions(run.err, {"a.png"}));
}

TEST_CASE("render: numbers that cannot be weights get one note, with the lines to type") {
  const TemporaryFolder folder;
  write_file(folder.file("my scores.json"), "[[5, 1], [2, -3]]");
  const ProgramResult drawn = in_folder(folder, {"render", "my scores.json"});
  CHECK(drawn.exit_code == 0);
  CHECK(mentions(drawn.err, {"\n  attnviz render \"my scores.json\" --kind scores\n",
                             "\n  attnviz render \"my scores.json\" --softmax\n"}));
  for (const char* option : {"scores", "scaled", "masked"}) {
    CHECK(in_folder(folder, {"render", "my scores.json", "--kind", option}).err.empty());
  }
  CHECK(in_folder(folder, {"render", "my scores.json", "--softmax"}).err.empty());
}

TEST_CASE("render: a mean of heads is that of their weights, not softmax of the mean score") {
  const nlohmann::json mean = attnviz_json({"render", "-", "--softmax", "--average", "heads"},
                                           "[[[[0, 0]], [[0, 1.0986123]]]]");  // ln 3
  CHECK(mean["attention"][0][0][0][0].get<double>() == doctest::Approx((0.5 + 0.25) / 2));
}

TEST_CASE("render: means of heads with learned sinks are those that show draws") {
  const TemporaryFolder folder;
  const Words model = {"-m", kGptOss, "--ids", "1,2,3,4"};
  Words whole = model;
  whole.insert(whole.end(), {"-q", "-o", "a.json"});
  REQUIRE(in_folder(folder, whole).exit_code == 0);
  for (const char* over : {"heads", "layers", "all"}) {
    CAPTURE(over);
    Words direct = model;
    direct.insert(direct.end(), {"--average", over, "--json"});
    const json shown = parse_json(in_folder(folder, direct).out);
    const ProgramResult rendered =
        in_folder(folder, {"render", "a.json", "--average", over, "--json"});
    CHECK(shown.contains("sink"));
    CHECK(parse_json(rendered.out)["sink"] == shown["sink"]);
    CHECK(rendered.err.empty());
  }
}

TEST_CASE(
    "show: shares of values have no most informative head, and their page no steps of weights") {
  const Words words = {"The cat sat because it was tired", "--show", "values-shares"};
  Words page = words;
  page.insert(page.end(), {"-o", "-", "--format", "html"});
  CHECK_FALSE(captioned_head(attnviz({words[0]}).out).empty());
  CHECK(captioned_head(attnviz(words).out).empty());
  CHECK(contains(attnviz({words[0], "-o", "-", "--format", "html"}).out, R"("steps": {)"));
  CHECK(contains(attnviz(page).out, R"("steps": null)"));
}

TEST_CASE("heads: a document of scores or shares is not mistaken for one of weights") {
  for (const char* const kind : {"scores", "scaled", "masked", "values-shares"}) {
    CAPTURE(kind);
    const ProgramResult document = attnviz({"The cat sat", "--show", kind, "--json"});
    const TemporaryFolder folder;
    write_file(folder.file("of.json"), document.out);
    const ProgramResult refused = in_folder(folder, {"heads", "of.json"});
    CHECK(refused.exit_code == 2);
    CHECK(mentions(refused.err, {kind}));
  }
}

TEST_CASE("render: heads are averaged and tokens focused as by show") {
  const TemporaryFolder folder;
  REQUIRE(in_folder(folder, {"The cat sat", "--layers", "2", "-q", "-o", "a.json"}).exit_code == 0);
  for (const Words& options :
       {Words{"--average", "heads"}, Words{"--average", "layers"}, Words{"--average", "all"},
        Words{"--focus", "cat"}, Words{"--focus", "cat", "--as-key"}}) {
    CAPTURE(options.back());
    Words direct = {"The cat sat", "--layers", "2", "-q"};
    Words rendered = {"render", "a.json", "-q"};
    direct.insert(direct.end(), options.begin(), options.end());
    rendered.insert(rendered.end(), options.begin(), options.end());
    const ProgramResult expected = in_folder(folder, direct);
    CHECK(expected.exit_code == 0);
    CHECK(in_folder(folder, rendered).out == expected.out);
  }
}

TEST_CASE("render: for a file of another command the error names that command") {
  const TemporaryFolder folder;
  REQUIRE(in_folder(folder, {"a b", "-q", "-o", "a.json"}).exit_code == 0);
  const ProgramResult as_weights = in_folder(folder, {"-m", "a.json", "a b"});
  CHECK(as_weights.exit_code == 4);
  CHECK(contains(as_weights.err, "attnviz render FILE"));
  const ProgramResult as_attention =
      attnviz({"render", ATTNVIZ_SOURCE_DIR "/samples/four-heads.json"});
  CHECK(as_attention.exit_code == 3);
  CHECK(contains(as_attention.err, "attnviz -m FILE TEXT"));
}

TEST_CASE("render: errors say what is wrong with which file, and how to call it") {
  const TemporaryFolder folder;
  write_file(folder.file("bad.json"), "[[1, 2], [3]]");
  write_file(folder.file("bad.npy"), "\x93NUMPY\x01");
  const auto fails = [&folder](Words arguments, int exit_code, const Words& named) {
    CAPTURE(arguments);
    arguments.insert(arguments.begin(), "render");
    const ProgramResult result = in_folder(folder, arguments, "[[1, 0], [0, 1]]");
    CHECK(result.exit_code == exit_code);
    CHECK(mentions(result.err, named));
    CHECK(result.out.empty());
  };
  fails({"missing.json"}, 1, {"missing.json"});
  fails({"bad.json"}, 3, {"bad.json"});
  fails({"bad.npy"}, 3, {"bad.npy"});
  fails({"-", "--tokens", "a b c"}, 2, {"--tokens", "2", "3"});
  fails({"-", "--tokens", "  "}, 2, {"--tokens"});
  fails({"-", "--tokens", "[1]"}, 2, {"--tokens"});
  fails({"-", "--head", "0.4"}, 2, {"0.4"});
  fails({"-", "--range", "1:0"}, 2, {"--range"});
  fails({"a.json", "b.json"}, 2, {"render", "FILE", "\"b.json\""});
  fails({"bad.json", "-o", "bad.json"}, 2, {"bad.json"});
  CHECK(read_file(folder.file("bad.json")) == "[[1, 2], [3]]");
}

TEST_CASE("render: runs side by side make one picture where their heads are the same") {
  const auto lines = [](const char* second) {
    const auto line = [](const char* head) {
      return fmt::format(R"({{"tokens": ["a"], "selected": [{{"layer": 0, "head": {},)"
                         R"( "attention": [[1]]}}], "drawing": {{"side_by_side": ["A", "B"]}}}})"
                         "\n",
                         head);
    };
    return line("0") + line(second);
  };
  const TemporaryFolder folder;
  write_file(folder.file("same.json"), lines("0"));
  write_file(folder.file("other.json"), lines("1"));
  CHECK(in_folder(folder, {"render", "same.json", "-o", "a.png"}).exit_code == 0);
  const ProgramResult apart = in_folder(folder, {"render", "other.json", "-o", "b.png"});
  CHECK(apart.exit_code == 2);
  CHECK(mentions(apart.err, {"2 documents"}));
}

TEST_CASE("render: one token too few for an array of attnviz's own says what the first one is") {
  const TemporaryFolder folder;
  CHECK(in_folder(folder, {"The cat", "-o", "cat.npy", "-o", "cat.json", "-q"}).exit_code == 0);
  const ProgramResult run = in_folder(folder, {"render", "cat.npy", "--tokens", "The cat"});
  CHECK(run.exit_code == 2);
  CHECK(mentions(run.err, {"--tokens", "3 tokens", "BOS", ".json"}));
  CHECK(in_folder(folder, {"render", "cat.json", "--head", "2.1"}).exit_code == 0);
  CHECK(!contains(in_folder(folder, {"render", "cat.npy", "--tokens", "cat"}).err, "BOS"));
}

}  // namespace attnviz::test
