// attnviz diff: two texts or two models, head by head.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {
namespace {

using nlohmann::json;

const std::string kQ4 = kSharedReference + "gguf/models/stories260k-q4_0.gguf";
const std::vector<std::string> kTwoTexts = {"diff", "The cat sat on it", "The dog sat on it"};

std::vector<std::string> with(std::vector<std::string> arguments,
                              const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (const std::string& line : lines_of(text)) {
    widest = std::max(widest, line.size());
  }
  return widest;
}

}  // namespace

TEST_CASE("diff: a table that says what each number is, in 80 columns") {
  const ProgramResult run = attnviz(kTwoTexts);
  CHECK(run.exit_code == 0);
  CHECK(mentions(run.out, {"demo", "16 heads",
                           "A  <|bos|> The [cat] sat on it\nB  <|bos|> The [dog] sat on it\n",
                           "6 tokens", "  2 [cat] > 2 [cat]  ", "\n.. 4 ", "Jensen-Shannon"}));
  CHECK(widest_line(run.out) <= 80);
  CHECK(lines_of(attnviz(with(kTwoTexts, {"--top", "0"})).out).size() ==
        lines_of(run.out).size() + 3);
}

TEST_CASE("diff: the change is that of the two runs, and the same with A and B exchanged") {
  const json document = attnviz_json(kTwoTexts);
  const json back = attnviz_json({"diff", "--text", "The dog sat on it", "The cat sat on it"});
  CHECK(document["of"] == "texts");
  CHECK(document["heads"].size() == 16);
  const json a = attnviz_json({"The cat sat on it"})["attention"];
  const json b = attnviz_json({"The dog sat on it"})["attention"];
  for (std::size_t i = 0; i < 16; ++i) {
    const json& head = document["heads"][i];
    const std::size_t layer = head["layer"];
    const std::size_t index = head["head"];
    const std::size_t query = head["at"][0];
    const std::size_t key = head["at"][1];
    CHECK(head["weights"] == json{a[layer][index][query][key], b[layer][index][query][key]});
    CHECK(std::abs(head["largest_change"].get<double>() -
                   std::abs(head["weights"][0].get<double>() - head["weights"][1].get<double>())) <
          1e-6);
    CHECK(head["js_bits"] == doctest::Approx(back["heads"][i]["js_bits"].get<double>()));
    CHECK(head["largest_change"] == back["heads"][i]["largest_change"]);
  }
}

TEST_CASE("diff: the same text, or the same model, twice is exactly 0 everywhere") {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"diff", "The cat sat", "The cat sat"},
        {"diff", "-m", "demo", "-m", "demo", "The cat sat"}}) {
    const json document = attnviz_json(arguments);
    for (const json& head : document["heads"]) {
      CHECK(head["js_bits"] == 0.0);
      CHECK(head["js_bits_max"] == 0.0);
      CHECK(head["largest_change"] == 0.0);
    }
    CHECK(mentions(attnviz(arguments).out, {"16 heads"}));
    if (document["of"] == "models") {
      CHECK(document["kl_bits"] == 0.0);
      CHECK(document["kl_bits_mean"] == 0.0);
      CHECK(document["first_departure"].is_null());
      CHECK(document["departures"].size() == 5);
      for (const json& tensor : document["tensors"]) {
        CHECK(tensor["relative_error"] == 0.0);
      }
    }
  }
}

TEST_CASE("diff: texts of different lengths are compared at the tokens that both have") {
  const std::vector<std::string> arguments = {"diff", "The cat sat", "The big cat sat"};
  const json document = attnviz_json(arguments);
  CHECK(document["alignment"] ==
        json{{"by_position", false}, {"a", {0, 1, 2, 3}}, {"b", {0, 1, 3, 4}}});
  const ProgramResult run = attnviz(arguments);
  CHECK(mentions(run.out, {"B  <|bos|> The [big] cat sat\n", "4 tokens"}));
  const json change = attnviz_json(with(arguments, {"--head", "2.1"}));
  CHECK(change["tokens"].size() == 4);
  // Rows sum to 1 in both, so their changes sum to 0.
  for (const json& row : change["attention"][0][0]) {
    double sum = 0.0;
    for (const json& weight : row) {
      sum += weight.get<double>();
    }
    CHECK(std::abs(sum) < 1e-6);
  }
}

TEST_CASE("diff --head: the change of heads in every format, which render draws alike") {
  const TemporaryFolder folder;
  const std::vector<std::string> arguments = with(kTwoTexts, {"--head", "2.1,2.3"});
  REQUIRE(in_folder(folder, with(arguments, {"-q", "-o", "d.json", "-o", "d.npy", "-o", "d.png",
                                             "-o", "d.svg"}))
              .exit_code == 0);
  const ProgramResult drawn = in_folder(folder, arguments);
  CHECK(mentions(drawn.out,
                 {"B - A", "demo", "\nA: \"The cat sat on it\"\nB: \"The dog sat on it\"\n"}));
  const ProgramResult rendered = in_folder(folder, {"render", "d.json"});
  CHECK(rendered.out == drawn.out);
  CHECK(rendered.err == "");
  const json document = read_json(folder.file("d.json"));
  CHECK(document["drawing"]["colormap"] == "blue-red");
  CHECK(document["drawing"]["range"][0].get<double>() ==
        -document["drawing"]["range"][1].get<double>());
  const json a = attnviz_json({"The cat sat on it", "--head", "2.1"})["attention"][0][0];
  const json b = attnviz_json({"The dog sat on it", "--head", "2.1"})["attention"][0][0];
  CHECK(document["attention"][0][0][3][2].get<double>() ==
        doctest::Approx(b[3][2].get<double>() - a[3][2].get<double>()).epsilon(1e-4));
}

TEST_CASE("diff: a map of all heads, and rows of comma-separated values") {
  const TemporaryFolder folder;
  REQUIRE(in_folder(folder, with(kTwoTexts, {"-q", "-o", "m.png", "-o", "m.svg", "-o", "d.csv"}))
              .exit_code == 0);
  const std::vector<std::string> rows = lines_of(read_file(folder.file("d.csv")));
  CHECK(rows.size() == 17);
  CHECK(rows.front() ==
        "layer,head,js_bits,js_bits_max,js_max_query,largest_change,query,key,weight_a,weight_b");
  const std::string map = attnviz(with(kTwoTexts, {"--map"})).out;
  CHECK(mentions(map, {"mean JS (0.001 bits)", "row = layer", "= head"}));
}

TEST_CASE("diff: two models: weights, streams and predictions") {
  if (!std::filesystem::exists(kQ4)) {
    MESSAGE("SKIPPED: no ../shared/reference/gguf");
    return;
  }
  const std::vector<std::string> arguments = {"diff", "-m", kStories,
                                              "-m",   kQ4,  "Lily gave the ball to Tom."};
  const json document = attnviz_json(arguments);
  CHECK(document["a"]["given"] == kStories);
  CHECK(document["b"]["given"] == kQ4);
  CHECK(document["kl_bits"].get<double>() > 0.0);
  CHECK(document["kl_bits"] == document["kl_bits_by_token"].back());
  CHECK(document["departures"].size() == 6);
  CHECK(document["first_departure"]["relative"].get<double>() > 0.05);
  const json none = attnviz_json(with(arguments, {"--threshold", "0.99"}));
  CHECK(none["first_departure"].is_null());
  CHECK(none["threshold"] == 0.99);
  const ProgramResult run = attnviz(arguments);
  CHECK(mentions(run.out,
                 {"KL(A || B)", "residual streams", "|x_A - x_B| / |x_A|", "|A - B| / |A|"}));
  CHECK(widest_line(run.out) <= std::max<std::size_t>(80, kQ4.size() + 3));
}

TEST_CASE("diff: what cannot be compared is null, and options without effect get a note") {
  const json document = attnviz_json(with(kTwoTexts, {"--mask", "window:1"}));
  for (const json& head : document["heads"]) {  // a query sees one key
    CHECK(head["js_bits"].is_null());
    CHECK(head["js_bits_max"].is_null());
    CHECK(head["js_max_query"].is_null());
  }
  for (const auto& [option, value] : {std::pair("--range", "0:1"),
                                      {"--scale", "log"},
                                      {"--threshold", "0.1"},
                                      {"--pool", "mean"}}) {
    const ProgramResult run = attnviz(with(kTwoTexts, {option, value}));
    CHECK(run.exit_code == 0);
    CHECK(mentions(run.err, {std::string(option)}));
  }
  CHECK(mentions(attnviz(with(kTwoTexts, {"--map", "--top", "3"})).err, {"--top"}));
  CHECK(contains(attnviz(with(kTwoTexts, {"--map", "--range", "0:0.02"})).out, "mean JS (bits)"));
}

TEST_CASE("diff --head: masks of two models, and edges hidden in each text") {
  const TemporaryFolder folder;
  REQUIRE(in_folder(folder, {"weights", "--seed", "3", "-o", "a.json", "-q"}).exit_code == 0);
  json other = read_json(folder.file("a.json"));
  other["mask"] = "none";
  write_file(folder.file("b.json"), other.dump());
  const ProgramResult drawn = in_folder(
      folder, {"diff", "-m", "a.json", "-m", "b.json", "one two three", "--head", "0.0", "--json"});
  const json document = json::parse(drawn.out);
  CHECK(document["mask"] == "none");
  CHECK(mentions(document["notes"].dump(), {"mask", "causal", "none"}));
  const ProgramResult table =
      in_folder(folder, {"diff", "-m", "a.json", "-m", "b.json", "one two three"});
  CHECK(mentions(table.out, {"mask", "causal", "none"}));
  CHECK(contains(attnviz(with(kTwoTexts, {"--mask", "none"})).out, "\nmask none\n"));
  const json words =
      attnviz_json({"diff", "The cat sat", "A big cat sat", "--hide", "sat>cat", "--head", "2.1"});
  CHECK(words["interventions"] == json::parse(R"([{"hide": "sat>cat"}])"));
  const json same =
      attnviz_json({"diff", "The cat sat", "The dog sat", "--hide", "3>1", "--head", "2.1"});
  CHECK(same["interventions"][0]["hide"]["keys"] == json{1, 2});
}

TEST_CASE("diff: tensors with long names stay distinct, and settings are named") {
  const std::string tiny = kSharedReference + "why/models/gpt2-tiny";
  if (!std::filesystem::exists(tiny)) {
    MESSAGE("SKIPPED: no ../shared/reference/why");
    return;
  }
  const ProgramResult run =
      attnviz({"diff", "-m", tiny, "-m", kModels + "gpt2-tied", "--ids", "1,2"});
  CHECK(run.exit_code == 2);  // their shapes differ
  CHECK(mentions(run.err, {"gpt2-tiny", "gpt2-tied"}));
  const TemporaryFolder folder;
  std::filesystem::copy(tiny, folder.file("b"));
  json config = read_json(folder.file("b/config.json"));
  config["layer_norm_epsilon"] = 0.25;
  write_file(folder.file("b/config.json"), config.dump());
  const std::vector<std::string> two = {"diff", "-m", tiny, "-m", folder.file("b"), "The cat sat"};
  CHECK(mentions(attnviz(two).out, {"epsilon"}));
  CHECK(attnviz_json(two)["settings"] == json{"norms' kind or epsilon"});
}

TEST_CASE("diff: one of each, three, both, and models that cannot be compared are refused") {
  const auto refused = [](std::vector<std::string> arguments,
                          const std::vector<std::string>& named) {
    arguments.insert(arguments.begin(), "diff");
    const ProgramResult run = attnviz(arguments);
    CAPTURE(run.err);
    CHECK(run.exit_code == 2);
    CHECK(mentions(run.err, named));
    CHECK(run.out == "");
  };
  refused({}, {"attnviz diff --text \"The cat sat\""});
  refused({"a b"}, {"--text", "-m"});
  refused({"-m", "demo", "a b"}, {"--text", "-m"});
  refused({"a b", "c d", "--text", "e f"}, {"3", "0"});
  refused({"a b", "c d", "e f"}, {"diff", "TEXT", "\"e f\""});
  refused({"a b", "-m", "demo", "-m", "demo", "-m", "demo"}, {"1", "3"});
  refused({"a b", "c d", "-m", "demo", "-m", "demo"}, {"diff"});
  refused({"--text", "a b", "--text", "c d", "--ids", "1,2"}, {"--ids"});
  refused({"a b", " "}, {"TEXT"});
  refused({"a b", "c d", "--head", "0.0", "--map"}, {"--map", "--head"});
  refused({"a b", "c d", "--head", "0.0", "--scale", "log"}, {"--scale"});
  refused({"--random", "a", "b"}, {"1 token"});
  refused({"-m", kModels + "gpt2-tied", "-m", "demo", "--ids", "1,2"}, {"gpt2-tied", "demo"});
}

}  // namespace attnviz::test
