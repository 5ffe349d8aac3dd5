// attnviz render of scores: their mask, and the weights that softmax makes of them.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {
namespace {

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("render: the scores of a run come to its weights again") {
  const ProgramResult scores = attnviz({"The cat sat on it", "--show", "scores", "--json", "-q"});
  REQUIRE(scores.exit_code == 0);
  const nlohmann::json document = parse_json(scores.out);
  CHECK(document["kind"] == "scores");
  CHECK(document["attention"][2][1][0][1] != 0.0);
  const nlohmann::json again =
      attnviz_json({"render", "-", "--softmax", "--divide-by", "5.656854249"}, scores.out);  // √32
  const nlohmann::json run = attnviz_json({"The cat sat on it"});
  CHECK_FALSE(again.contains("kind"));
  for (std::size_t layer = 0; layer < run["attention"].size(); ++layer) {
    for (std::size_t query = 0; query < run["tokens"].size(); ++query) {
      for (std::size_t key = 0; key < run["tokens"].size(); ++key) {
        CHECK(again["attention"][layer][3][query][key].get<double>() ==
              doctest::Approx(run["attention"][layer][3][query][key].get<double>()).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("render: masked scores stay masked, as JSON and as arrays") {
  const TemporaryFolder folder;
  REQUIRE(in_folder(folder, {"The cat sat", "--show", "masked", "--head", "2.1", "-q", "-o",
                             "m.json", "-o", "m.npy"})
              .exit_code == 0);
  const nlohmann::json written = parse_json(read_file(folder.file("m.json")));
  const std::string array = read_file(folder.file("m.npy"));
  constexpr std::size_t kTokens = 4;
  for (std::size_t query = 0; query < kTokens; ++query) {
    for (std::size_t key = 0; key < kTokens; ++key) {
      float number = 0.0f;
      const std::size_t cell = query * kTokens + key;
      std::memcpy(&number, array.data() + array.size() - 4 * (kTokens * kTokens - cell), 4);
      CHECK(written["attention"][0][0][query][key].is_null() == (key > query));
      CHECK(std::isinf(number) == (key > query));
      CHECK(std::signbit(number) >= (key > query));
    }
  }
  const nlohmann::json run = attnviz_json({"The cat sat", "--head", "2.1"});
  for (const char* file : {"m.json", "m.npy"}) {
    CAPTURE(file);
    const ProgramResult made = in_folder(folder, {"render", file, "--softmax", "--json"});
    CHECK(made.err.empty());
    const nlohmann::json weights = parse_json(made.out);
    CHECK(weights["attention"][0][0][0] == nlohmann::json({1.0, 0.0, 0.0, 0.0}));
    for (std::size_t key = 0; key < kTokens; ++key) {
      CHECK(weights["attention"][0][0][3][key].get<double>() ==
            doctest::Approx(run["attention"][0][0][3][key].get<double>()).epsilon(1e-5));
    }
    const ProgramResult again = in_folder(folder, {"render", file, "--kind", "masked", "--json"});
    CHECK(parse_json(again.out)["attention"] == written["attention"]);
  }
  const ProgramResult shown = attnviz({"The cat sat", "--show", "masked", "--head", "2.1"});
  const ProgramResult read = in_folder(folder, {"render", "m.json"});
  CHECK(read.out == shown.out);
}

TEST_CASE("render: -inf and null are masked cells wherever scores are drawn") {
  const std::string page = "[[2, null, -Infinity], [-1, 2, null], [0, 1, 2]]";
  for (const char* kind : {"scores", "scaled", "masked"}) {
    const ProgramResult drawn =
        attnviz({"render", "-", "--kind", kind, "--style", "numbers"}, page);
    CHECK(drawn.exit_code == 0);
    CHECK_FALSE(contains(drawn.out, "inf"));
    CHECK(mentions(drawn.out, {"= masked", "-1.00"}));
    CHECK(contains(drawn.out, "-2 "));  // the range is that of the numbers
    const nlohmann::json document = attnviz_json({"render", "-", "--kind", kind}, page);
    CHECK(document["attention"][0][0][0] == nlohmann::json({2.0, nullptr, nullptr}));
  }
  const ProgramResult weights = attnviz({"render", "-", "--softmax", "--style", "numbers"}, page);
  CHECK(mentions(weights.out, {"1.000", "= masked"}));
  const ProgramResult blind =
      attnviz({"render", "-", "--softmax", "-q"}, "[[1, 2], [null, -Infinity]]");
  CHECK(contains(blind.out, "1 of 2"));
  CHECK(contains(attnviz_json({"render", "-", "--softmax"}, "[[1, 2], [null, null]]")["notes"][1],
                 "1 of 2"));
  CHECK(attnviz({"render", "-"}, "[[0.5, null]]").exit_code == 3);
}

TEST_CASE("render: scores of a textbook, divided or as weights") {
  const std::string page = "[[2.1, 8.7, 3.2]]";
  const ProgramResult drawn =
      attnviz({"render", "-", "--kind", "scores", "--divide-by", "2", "--style", "numbers",
               "--tokens", "q", "--key-tokens", "a b c"},
              page);
  CHECK(drawn.out.find("4.35") != std::string::npos);
  CHECK(contains(drawn.out, "/ 2"));
  for (const char* const option : {"--divide-by", "--temperature"}) {
    const ProgramResult refused = attnviz({"render", "-", option, "2"}, page);
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.err, option));
  }
  CHECK(attnviz({"render", "-", "--kind", "weights", "--softmax"}, page).exit_code == 2);
  for (const char* const what : {"--kind=scores", "--softmax"}) {
    const ProgramResult over =
        attnviz({"render", "-", what, "--divide-by", "1e-30", "--temperature", "1e-30"}, page);
    CHECK(over.exit_code != 0);
    CHECK(contains(over.err, "head 0.0, query 0: "));
    CHECK_FALSE(over.err.empty());
  }
}

TEST_CASE("render: --softmax takes the scores that a document says it has, and no weights") {
  const std::string scaled = attnviz({"The cat sat", "--show", "scaled", "--json", "-q"}).out;
  const nlohmann::json run = attnviz_json({"The cat sat"});
  const nlohmann::json again = attnviz_json({"render", "-", "--softmax"}, scaled);
  CHECK(again["attention"][0][0][3][0].get<double>() ==
        doctest::Approx(run["attention"][0][0][3][0].get<double>()).epsilon(1e-4));
  // Divided again, as they say that they are scores.
  const nlohmann::json halved = attnviz_json({"render", "-", "--temperature", "2"}, scaled);
  CHECK(halved["drawing"]["range"][1].get<double>() * 2.0 ==
        doctest::Approx(parse_json(scaled)["drawing"]["range"][1].get<double>()));
  CHECK(halved["attention"][0][0][3][0].get<double>() * 2.0 ==
        doctest::Approx(parse_json(scaled)["attention"][0][0][3][0].get<double>()));
  const ProgramResult twice = attnviz({"render", "-", "--softmax"}, run.dump());
  CHECK(twice.exit_code == 2);
  CHECK(mentions(twice.err, {"--softmax"}));
}

TEST_CASE("render: --softmax says what the model does to scores and these have not") {
  const auto scores_of = [](const char* kind) {
    return attnviz(
               {"The cat sat", "--random", "--positions", "alibi", "--show", kind, "--json", "-q"})
        .out;
  };
  const std::string without = "ALiBi,";  // the positions are named, too
  const ProgramResult scaled = attnviz({"render", "-", "--softmax"}, scores_of("scaled"));
  CHECK(contains(scaled.err, without));
  CHECK(contains(scaled.out, without));
  const ProgramResult masked = attnviz({"render", "-", "--softmax"}, scores_of("masked"));
  CHECK(masked.err.empty());
  CHECK_FALSE(contains(masked.out, without));
  const std::string of_sinks = attnviz({"-m", kReference + "experts/gptoss-bf16", "--ids", "1,2,3",
                                        "--show", "masked", "--json"})
                                   .out;
  for (const Words& more : {Words{}, Words{"--mask", "causal"}}) {
    Words words = {"render", "-", "--softmax"};
    words.insert(words.end(), more.begin(), more.end());
    CHECK(mentions(attnviz(words, of_sinks).err, {"softmax", "sinks"}));
  }
}

TEST_CASE("show: what scores cannot be is refused") {
  for (const std::vector<std::string>& more :
       {Words{"--average", "heads"}, Words{"--merge", "words"}, Words{"--drop-sink"},
        Words{"--style", "arcs"}, Words{"--scale", "sqrt"}, Words{"--scale", "row-max"},
        Words{"-o", "-", "--format", "html"}}) {
    CAPTURE(more.back());
    Words words = {"The cat", "--show", "scores"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult refused = attnviz(words);
    CHECK(refused.exit_code == 2);
    CHECK(refused.out.empty());
  }
}

}  // namespace attnviz::test
