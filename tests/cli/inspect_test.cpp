// attnviz inspect, run as a user would: its screen, its numbers, its messages.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attnviz/core/utf8.h"
#include "cli/screens.h"
#include "support/json.h"
#include "support/sanitized.h"

namespace attnviz::test {
namespace {

using nlohmann::json;

// Three tokens with one number each. For "sat" q = [2 0 0 2], and q·k is 2, 4, 2; over √4 it is
// 1, 2, 1, so that the weights are 1 / (e + 2), e / (e + 2), 1 / (e + 2).
const char* const kByHand = R"({"schema": "attnviz.weights/1", "d_model": 3,
  "inputs": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  "layers": [{"heads": [{"W_Q": [[0, 0, 0, 0], [0, 0, 0, 0], [2, 0, 0, 2]],
                         "W_K": [[1, 0, 0, 0], [1, 0, 0, 1], [0, 0, 0, 1]],
                         "W_V": [[1, 0], [0, 2], [4, 0]],
                         "W_O": [[1, 0, 0], [0, 0.5, 0]]}]}]})";

class ByHand {
 public:
  ByHand() { write_file(folder_.file("hand.json"), kByHand); }

  ProgramResult inspect(std::vector<std::string> arguments) const {
    ProgramRun run;
    run.folder = folder_.path();
    run.arguments = {"inspect", "-m", "hand.json", "The cat sat"};
    run.arguments.insert(run.arguments.end(), arguments.begin(), arguments.end());
    return attnviz(run);
  }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
};

void check_close(const json& actual, const json& expected, double tolerance) {
  REQUIRE(actual.is_array() == expected.is_array());
  if (expected.is_array()) {
    REQUIRE(actual.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      check_close(actual[i], expected[i], tolerance);
    }
    return;
  }
  CHECK(std::abs(actual.get<double>() - expected.get<double>()) <= tolerance);
}

json textbook() {
  return read_json(ATTNVIZ_SOURCE_DIR "/tests/reference/textbook.json");
}

json weights_document(const json& inputs, const json& w_q, const json& w_k, const json& w_v) {
  const json head = {{"W_Q", w_q}, {"W_K", w_k}, {"W_V", w_v}};
  return {{"schema", "attnviz.weights/1"},
          {"d_model", inputs[0].size()},
          {"inputs", inputs},
          {"layers", {{{"heads", {head}}}}}};
}

// What inspect prints about the only head of a model.
json inspect_json(const json& weights, std::vector<std::string> arguments) {
  const TemporaryFolder folder;
  write_file(folder.file("w.json"), weights.dump());
  std::string text = "t";
  for (std::size_t i = 1; i < weights["inputs"].size(); ++i) {
    text += " t";
  }
  ProgramRun run;
  run.folder = folder.path();
  run.arguments = {"inspect", "-m", "w.json", text, "--json"};
  run.arguments.insert(run.arguments.end(), arguments.begin(), arguments.end());
  const ProgramResult result = attnviz(run);
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  return parse_json(result.out)["heads"][0];
}

}  // namespace

TEST_CASE("inspect: the screen of a head computed by hand, in 80 columns") {
  const ByHand model;
  const ProgramResult run = model.inspect({"--explain"});
  CHECK(run.exit_code == 0);
  CHECK(run.err == "");
  check_screen("inspect_by_hand_80", run.out);
}

TEST_CASE("inspect: the numbers of textbooks come out in the JSON document") {
  const json examples = textbook();
  for (const char* name : {"book_d3", "numpy42_n3"}) {
    CAPTURE(name);
    const json& example = examples[name];
    const json& inputs = example.contains("X") ? example["X"] : example["x"];
    const json weights = weights_document(inputs, example["W_q"], example["W_k"], example["W_v"]);
    const json& expected = example["f64"];
    for (std::size_t query = 0; query < inputs.size(); ++query) {
      const json whole =
          inspect_json(weights, {"--mask", "none", "--query", std::to_string(query)});
      const std::pair<const char*, const char*> pairs[] = {{"q", "Q"},
                                                           {"k", "K"},
                                                           {"v", "V"},
                                                           {"scores", "scores"},
                                                           {"scaled", "scaled"},
                                                           {"weights", "attn"},
                                                           {"context", "context"}};
      for (const auto& pair : pairs) {
        CAPTURE(pair.first);
        check_close(whole[pair.first], expected[pair.second], 2e-6);
      }
      const json& steps = whole["for_query"];
      check_close(steps["scores"], expected["scores"][query], 2e-6);
      check_close(steps["weights"], expected["attn"][query], 1e-6);
      check_close(steps["context"], expected["context"][query], 1e-6);
      check_close(steps["result"], expected["context"][query], 1e-6);
      const json causal =
          inspect_json(weights, {"--mask", "causal", "--query", std::to_string(query)});
      check_close(causal["for_query"]["weights"], expected["attn_causal"][query], 1e-6);
      check_close(causal["context"], expected["context_causal"], 1e-6);
    }
  }
}

TEST_CASE("inspect: the scores 2.1, 8.7, 3.2 over the root of 128, and unscaled") {
  const json examples = textbook();
  const json& example = examples["softmax_sqrt128"];
  constexpr std::size_t kHeadWidth = 128;
  // q is the unit vector, and each key holds its score.
  json zeros = json::array();
  for (std::size_t i = 0; i < kHeadWidth; ++i) {
    zeros.push_back(0.0);
  }
  json first = zeros;
  first[0] = 1.0;
  json inputs = json::array();
  for (const json& score : example["x"]) {
    inputs.push_back({1.0, score});
  }
  const json weights = weights_document(inputs, {first, zeros}, {zeros, first}, {{1.0}, {0.0}});
  const json steps = inspect_json(weights, {})["for_query"];
  check_close(steps["scores"], example["x"], 1e-6);
  check_close(steps["scaled"], example["scaled"], 1e-6);
  check_close(steps["weights"], example["softmax"], 1e-6);
  const json unscaled = inspect_json(weights, {"--no-scale"})["for_query"];
  check_close(unscaled["scaled"], example["x"], 1e-6);
  check_close(unscaled["weights"], example["softmax_unscaled"], 1e-6);
}

TEST_CASE("inspect: its weights are those that show draws") {
  const std::vector<std::string> common = {
      "the cat saw the dog", "--layers", "2",      "--positions", "rope",
      "--dropout",           "0.3",      "--head", "1.2"};
  std::vector<std::string> inspect = {"inspect"};
  inspect.insert(inspect.end(), common.begin(), common.end());
  const json pattern = attnviz_json(common)["attention"][0][0];
  const json document = attnviz_json(inspect);
  CHECK(document["heads"][0]["weights"] == pattern);
  CHECK(document["heads"][0]["for_query"]["weights"] == pattern[4]);
}

TEST_CASE("inspect: a token that occurs twice gets a note, and another can be chosen") {
  const ProgramResult last = attnviz({"inspect", "--random", "the cat the", "--query", "the"});
  CHECK(mentions(last.err, {"\"the\"", "#1"}));
  CHECK(contains(last.out, "query 2 \"the\""));
  const ProgramResult first = attnviz({"inspect", "--random", "the cat the", "--query", "the#1"});
  CHECK(!contains(first.err, "#1"));
  CHECK(contains(first.out, "query 0 \"the\""));
  CHECK(contains(attnviz({"inspect", "--random", "the cat the", "--query", "-2"}).out,
                 "query 1 \"cat\""));
}

TEST_CASE("inspect: random weights and random embeddings are announced everywhere") {
  const ProgramResult screen = attnviz({"inspect", "--random", "The cat sat"});
  CHECK(mentions(screen.err, {"seed 42"}));
  CHECK(contains(screen.out, "RANDOM WEIGHTS"));
  CHECK(attnviz_json({"inspect", "--random", "The cat sat"})["model"]["random"] == true);
  const TemporaryFolder folder;
  write_file(folder.file("known.json"), R"({"schema": "attnviz.weights/1", "d_model": 1,
    "embeddings": {"known": [1]},
    "layers": [{"heads": [{"W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}]}]})");
  ProgramRun run;
  run.folder = folder.path();
  run.arguments = {"inspect", "-m", "known.json", "known new"};
  CHECK(contains(attnviz(run).out, "RANDOM EMBEDDINGS (seed 0)"));
}

TEST_CASE("inspect: several heads one after another, several steps, files beside the screen") {
  const ByHand model;
  const ProgramResult heads = attnviz(
      {"inspect", "--random", "The cat", "--head", "0.1,0.3", "--step", "softmax", "--step", "x"});
  CHECK(mentions(heads.out, {"\nL0H1  query 1", "\nL0H3  query 1", "\n1  x, ", "\n7  weight"}));
  CHECK(!contains(heads.out, "\n8  v"));
  CHECK(contains(attnviz({"inspect", "--random", "The cat"}).out, "\nL0H0  query 1"));
  const ProgramResult files = model.inspect({"-o", "a.json", "-o", "a.txt", "-q"});
  CHECK(files.exit_code == 0);
  CHECK(files.out == "");
  CHECK(read_json(model.folder().file("a.json"))["heads"][0].contains("scores"));
  CHECK(contains(read_file(model.folder().file("a.txt")), "+ output  1.0597  0.5761  0.0000"));
  CHECK(contains(model.inspect({"--full"}).out, "   weights [3, 3]\n"));
}

TEST_CASE(
    "inspect: without a head it follows the one that the overview shows large, and says why") {
  const char* const text = "The cat sat on the mat because it was tired";
  const std::string drawn = attnviz({text}).out;
  const std::string head = captioned_head(drawn);
  REQUIRE(head.size() == 4);
  const std::string screen = attnviz({"inspect", text}).out;
  CHECK(captioned_head(screen) == head);
  CHECK(contains(screen, "\n" + head + "  query 8 "));  // "it", whose row is the example
  const json document = attnviz_json({"inspect", text});
  CHECK(document["heads"].size() == 1);
  CHECK(document["heads"][0]["layer"] == head[1] - '0');
  CHECK(document["heads"][0]["head"] == head[3] - '0');
  const std::string other = attnviz({"inspect", text, "--query", "sat"}).out;
  CHECK(contains(other, "\n" + head + "  query 3 "));
  CHECK(contains(attnviz({"inspect", text, "--dropout", "0.9"}).out, "\n" + head + "  query 8 "));
  const std::string named = attnviz({"inspect", text, "--head", "0.0"}).out;
  CHECK(contains(named, "\nL0H0  query 10 "));
  CHECK(captioned_head(named).empty());
  const std::string two_words = attnviz({"inspect", "The cat"}).out;
  CHECK(captioned_head(two_words) == "L0H0");
  CHECK(contains(two_words, "\nL0H0  query 2 "));
  const std::string flat = attnviz({"inspect", "a a a a a a a"}).out;
  CHECK_FALSE(captioned_head(flat).empty());
  CHECK(contains(flat, "  query 7 "));
  CHECK(contains(attnviz({"inspect", text, "--layer", "1"}).out, "\nL1H0  query 10 "));
  CHECK(contains(attnviz({"inspect", "--random", text}).out, "\nL0H0  query 9 "));
}

TEST_CASE("inspect: in a model in which chance decides, the first head is followed") {
  const TemporaryFolder folder;
  json weights = parse_json(attnviz({"weights", "--heads", "4", "--d-model", "8"}).out);
  weights.erase("random");  // what is left is random for want of embeddings
  write_file(folder.file("w.json"), weights.dump());
  const ProgramResult run = attnviz(
      {"inspect", "-m", folder.file("w.json"), "The cat sat on the mat because it was tired"});
  CHECK(mentions(run.out, {"RANDOM EMBEDDINGS", "\nL0H0  query 9 "}));
  CHECK(captioned_head(run.out).empty());
}

TEST_CASE("inspect: a head that does not exist is reported before the text is read") {
  ProgramRun run;
  run.arguments = {"inspect", "--head", "9.9"};
  run.input = "";  // no text: reading it would be the error
  const ProgramResult result = attnviz(run);
  CHECK(result.exit_code == 2);
  CHECK(mentions(result.err, {"layers 0"}));
}

TEST_CASE("inspect: a figure's file records what it was made from") {
  const ByHand model;
  const ProgramResult run =
      model.inspect({"-o", "steps.png", "-q", "--temperature", "2", "--step", "q,softmax"});
  CHECK(run.exit_code == 0);
  REQUIRE(model.inspect({"-o", "page.html", "-q", "--title", "Step by step"}).exit_code == 0);
  CHECK(contains(read_file(model.folder().file("page.html")), "<title>Step by step</title>"));
  const std::string png = read_file(model.folder().file("steps.png"));
  CHECK(mentions(png, {"iTXtTitle", "inspect: hand.json", "pHYs"}));
  const std::string keyword = std::string("iTXtattnviz") + std::string(5, '\0');
  const std::size_t begin = png.find(keyword);
  REQUIRE(begin != std::string::npos);
  std::uint32_t length = 0;
  for (std::size_t i = begin - 4; i < begin; ++i) {
    length = length << 8 | static_cast<unsigned char>(png[i]);
  }
  const std::size_t text_length = length + 4 - keyword.size();
  const json facts = parse_json(png.substr(begin + keyword.size(), text_length));
  CHECK(facts["text"] == "The cat sat");
  CHECK(facts["model"]["name"] == "hand.json");
  CHECK(facts["query"] == json{{"index", 2}, {"token", "sat"}});
  CHECK(facts["temperature"] == 2);
  CHECK(facts["heads"] == json::array({json{{"layer", 0}, {"head", 0}}}));
  CHECK(contains(png, R"({"steps": ["query", "softmax"], "explain": false})"));
}

TEST_CASE("inspect: the text cannot control the terminal, and colour comes only when asked for") {
  const ProgramResult plain =
      attnviz({"inspect", "--random", "a\x1b[31mb", "--tokenizer", "chars"});
  CHECK(!contains(plain.out, "\x1b"));
  const ProgramResult colored = attnviz({"inspect", "a b", "--color", "always"});
  CHECK(contains(colored.out, "\x1b["));
  CHECK(
      !contains(attnviz({"inspect", "a b", "--color", "never", "--style", "blocks"}).out, "\x1b"));
  for (const char c : attnviz({"inspect", "猫 é", "--explain", "--full"}).out) {
    const bool is_plain = c == '\n' || (c >= ' ' && c <= '~');
    REQUIRE(is_plain);
  }
}

TEST_CASE("inspect: command lines that make no sense end with 2 and say why") {
  struct Case {
    std::vector<std::string> arguments;
    std::vector<std::string> named;
  };
  const Case cases[] = {{{"--query", "dog"}, {"--query", "\"dog\""}},
                        {{"--query", "3"}, {"--query 3", "2"}},
                        {{"--step", "sofmax"}, {"--step", "\"softmax\""}},
                        {{"--lines"}, {"--lines"}},
                        {{"--colormap", "gray"}, {"--colormap"}},
                        {{"-o", "a.npy"}, {"-o a.npy", ".png", ".svg", ".html", ".json", ".txt"}},
                        {{"--format", "npy", "-o", "a"},
                         {"--format", "png", "svg", "html", "json", "txt", "\"npy\""}},
                        {{"--style", "numbers"}, {"--style", "auto", "ascii", "blocks"}},
                        {{"--head", "0.7"}, {"0.7"}},
                        {{"--heads", "2"}, {"--heads", "--model"}}};
  const ByHand model;
  for (const Case& c : cases) {
    const ProgramResult run = model.inspect(c.arguments);
    CHECK(run.exit_code == 2);
    CHECK(run.out == "");
    CAPTURE(run.err);
    CHECK(mentions(run.err, c.named));
  }
}

TEST_CASE("inspect: a text whose matrices do not fit in memory is refused before it is computed") {
  if (kSanitized) {
    MESSAGE("SKIPPED: a sanitizer takes more memory than the limit of this test");
    return;
  }
  std::string text = "a";
  for (int i = 0; i < 60000; ++i) {
    text += " a";
  }
  ProgramRun run;
  run.arguments = {"inspect", "--random", "-f", "-", "--json", "-q"};
  run.input = text;
  run.memory_limit = std::size_t{1} << 30;
  const ProgramResult result = attnviz(run);
  CHECK(result.exit_code == 2);
  CHECK(mentions(result.err, {"inspecting 1 head", "60001 tokens", "58 GB"}));
}

}  // namespace attnviz::test
