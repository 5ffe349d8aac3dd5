// Every option of `show` has its effect, seen through the program.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {
namespace {

using nlohmann::json;

const char* const kSentence = "The cat sat on the mat";

// The attention [layer][head][query][key] for `text` with these options; without a model among
// them, of random weights.
json attention(std::vector<std::string> options, const char* text = kSentence) {
  if (std::ranges::find(options, "-m") == options.end()) {
    options.emplace_back("--random");
  }
  options.emplace_back(text);
  return attnviz_json(std::move(options))["attention"];
}

// One head with scores q·k = 1, 2 for two tokens "a" and "b": hand-computable softmaxes.
const char* const kTwoWords = R"({
  "schema": "attnviz.weights/1", "d_model": 2, "mask": "none", "residual": false,
  "embeddings": {"a": [1, 0], "b": [0, 1]},
  "layers": [{"heads": [{"W_Q": [[1, 0], [1, 0]], "W_K": [[1, 0], [2, 0]],
                         "W_V": [[1, 0], [0, 1]]}]}]})";

// Weight of the second of two keys with scores 1 and 2 over `divisor`.
double second_of_two(double divisor) {
  return 1.0 / (1.0 + std::exp((1.0 - 2.0) / divisor));
}

class TwoWords {
 public:
  TwoWords() { write_file(name(), kTwoWords); }
  std::string name() const { return folder_.file("two.json"); }
  double weight(std::vector<std::string> options) const {
    options.insert(options.begin(), {"-m", name()});
    return attention(std::move(options), "a b")[0][0][0][1].get<double>();
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("show: --model and its aliases read weights, and nothing is random") {
  const TwoWords two;
  for (const char* option : {"-m", "--model", "-w", "--weights"}) {
    CAPTURE(std::string(option));
    const ProgramResult run = attnviz({option, two.name(), "--json", "a b"});
    CHECK(run.exit_code == 0);
    CHECK(run.err.empty());
    const double weight = parse_json(run.out)["attention"][0][0][0][1].get<double>();
    CHECK(weight == doctest::Approx(second_of_two(std::sqrt(2.0))).epsilon(1e-6));
  }
}

TEST_CASE("show: random weights are asked for, by --random or a size, and every output says so") {
  const ProgramResult asked = attnviz({"--random", kSentence});
  CHECK(contains(asked.out, "RANDOM WEIGHTS"));
  CHECK(contains(asked.err, "random weights (seed 42)"));
  CHECK(attnviz({"--heads", "4", kSentence}).out == asked.out);
  CHECK(attnviz({"--seed", "42", kSentence}).out == asked.out);
  CHECK(attnviz_json({"--random", kSentence})["model"]["name"] == "random");
  // Dropout has a seed, too, whether or not the model has one.
  const json dropped = attnviz_json({"--dropout", "0.1", "--seed", "3", kSentence});
  CHECK(dropped["model"]["name"] == "demo");
  CHECK(dropped["dropout_seed"] == 3);
  CHECK(attnviz({"--random", "-q", kSentence}).err.empty());
}

TEST_CASE("show: tokens without an embedding are reported in every output") {
  const TwoWords two;
  const TemporaryFolder folder;
  const std::string note = "RANDOM EMBEDDINGS (seed 7)";
  const std::vector<std::string> options = {"-m", two.name(), "--seed", "7", "a x y"};
  auto to_file = options;
  to_file.insert(to_file.end(), {"-o", folder.file("a.txt")});
  const ProgramResult run = attnviz(to_file);
  CHECK(contains(run.err, note));
  CHECK(contains(run.out, note));
  CHECK(contains(read_file(folder.file("a.txt")), note));
  const json model = attnviz_json(options)["model"];
  CHECK(model["random_embeddings"] == json{"x", "y"});
  CHECK(model["seed"] == 7);
  CHECK(!attnviz_json({"-m", two.name(), "a b"})["model"].contains("random_embeddings"));
  CHECK(!contains(attnviz({"-m", two.name(), "a b"}).out, "RANDOM"));
}

TEST_CASE("show: a file that says its weights are random gets a note, with how to change that") {
  const TemporaryFolder folder;
  const std::string file = folder.file("w.json");
  REQUIRE(attnviz({"weights", "-q", "-o", file}).exit_code == 0);
  CHECK(mentions(attnviz({"-m", file, kSentence}).err, {"\"random\""}));
  const ProgramResult seeded = attnviz({"-m", file, "--seed", "7", kSentence});
  CHECK(seeded.exit_code == 2);
  CHECK(mentions(seeded.err, {"seed 42"}));
}

TEST_CASE("show: a word that may be a slip is drawn, with a note on what may be meant") {
  const TemporaryFolder folder;
  REQUIRE(attnviz({"weights", "-q", "-o", folder.file("w.json")}).exit_code == 0);
  CHECK(mentions(attnviz({"wieghts"}).err, {"\"wieghts\"", "attnviz weights"}));
  CHECK(mentions(attnviz({"version"}).err, {"attnviz --version"}));
  CHECK(mentions(attnviz({folder.file("w.json")}).err, {"-m", "attnviz -m /"}));
  write_file(folder.file("a.txt"), "The cat");
  CHECK(mentions(attnviz({folder.file("a.txt")}).err, {"-f", "-m"}));
  CHECK(attnviz({"--", "weights"}).err.find("attnviz weights") == std::string::npos);
  CHECK(attnviz({"cat"}).err.empty());
}

TEST_CASE("show: dropout widens the scale to what a kept weight can grow to") {
  CHECK(mentions(attnviz({"--random", "--dropout", "0.5", "--style", "numbers", kSentence}).out,
                 {"values 0"}));
}

TEST_CASE("show: --seed chooses the random weights") {
  CHECK(attention({"--seed", "7"}) == attention({"--seed", "7"}));
  CHECK(attention({"--seed", "7"}) != attention({"--seed", "8"}));
  CHECK(attention({"--seed", "42"}) == attention({}));
  CHECK(attnviz_json({"--seed", "18446744073709551615", kSentence})["model"]["seed"] ==
        18446744073709551615u);
}

TEST_CASE("show: --layers, --heads and --kv-heads shape the random model") {
  const json document =
      attnviz_json({"--layers", "3", "--heads", "6", "--kv-heads", "2", kSentence});
  CHECK(document["layers"] == json({0, 1, 2}));
  CHECK(document["heads"] == json({0, 1, 2, 3, 4, 5}));
  CHECK(document["attention"].size() == 3);
  CHECK(document["attention"][2].size() == 6);
  CHECK(document["attention"] != attention({"--layers", "3", "--heads", "6"}));
}

TEST_CASE("show: --d-model, --d-head and --d-value shape the random model") {
  CHECK(attention({"--d-model", "32"}) != attention({}));
  CHECK(attention({"--d-head", "5"}) != attention({}));
  // Values do not touch the first layer's pattern, but the next layer's input.
  const json narrow = attention({"--layers", "2", "--d-value", "3"});
  const json wide = attention({"--layers", "2"});
  CHECK(narrow[1] != wide[1]);
}

TEST_CASE("show: what the document says about a random model makes the same attention again") {
  const auto with = [](std::vector<std::string> options) {
    options.insert(options.end(), {"--random", "a cat"});
    return attnviz_json(std::move(options));
  };
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--d-model", "32", "--d-head", "4"},
        {"--d-model", "32", "--d-head", "8"},
        {"--layers", "2", "--kv-heads", "2", "--d-value", "3", "--seed", "7"},
        {"--positions", "rope", "--tokenizer", "chars"}}) {
    CAPTURE(options.back());
    const json first = with(options);
    const json& model = first.at("model");
    std::vector<std::string> repeated;
    for (const auto& [option, key] :
         std::vector<std::pair<std::string, std::string>>{{"--layers", "n_layers"},
                                                          {"--heads", "n_heads"},
                                                          {"--kv-heads", "n_kv_heads"},
                                                          {"--d-model", "d_model"},
                                                          {"--d-head", "d_head"},
                                                          {"--d-value", "d_value"},
                                                          {"--seed", "seed"},
                                                          {"--positions", "positions"},
                                                          {"--tokenizer", "tokenizer"}}) {
      if (model.contains(key)) {
        const json& value = model.at(key);
        repeated.insert(repeated.end(),
                        {option, value.is_string() ? value.get<std::string>() : value.dump()});
      }
    }
    CHECK(with(repeated) == first);
  }
}

TEST_CASE("show: --positions makes equal words differ") {
  const json without = attention({"--mask", "none"}, "cat cat cat");
  CHECK(without[0][0][0][1].get<double>() == doctest::Approx(1.0 / 3.0));
  for (const char* positions : {"sinusoidal", "rope", "alibi"}) {
    CAPTURE(std::string(positions));
    const json with = attention({"--mask", "none", "--positions", positions}, "cat cat cat");
    CHECK(std::abs(with[0][0][0][1].get<double>() - 1.0 / 3.0) > 1e-6);
  }
  CHECK(attention({"--positions", "none"}) == attention({}));
}

TEST_CASE("show: --tokenizer cuts into words, characters or bytes") {
  CHECK(attnviz_json({"--random", "né"})["tokens"] == json({"né"}));
  CHECK(attnviz_json({"--random", "--tokenizer", "words", "né"})["tokens"] == json({"né"}));
  CHECK(attnviz_json({"--random", "--tokenizer", "chars", "né"})["tokens"] == json({"n", "é"}));
  CHECK(attnviz_json({"--random", "--tokenizer", "bytes", "né"})["tokens"].size() == 3);
}

TEST_CASE("show: --mask chooses who sees whom, and masked weights are exactly zero") {
  const auto seen = [](const char* mask) {
    std::set<std::pair<std::size_t, std::size_t>> cells;
    const json pattern = attention({"--mask", mask}, "a b c d")[0][0];
    for (std::size_t query = 0; query < 4; ++query) {
      for (std::size_t key = 0; key < 4; ++key) {
        if (pattern[query][key].get<double>() != 0.0) {
          cells.emplace(query, key);
        }
      }
    }
    return cells;
  };
  CHECK(seen("none").size() == 16);
  CHECK(seen("causal").size() == 10);
  CHECK(seen("window:2").size() == 7);
  CHECK(seen("strided:2").size() == 9);
  CHECK(seen("block:2").size() == 6);
  CHECK(attnviz_json({"--mask", "window:2", kSentence})["mask"] == "window:2");
}

TEST_CASE("show: --temperature divides the scores, and --no-scale leaves them alone") {
  const TwoWords two;
  CHECK(two.weight({"--temperature", "4"}) ==
        doctest::Approx(second_of_two(4.0 * std::sqrt(2.0))).epsilon(1e-6));
  CHECK(two.weight({"--no-scale"}) == doctest::Approx(second_of_two(1.0)).epsilon(1e-6));
}

TEST_CASE("show: --dropout drops some weights and makes the others grow, by the seed") {
  const json kept = attention({"--mask", "none"});
  const json dropped = attention({"--mask", "none", "--dropout", "0.5"});
  std::size_t zeros = 0;
  for (std::size_t query = 0; query < 6; ++query) {
    for (std::size_t key = 0; key < 6; ++key) {
      const double weight = dropped[0][0][query][key].get<double>();
      zeros += weight == 0.0 ? 1 : 0;
      const double expected = 2.0 * kept[0][0][query][key].get<double>();
      CHECK((weight == 0.0 || std::abs(weight - expected) < 1e-6));
    }
  }
  CHECK(zeros > 0);
  CHECK(zeros < 36);
  CHECK(dropped == attention({"--mask", "none", "--dropout", "0.5"}));
  const TwoWords two;
  CHECK(two.weight({"--dropout", "0"}) == two.weight({}));
}

TEST_CASE("show: --layer and --head choose heads, which keep their numbers") {
  const std::vector<std::string> shape = {"--layers", "3", "--heads", "4"};
  const json all = attention(shape);
  const auto chosen = [&shape](std::vector<std::string> options) {
    options.insert(options.end(), shape.begin(), shape.end());
    options.emplace_back(kSentence);
    return attnviz_json(std::move(options));
  };
  CHECK(chosen({"--head", "1.2"})["attention"][0][0] == all[1][2]);
  CHECK(chosen({"--head", "L1H2"})["attention"][0][0] == all[1][2]);
  const json column = chosen({"--head", "*.3"});
  CHECK(column["layers"] == json({0, 1, 2}));
  CHECK(column["heads"] == json({3}));
  CHECK(chosen({"--head", "2.*"})["attention"][0] == all[2]);
  CHECK(chosen({"--layer", "1-2"})["layers"] == json({1, 2}));
  const json scattered = chosen({"--head", "0.1,2.3"});
  CHECK(!scattered.contains("attention"));
  CHECK(scattered["selected"][1]["head"] == 3);
  CHECK(scattered["selected"][1]["attention"] == all[2][3]);
}

TEST_CASE("show: --style chooses how to draw") {
  const std::string ascii = attnviz({"--style", "ascii", kSentence}).out;
  CHECK(ascii == attnviz({kSentence}).out);
  CHECK(ascii == attnviz({"--style", "auto", kSentence}).out);
  for (const char c : ascii) {
    REQUIRE(static_cast<unsigned char>(c) < 0x80);
  }
  CHECK(contains(attnviz({"--style", "numbers", "--head", "0.0", "cat"}).out, "1.0"));
  CHECK(attnviz({"--style", "blocks", kSentence}).out != ascii);
}

TEST_CASE("show: --dpi, --cell and --theme change the PNG picture, which records what it shows") {
  const auto png = [](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"The cat sat", "-o", "-", "--format", "png"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return attnviz(arguments).out;
  };
  // IHDR: the width as a big-endian number from byte 16 on.
  const auto width = [](const std::string& bytes) {
    REQUIRE(bytes.size() > 24);
    return static_cast<unsigned char>(bytes[18]) << 8 | static_cast<unsigned char>(bytes[19]);
  };
  const std::string usual = png({});
  CHECK(width(png({"--dpi", "192"})) == 2 * width(usual));
  CHECK(width(png({"--cell", "100"})) > width(usual));
  const std::string dark = png({"--theme", "dark"});
  CHECK(width(dark) == width(usual));
  CHECK(dark != usual);
  CHECK(mentions(usual, {"iTXtSoftware", "\"text\": \"The cat sat\""}));
  CHECK(mentions(
      attnviz({"The cat sat", "--dpi", "1200", "--cell", "1000", "-o", "-", "--format", "png"}).err,
      {"--cell", "--no-footer", "--dpi", "--width"}));
}

TEST_CASE("show: --threads changes no byte") {
  const auto document = [](const char* threads) {
    return attnviz({"--threads", threads, "--layers", "2", "--json", kSentence}).out;
  };
  CHECK(document("1") == document("2"));
  CHECK(document("1") == document("7"));
}

TEST_CASE("show: --simd forces a target, and every target draws the same grid") {
  const ProgramResult best = attnviz({"--random", "-v", kSentence});
  const std::string list = "(of ";
  REQUIRE(contains(best.err, list));
  const std::size_t begin = best.err.find(list) + list.size();
  std::string targets = best.err.substr(begin, best.err.find(')', begin) - begin) + ' ';
  while (!targets.empty()) {
    const std::string target = targets.substr(0, targets.find(' '));
    targets.erase(0, target.size() + 1);
    CAPTURE(target);
    const ProgramResult forced = attnviz({"--random", "-v", "--simd", target, kSentence});
    CHECK(contains(forced.err, "simd " + target + " (of"));
    CHECK(forced.out == best.out);
  }
  CHECK(attnviz({"--random", "--simd", "auto", kSentence}).out == best.out);
}

TEST_CASE("show: --quiet prints nothing, --verbose prints threads and times") {
  CHECK(attnviz({"--random", "--quiet", kSentence}).err.empty());
  CHECK(attnviz({"--random", "-q", kSentence}).out == attnviz({"--random", kSentence}).out);
  const ProgramResult verbose = attnviz({"--random", "--verbose", "--threads", "2", kSentence});
  CHECK(contains(verbose.err, "threads 2"));
  for (const char* phase : {"model", "tokenize", "attention", "render"}) {
    CAPTURE(std::string(phase));
    CHECK(mentions(verbose.err, {std::string(phase)}));
  }
}

TEST_CASE("show: --verbose says what each head does, by the queries that had a choice") {
  const json rows = attention({"--heads", "1"})[0][0];
  const std::size_t n = rows.size();
  REQUIRE(n > 2);
  double entropy = 0.0, distance = 0.0, first = 0.0, previous = 0.0, self = 0.0;
  for (std::size_t query = 1; query < n; ++query) {
    for (std::size_t key = 0; key <= query; ++key) {
      const double weight = rows[query][key].get<double>();
      entropy -= weight * std::log2(weight);
      distance += weight * static_cast<double>(query - key);
    }
    first += rows[query][0].get<double>();
    previous += rows[query][query - 1].get<double>();
    self += rows[query][query].get<double>();
  }
  const double mean = 1.0 / static_cast<double>(n - 1), percent = 100.0 * mean;
  CHECK(mentions(
      attnviz({"--random", "--heads", "1", "-v", kSentence}).err,
      {"head 0.0", fmt::format("{:.2f} bits", entropy * mean),
       fmt::format("{:.1f};", distance * mean), fmt::format("{:.1f} %", first * percent),
       fmt::format("{:.1f} %", previous * percent), fmt::format("{:.1f} %", self * percent)}));
  CHECK(mentions(attnviz({"--random", "--heads", "1", "-v", "cat"}).err, {"head 0.0"}));
}

TEST_CASE("show: the last of two values counts") {
  CHECK(attention({"--heads", "7", "--heads", "2"})[0].size() == 2);
}

}  // namespace attnviz::test
