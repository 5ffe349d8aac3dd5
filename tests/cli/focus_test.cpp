// One token's attention, means of heads, and variants side by side.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {
namespace {

using nlohmann::json;

const std::string kFourHeads = ATTNVIZ_SOURCE_DIR "/samples/four-heads.json";
const std::string kText = "the cat saw the dog and the cat ran";

std::vector<std::string> four_heads(std::vector<std::string> options) {
  std::vector<std::string> arguments = {kText, "-m", kFourHeads};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return arguments;
}

json document(const std::vector<std::string>& arguments) {
  std::vector<std::string> with_json = arguments;
  with_json.emplace_back("--json");
  return parse_json(attnviz(with_json).out);
}

}  // namespace

TEST_CASE("--focus: bars with percentages, and which token when it occurs twice") {
  const auto run = attnviz(four_heads({"--focus", "cat", "--head", "0.0,0.2"}));
  CHECK(run.exit_code == 0);
  CHECK(mentions(run.err, {"\"cat\"", "1", "7"}));
  CHECK(mentions(run.out, {"\"cat\"", "four-heads.json"}));
  // The sample's head 0 looks for the token before with a score of 6 · 3 / √9 = 6, all others have
  // 0: e^6 / (e^6 + 7) = 98.3 % of 8 visible tokens. Head 2 looks for the same word, d_head 6 and a
  // score of 5 · 3 / √6 = 6.124: two of them have e^6.124 / (2 e^6.124 + 6) = 49.7 %, each of the
  // others 0.11 %. Bars are 24 columns.
  CHECK(mentions(run.out, {"\n6 the 98.3% ########################   0.1% |\n",
                           "\n7 cat  0.2% |                         49.7% ############\n",
                           "\n8 ran     .                               .\n", "= 100%   . ="}));
  CHECK(contains(attnviz(four_heads({"--focus", "cat#1"})).out, "\"cat\" (1)"));
  CHECK(contains(attnviz(four_heads({"--focus", "4"})).out, "\"dog\" (4)"));
}

TEST_CASE("--focus: scores are drawn as scores, in every form") {
  const TemporaryFolder folder;
  const std::string text = "The cat sat on the mat because it was tired";
  const json scores = attnviz_json({text, "--head", "2.1", "--show", "scores", "-q"});
  const double cat = scores["attention"][0][0][8][2];
  const double on = scores["attention"][0][0][8][4];
  REQUIRE(cat > 10.0);
  REQUIRE(on < 0.0);
  const auto run = in_folder(folder, {text, "--head", "2.1", "--focus", "it", "--show", "scores",
                                      "-q", "-o", "a.svg", "-o", "a.txt"});
  CHECK(run.exit_code == 0);
  const std::string drawn = read_file(folder.file("a.txt"));
  for (const std::string& out : {drawn, read_file(folder.file("a.svg"))}) {
    CHECK(mentions(out,
                   {fmt::format("{:.2f}", cat), fmt::format("{:.2f}", on), "bars from -1 to 100"}));
  }
  CHECK_FALSE(contains(drawn, "%"));
}

TEST_CASE("--focus --as-key: who looks at the token") {
  const auto run = attnviz(four_heads({"--focus", "cat#1", "--as-key", "--head", "0.2"}));
  CHECK(mentions(run.out, {"\"cat\"", "four-heads.json", "\n0 the     .\n"}));
  // As above: the later cat gives both the same. One head alone has a bar of 50 columns, of which
  // 99.8 %, e^6.124 / (e^6.124 + 1) of the first cat's own look at itself, fill all.
  CHECK(mentions(run.out, {"\n1 cat 99.8% " + std::string(50, '#') + "\n",
                           "\n7 cat 49.7% " + std::string(25, '#') + "\n"}));
  const auto alone = attnviz(four_heads({"--as-key"}));
  CHECK(alone.exit_code == 2);
  CHECK(mentions(alone.err, {"--as-key", "--focus"}));
}

TEST_CASE("--focus: a word that is not in the text is reported, with those that are") {
  const auto run = attnviz(four_heads({"--focus", "cow"}));
  CHECK(run.exit_code == 2);
  CHECK(contains(run.err, "--focus"));
  CHECK(run.out.empty());
}

TEST_CASE("--focus: the document keeps the whole patterns and says what was drawn") {
  const json whole = document(four_heads({}));
  json focused = document(four_heads({"--focus", "dog"}));
  CHECK(focused["drawing"]["focus"] == json{{"token", 4}, {"as_key", false}});
  focused["drawing"].erase("focus");
  CHECK(focused == whole);
}

TEST_CASE("--average: one entry on the averaged axis, the mean of those without it") {
  const std::vector<std::string> base = {"The cat sat", "--layers", "2", "--heads", "3"};
  const json whole = document(base);
  const auto averaged = [&base](const std::string& over) {
    std::vector<std::string> arguments = base;
    arguments.insert(arguments.end(), {"--average", over});
    return document(arguments);
  };
  const auto weight = [](const json& from, std::size_t layer, std::size_t head) {
    return from["attention"][layer][head][2][1].get<double>();
  };
  const json heads = averaged("heads");
  CHECK(heads["average"] == "heads");
  CHECK(heads["layers"] == json{0, 1});
  CHECK(heads["heads"] == json{0, 1, 2});
  REQUIRE(heads["attention"].size() == 2);
  REQUIRE(heads["attention"][0].size() == 1);
  const double of_heads = (weight(whole, 1, 0) + weight(whole, 1, 1) + weight(whole, 1, 2)) / 3.0;
  CHECK(std::abs(weight(heads, 1, 0) - of_heads) < 1e-6);

  const json layers = averaged("layers");
  REQUIRE(layers["attention"].size() == 1);
  REQUIRE(layers["attention"][0].size() == 3);
  const double of_layers = (weight(whole, 0, 2) + weight(whole, 1, 2)) / 2.0;
  CHECK(std::abs(weight(layers, 0, 2) - of_layers) < 1e-6);

  const json all = averaged("all");
  REQUIRE(all["attention"].size() == 1);
  REQUIRE(all["attention"][0].size() == 1);
  double sum = 0.0;
  for (const std::size_t layer : {0U, 1U}) {
    for (const std::size_t head : {0U, 1U, 2U}) {
      sum += weight(whole, layer, head);
    }
  }
  CHECK(std::abs(weight(all, 0, 0) - sum / 6.0) < 1e-6);
}

TEST_CASE("--average: titles say what was averaged; holes are refused or averaged as a whole") {
  const std::vector<std::string> base = {"The cat sat", "--layers", "2", "--average"};
  const auto with = [&base](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = base;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return attnviz(arguments);
  };
  CHECK(mentions(with({"heads"}).out, {"L1, average", "4 heads"}));
  CHECK(mentions(with({"layers"}).out, {"H3, average", "2 layers"}));
  CHECK(mentions(with({"all"}).out, {"8 heads"}));
  CHECK(mentions(with({"all", "--head", "0.1,1.2"}).out, {"2 heads"}));
  const auto holes = with({"heads", "--head", "0.1,1.2"});
  CHECK(holes.exit_code == 2);
  CHECK(mentions(holes.err, {"--average heads"}));
}

TEST_CASE("--side-by-side: masks and temperatures beside each other, each with its name") {
  const auto masks = attnviz({"The cat sat", "--heads", "1", "--side-by-side", "causal,none"});
  CHECK(mentions(masks.out, {"L0H0 causal", "L0H0 none"}));
  CHECK_FALSE(contains(masks.out, "mask causal"));
  const auto warm = attnviz({"The cat sat", "--heads", "1", "--side-by-side", "0.5,T=1,2"});
  for (const char* title : {"L0H0 T 0.5", "L0H0 T 1", "L0H0 T 2"}) {
    CHECK(contains(warm.out, title));
  }
  const auto only_masks =
      attnviz({"--random", "The cat", "--style", "mask", "--side-by-side", "causal,none"}).out;
  CHECK(mentions(only_masks, {"mask causal  mask none\n", "The #   .        #   #\n"}));
}

TEST_CASE("--side-by-side: each variant is the run with that option, and a line of JSON") {
  const auto both = attnviz({"--random", "The cat sat", "--side-by-side", "none,0.5", "--json"});
  const std::vector<std::string> lines = lines_of(both.out);
  REQUIRE(lines.size() == 2);
  const json none = parse_json(lines[0]);
  const json sharp = parse_json(lines[1]);
  CHECK(none["attention"] == document({"--random", "The cat sat", "--mask", "none"})["attention"]);
  CHECK(sharp["attention"] ==
        document({"--random", "The cat sat", "--temperature", "0.5"})["attention"]);
  CHECK(none["drawing"]["side_by_side"] == json{"none", "T 0.5"});
}

TEST_CASE("--side-by-side: combinations that make no sense are refused") {
  const auto error_of = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "The cat");
    const auto run = attnviz(arguments);
    CHECK(run.exit_code == 2);
    return run.err;
  };
  CHECK(mentions(error_of({"--side-by-side", "causal,none", "--mask", "none"}),
                 {"--side-by-side causal", "--mask"}));
  CHECK(mentions(error_of({"--side-by-side", "1,2", "--temperature", "1"}),
                 {"--side-by-side T 1", "--temperature"}));
  CHECK(mentions(error_of({"--side-by-side", "causal"}), {"--side-by-side", "\"causal\""}));
  CHECK(mentions(error_of({"--side-by-side", "causal,causal"}), {"--side-by-side", "causal"}));
  CHECK(mentions(error_of({"--side-by-side", "causal,caual"}), {"--side-by-side", "\"caual\""}));
  CHECK(mentions(error_of({"--side-by-side", "1,-2"}), {"--side-by-side", "\"-2\""}));
  CHECK(mentions(error_of({"--side-by-side", "1,2", "-o", "x.npy"}), {".npy"}));
}

}  // namespace attnviz::test
