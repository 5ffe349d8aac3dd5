// What attnviz heads reports on weights and from papers beside the scores.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <string>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {

using nlohmann::json;

TEST_CASE("heads --copying: each head's number and that of random ones, in JSON and CSV") {
  const json document = attnviz_json({"heads", "--copying"});
  const json expected = read_json(ATTNVIZ_SOURCE_DIR "/tests/reference/heads/copying.json")["demo"];
  REQUIRE(document["heads"].size() == 16);
  for (const json& head : document["heads"]) {
    const double number =
        expected[head["layer"].get<std::size_t>()][head["head"].get<std::size_t>()];
    CHECK(std::abs(head["copying"].get<double>() - number) <= 1e-5);
  }
  CHECK(document["null"]["copying_sd"] == doctest::Approx(1.7 / 32));
  const TemporaryFolder folder;
  REQUIRE(attnviz({"heads", "--copying", "-o", folder.file("heads.csv")}).exit_code == 0);
  const std::string csv = read_file(folder.file("heads.csv"));
  CHECK(csv.substr(0, csv.find('\n')).ends_with(",copying"));
}

TEST_CASE("heads --copying: null, and a note, where a model has no unembedding") {
  const json document = attnviz_json({"heads", "--random", "--copying"});
  CHECK(document["heads"][0]["copying"].is_null());
  CHECK(document["null"]["copying_sd"].is_null());
  CHECK(document["notes"].dump().find("copying") != std::string::npos);
}

TEST_CASE("heads: --copying and --known are refused for attention without its model") {
  const TemporaryFolder folder;
  write_file(folder.file("a.json"), "[[1.0, 0.0], [0.5, 0.5]]");
  for (const auto& option : {std::vector<std::string>{"--copying"}, {"--known", "gpt2"}}) {
    std::vector<std::string> words = {"heads", folder.file("a.json")};
    words.insert(words.end(), option.begin(), option.end());
    const ProgramResult result = attnviz(words);
    CHECK(result.exit_code == 2);
    CHECK(result.err.find(option.front() + ": ") != std::string::npos);
  }
}

TEST_CASE("heads --known: any model but GPT-2 small is refused before anything runs") {
  const ProgramResult result = attnviz({"heads", "--known", "gpt2"});
  CHECK(result.exit_code == 2);
  CHECK(mentions(result.err, {"--known gpt2", "12 layers", "12 heads", "768", "demo", "llama"}));
}

}  // namespace attnviz::test
