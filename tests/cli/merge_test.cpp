// --merge words: patterns over words in every output.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {

namespace {

using nlohmann::json;

// a, b, space, c, d: two words and what is between them.
const std::vector<std::size_t> kWordOf = {0, 0, 1, 2, 2};

std::vector<std::string> ab_cd(const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"--random", "ab cd", "--tokenizer", "chars"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return arguments;
}

// A pattern over tokens, merged by plain loops.
std::vector<std::vector<double>> merged(const json& tokens) {
  std::vector<std::vector<double>> words(3, std::vector<double>(3, 0.0));
  for (std::size_t query = 0; query < kWordOf.size(); ++query) {
    const auto length =
        static_cast<double>(std::count(kWordOf.begin(), kWordOf.end(), kWordOf[query]));
    for (std::size_t key = 0; key < kWordOf.size(); ++key) {
      words[kWordOf[query]][kWordOf[key]] += tokens[query][key].get<double>() / length;
    }
  }
  return words;
}

void check_merged(const json& words, const json& tokens) {
  const auto expected = merged(tokens);
  REQUIRE(words.size() == 3);
  for (std::size_t query = 0; query < 3; ++query) {
    double sum = 0.0;
    for (std::size_t key = 0; key < 3; ++key) {
      const double weight = words[query][key].get<double>();
      CHECK(std::abs(weight - expected[query][key]) < 1e-6);
      sum += weight;
    }
    CHECK(std::abs(sum - 1.0) < 1e-5);
  }
}

}  // namespace

TEST_CASE("--merge words: JSON has words, their ranges and tokens, and merged weights") {
  const json tokens = attnviz_json(ab_cd({"--layers", "2"}));
  const json words = attnviz_json(ab_cd({"--layers", "2", "--merge", "words"}));
  CHECK(words["merged"] == "words");
  CHECK(words["tokens"] == json::array({"ab", " ", "cd"}));
  CHECK(words["merged_ranges"] == parse_json("[[0,2],[2,3],[3,5]]"));
  CHECK(words["merged_token_ids"] == parse_json("[[0,1],[2],[3,4]]"));
  CHECK(!words.contains("token_ids"));
  CHECK(words["mask"] == "causal");
  CHECK(words["model"] == tokens["model"]);  // random vectors are those of the tokens
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (std::size_t head = 0; head < 4; ++head) {
      check_merged(words["attention"][layer][head], tokens["attention"][layer][head]);
    }
  }
  CHECK(!tokens.contains("merged"));
}

TEST_CASE("--merge words: means of heads are merged, too") {
  const json tokens = attnviz_json(ab_cd({"--average", "heads"}));
  const json words = attnviz_json(ab_cd({"--average", "heads", "--merge", "words"}));
  CHECK(words["average"] == "heads");
  check_merged(words["attention"][0][0], tokens["attention"][0][0]);
}

TEST_CASE("--merge words: a window between tokens is none between words") {
  const json tokens = attnviz_json(ab_cd({"--mask", "window:2"}));
  const json words = attnviz_json(ab_cd({"--mask", "window:2", "--merge", "words"}));
  CHECK(words["mask"] == "causal");
  CHECK(words["token_mask"] == "window:2");
  check_merged(words["attention"][0][0], tokens["attention"][0][0]);
  const json both = attnviz_json(ab_cd({"--mask", "none", "--merge", "words"}));
  CHECK(both["mask"] == "none");
  CHECK(!both.contains("token_mask"));
}

TEST_CASE("--merge words: drawings, arrays and pictures are over words and say so") {
  const TemporaryFolder folder;
  const ProgramResult run =
      attnviz(ab_cd({"--merge", "words", "--head", "0.0", "-o", folder.file("w.npy"), "-o",
                     folder.file("w.png"), "-o", folder.file("w.json")}));
  CHECK(run.exit_code == 0);
  CHECK(mentions(run.out, {"tokens merged", "words", "ab"}));
  CHECK(contains(read_file(folder.file("w.npy")), "(1, 1, 3, 3)"));
  CHECK(read_file(folder.file("w.png")).starts_with("\x89PNG"));
  // What was written is drawn in the same way.
  const ProgramResult again = attnviz({"render", folder.file("w.json")});
  CHECK(again.exit_code == 0);
  CHECK(mentions(again.out, {"tokens merged", "words"}));
  CHECK(attnviz_json({"render", folder.file("w.json")})["merged"] == "words");
}

TEST_CASE("--merge words: render keeps what words are made of, unless it names other ones") {
  const TemporaryFolder folder;
  const std::string file = folder.file("w.json");
  REQUIRE(attnviz(ab_cd({"--merge", "words", "-q", "-o", file})).exit_code == 0);
  const json words = read_json(file);
  CHECK(attnviz_json({"render", file}) == words);
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--head", "0.1"}, {"--average", "heads"}, {"--mask", "none"}}) {
    std::vector<std::string> again = {"render", file};
    again.insert(again.end(), options.begin(), options.end());
    const json changed = attnviz_json(again);
    CHECK(changed["merged_ranges"] == words["merged_ranges"]);
    CHECK(changed["merged_token_ids"] == words["merged_token_ids"]);
  }
  const json named = attnviz_json({"render", file, "--tokens", "x y z"});
  CHECK(named["merged"] == "words");
  CHECK_FALSE(named.contains("merged_ranges"));
  CHECK_FALSE(named.contains("merged_token_ids"));
  // Edges between all tokens of two words: 3 and 4 are cd, 0 and 1 are ab.
  const std::string hidden = folder.file("h.json");
  const ProgramResult drawn = attnviz(
      ab_cd({"--merge", "words", "--head", "0.0", "--hide", "3-4>0-1", "-o", hidden, "-q"}));
  REQUIRE(drawn.exit_code == 0);
  const auto text_of = [&folder](std::vector<std::string> arguments) {
    const std::string text = folder.file("a.txt");
    arguments.insert(arguments.end(), {"-q", "-o", text});
    REQUIRE(attnviz(arguments).exit_code == 0);
    return read_file(text);
  };
  CHECK(text_of({"render", hidden}) ==
        text_of(ab_cd({"--merge", "words", "--head", "0.0", "--hide", "3-4>0-1"})));
}

TEST_CASE("--merge words: all heads of a deep model are merged, too") {
  const ProgramResult run = attnviz(ab_cd({"--merge", "words", "--layers", "2", "--heads", "8"}));
  CHECK(run.exit_code == 0);
  CHECK(mentions(run.out, {"tokens merged", "words"}));
}

TEST_CASE("--merge words: --focus names words") {
  const ProgramResult run = attnviz(ab_cd({"--merge", "words", "--focus", "cd"}));
  CHECK(run.exit_code == 0);
  CHECK(mentions(run.out, {"\"cd\""}));
  CHECK(attnviz(ab_cd({"--merge", "words", "--focus", "d"})).exit_code == 2);
}

TEST_CASE("--merge words: lines, variants side by side, and long texts, which are not streamed") {
  const ProgramResult lines = attnviz(
      {"--random", "--lines", "--json", "--merge", "words", "--tokenizer", "bytes"}, "ab cd\ne\n");
  CHECK(lines.exit_code == 0);
  CHECK(parse_json(lines_of(lines.out).at(0))["tokens"].size() == 3);
  CHECK(parse_json(lines_of(lines.out).at(1))["tokens"].size() == 1);
  CHECK(attnviz(ab_cd({"--merge", "words", "--side-by-side", "causal,none"})).exit_code == 0);
  std::string text;
  for (int i = 0; i < 500; ++i) {
    text += "abcdefgh ";
  }
  const json words =
      attnviz_json({"--merge", "words", "--tokenizer", "chars", "--heads", "1"}, text);
  REQUIRE(words["tokens"].size() == 1000);
  double sum = 0.0;
  for (const json& weight : words["attention"][0][0][998]) {
    sum += weight.get<double>();
  }
  CHECK(std::abs(sum - 1.0) < 1e-4);
}

TEST_CASE("--merge takes the units that exist") {
  const ProgramResult run = attnviz(ab_cd({"--merge", "stanzas"}));
  CHECK(run.exit_code == 2);
  CHECK(mentions(run.err, {"--merge", "words"}));
}

TEST_CASE("--merge words: word pieces of a trained model, special tokens alone") {
  if (!std::filesystem::exists(kStories)) {
    MESSAGE("SKIPPED: no " << kStories);
    return;
  }
  const json tokens = attnviz_json({"-m", kStories, "Once upon a time, Lily giggled"});
  const json words =
      attnviz_json({"-m", kStories, "Once upon a time, Lily giggled", "--merge", "words"});
  CHECK(words["tokens"] ==
        json::array({"<s>", " Once", " upon", " a", " time", ",", " Lily", " giggled"}));
  CHECK(tokens["tokens"].size() > words["tokens"].size());
  std::size_t n_ids = 0;
  for (const json& ids : words["merged_token_ids"]) {
    n_ids += ids.size();
  }
  CHECK(n_ids == tokens["tokens"].size());
  const json predicted = attnviz_json({"-m", kStories, "Once upon a time, Lily giggled", "--merge",
                                       "words", "--predict", "1", "--at", "Once"});
  CHECK(predicted["predictions"]["at"] == 1);
  CHECK(predicted["predictions"]["after"] == " Once");
}

}  // namespace attnviz::test
