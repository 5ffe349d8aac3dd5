// --ablate and --hide, through the program: numbers, words, documents and refusals.
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
using Words = std::vector<std::string>;

const std::string kSentence = "Mary and John went to the store. John gave a book to";

Words with(Words arguments, const Words& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Two layers of two heads with W_O for each, and some text for it.
json edited_weights() {
  const ProgramResult made =
      attnviz({"weights", "--layers", "2", "--heads", "2", "--d-model", "6", "--seed", "3"});
  json weights = parse_json(made.out);
  json rows = json::array();
  for (std::size_t row = 0; row < 3; ++row) {
    rows.push_back({0.5, -0.25, 0.125 * static_cast<double>(row), 1.0, -0.5, 0.75});
  }
  for (json& layer : weights["layers"]) {
    layer.erase("W_O");
    layer.erase("b_O");
    for (json& head : layer["heads"]) {
      head["W_O"] = rows;
    }
  }
  return weights;
}

void check_alike(const json& actual, const json& expected, double tolerance = 1e-6) {
  REQUIRE(actual.is_array() == expected.is_array());
  if (!expected.is_array()) {
    CHECK(std::abs(actual.get<double>() - expected.get<double>()) <= tolerance);
    return;
  }
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    check_alike(actual[i], expected[i], tolerance);
  }
}

std::string error_of(const Words& arguments) {
  const ProgramResult result = attnviz(arguments);
  CHECK(result.exit_code == 2);
  return result.err;
}

std::string target_of(const json& document) {
  return document["predictions"]["top"][0]["token"];
}

}  // namespace

TEST_CASE("--ablate: a head whose W_O is 0 is a head that is taken out") {
  const TemporaryFolder folder;
  json weights = edited_weights();
  write_file(folder.file("whole.json"), weights.dump());
  json& output = weights["layers"][0]["heads"][1]["W_O"];
  for (json& row : output) {
    row = json::array({0, 0, 0, 0, 0, 0});
  }
  write_file(folder.file("edited.json"), weights.dump());
  const Words text = {"the cat saw the dog", "-m"};
  const json edited = attnviz_json(with(text, {folder.file("edited.json")}));
  const json whole = attnviz_json(with(text, {folder.file("whole.json")}));
  for (const std::string head : {"0.1", "L0H1", "0.1-1=zero"}) {
    const json ablated = attnviz_json(with(text, {folder.file("whole.json"), "--ablate", head}));
    check_alike(ablated["attention"], edited["attention"]);
    CHECK(ablated["attention"][1] != whole["attention"][1]);
    CHECK(ablated["interventions"] ==
          parse_json(R"([{"ablate": "head", "layer": 0, "head": 1, "by": "zero"}])"));
  }
  CHECK(!whole.contains("interventions"));
}

TEST_CASE("--hide: hiding edges beyond a window is the window, and rows sum to 1 again") {
  const Words text = {kSentence};
  const json window = attnviz_json(with(text, {"--mask", "window:2"}));
  Words edges = text;
  for (std::size_t query = 2; query < 14; ++query) {
    edges.emplace_back("--hide");
    edges.push_back(std::to_string(query) + ">0-" + std::to_string(query - 2));
  }
  check_alike(attnviz_json(edges)["attention"], window["attention"], 2e-6);
  const json one = attnviz_json(with(text, {"--hide", "store>John#1,\"went to\"@2.1"}));
  const json& row = one["attention"][2][1][7];
  double sum = 0.0;
  for (const json& weight : row) {
    sum += weight.get<double>();
  }
  CHECK(sum == doctest::Approx(1.0).epsilon(1e-5));
  for (const std::size_t key : {3U, 4U, 5U}) {
    CHECK(row[key] == 0.0);
    CHECK(one["attention"][2][0][7][key] != 0.0);
  }
  CHECK(one["interventions"] == parse_json(R"([{"hide": {"queries": [7, 8], "keys": [3, 6],
                                               "layers": [2, 3], "heads": [1, 2]}}])"));
}

TEST_CASE("--hide: rows and most probable tokens are those of float64 numbers") {
  const std::string folder = kSharedReference + "why/";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("SKIPPED: no ../shared/reference/why");
    return;
  }
  const json reference = read_json(folder + "demo.json");
  const auto range = [](const json& list) {
    return list.is_null() ? std::string("*")
                          : std::to_string(list.front().get<std::size_t>()) + "-" +
                                std::to_string(list.back().get<std::size_t>());
  };
  for (const json& one : reference["knock_out"]) {
    CAPTURE(one["what"].get<std::string>());
    Words arguments = {reference["text"].get<std::string>(), "--predict", "1"};
    for (const json& edge : one["edges"]) {
      arguments.emplace_back("--hide");
      arguments.push_back(edge[0].dump() + ">" + edge[1].dump() + "@" + range(one["layers"]) + "." +
                          range(one["heads"]));
    }
    const json document = attnviz_json(arguments);
    const json& show = one["show"];
    const json& row = document["attention"][show[0].get<std::size_t>()][show[1].get<std::size_t>()]
                              [show[2].get<std::size_t>()];
    check_alike(row, one["row"], 1e-4);
    CHECK(document["predictions"]["top"][0]["id"] == one["top"]);
  }
  const json& ablation = reference["ablation"]["zero"];
  for (const json& set : ablation["sets"]) {
    Words arguments = {reference["text"].get<std::string>(), "--predict", "1"};
    for (const json& head : set["heads"]) {
      arguments.insert(arguments.end(), {"--ablate", head.get<std::string>()});
    }
    CHECK(attnviz_json(arguments)["predictions"]["top"][0]["id"] == set["top"]);
  }
}

TEST_CASE(
    "--ablate and --hide: legends say what was left out, in words, and so does what is drawn "
    "again") {
  const TemporaryFolder folder;
  const Words changes = {"--ablate", "2.1,L0,3.0=mean", "--ablate",
                         "L1.mlp",   "--hide",          "John#1-9>0"};
  CHECK(mentions(error_of(with({kSentence}, changes)), {"\"John#1-9\""}));
  const Words asked = {"--ablate",  "2.1,3.0=mean", "--ablate",
                       "L0,L1.mlp", "--hide",       "8-9>John,0@1-2"};
  const ProgramResult drawn = attnviz(
      with({kSentence, "--head", "2.0", "-o", folder.file("a.json"), "-o", folder.file("a.svg")},
           asked));
  CHECK(drawn.exit_code == 0);
  CHECK(mentions(drawn.err, {"\"John\""}));
  const Words lines = {"layer 0",    "layer 1",        "heads 2.1, 3.0",
                       "tokens 8-9", "tokens 0, 3, 9", "layers 1-2"};
  const ProgramResult again = attnviz({"render", folder.file("a.json")});
  for (const std::string& line : lines) {
    CAPTURE(line);
    CHECK(contains(drawn.out, line));
    CHECK(contains(again.out, line));
    CHECK(contains(read_file(folder.file("a.svg")), line));
  }
  CHECK(attnviz_json({"render", folder.file("a.json")})["interventions"] ==
        read_json(folder.file("a.json"))["interventions"]);
  const ProgramResult scores = attnviz(with({"heads", kSentence}, asked));
  const ProgramResult steps = attnviz(with({"inspect", kSentence}, asked));
  for (const std::string& line : lines) {
    CHECK(contains(scores.out, line));
    CHECK(contains(steps.out, line));
  }
  CHECK(attnviz(with({kSentence, "-q"}, asked)).err.empty());
}

TEST_CASE("--hide: a word of several tokens is all of these, with or without quotes") {
  for (const std::string word : {"\xF0\x9F\x98\x80", "\"\xF0\x9F\x98\x80\""}) {
    const ProgramResult result =
        attnviz({"The \xF0\x9F\x98\x80 cat", "--hide", word + ">The", "--json"});
    CHECK(mentions(result.err, {"tokens 3"}));
    CHECK(parse_json(result.out)["interventions"] ==
          parse_json(R"([{"hide": {"queries": [3, 7], "keys": [1, 2]}}])"));
  }
  // Edges of one word are not those of its merged drawing: indices are of the model's tokens.
  const json merged = attnviz_json({"--random", "ab cd", "--tokenizer", "chars", "--merge", "words",
                                    "--head", "0.0", "--hide", "4>0,1"});
  CHECK(merged["interventions"][0]["hide"]["queries"] == json({4, 5}));
  CHECK(merged["tokens"].size() == 3);
}

TEST_CASE("--hide: a drawing shows hidden edges as a mask shows them") {
  const auto mask = [](const Words& more) {
    return attnviz(with({"The cat sat", "--no-bos", "--style", "mask", "--head", "0.0"}, more)).out;
  };
  CHECK(mask({"--hide", "*>The"}) != mask({}));
  CHECK(contains(mask({"--hide", "sat>cat@1"}), "mask causal"));  // of another layer
  const std::string bars =
      attnviz({"The cat sat", "--focus", "sat", "--head", "0.0", "--hide", "sat>cat"}).out;
  CHECK(contains(bars, "= masked"));
}

TEST_CASE("inspect: steps of an ablated head say what replaces its context, and have it") {
  const Words arguments = {"inspect", "The cat sat", "--head", "1.2"};
  const json base = attnviz_json(arguments);
  const json& tokens = base["heads"][0]["context"];
  const json zero = attnviz_json(with(arguments, {"--ablate", "1.2"}))["heads"][0];
  const json mean = attnviz_json(with(arguments, {"--ablate", "1.2=mean"}))["heads"][0];
  CHECK(zero["weights"] == base["heads"][0]["weights"]);
  for (std::size_t i = 0; i < tokens[0].size(); ++i) {
    double sum = 0.0;
    for (const json& row : tokens) {
      sum += row[i].get<double>() / static_cast<double>(tokens.size());
    }
    CHECK(zero["for_query"]["context"][i] == 0.0);
    CHECK(zero["context"][0][i] == 0.0);
    CHECK(mean["for_query"]["context"][i].get<double>() == doctest::Approx(sum).epsilon(1e-5));
    CHECK(mean["context"][2][i] == mean["for_query"]["context"][i]);
  }
  // What is added to x is what is left: the other heads' part is unchanged.
  check_alike(zero["for_query"]["other_heads"], base["heads"][0]["for_query"]["other_heads"], 1e-4);
  const std::string steps = attnviz(with(arguments, {"--ablate", "1.2", "--explain"})).out;
  CHECK(mentions(steps, {"= 0", "ablated"}));
  const std::string mlp = attnviz(with(arguments, {"--ablate", "L1.mlp"})).out;
  CHECK(mentions(mlp, {"MLP"}));
}

TEST_CASE("inspect: hidden keys are masked and distinguished from those that the mask hides") {
  const json hidden =
      attnviz_json({"inspect", "The cat sat", "--head", "1.2", "--hide", "sat>cat@1"})["heads"][0];
  CHECK(hidden["for_query"]["masked"][2].is_null());
  CHECK(hidden["for_query"]["weights"][2] == 0.0);
  CHECK(hidden["masked"][3][2].is_null());
  CHECK(!hidden["masked"][2][2].is_null());
  const std::string steps =
      attnviz({"inspect", "The cat sat", "--head", "1.2", "--hide", "sat>cat", "--explain"}).out;
  CHECK(mentions(steps, {"key 2"}));
  // For a query that no longer sees anything all is 0.
  const json none =
      attnviz_json({"inspect", "The cat sat", "--head", "1.2", "--hide", "sat>*@1"})["heads"][0];
  CHECK(none["for_query"]["sum"] == 0.0);
  for (const json& number : none["for_query"]["context"]) {
    CHECK(number == 0.0);
  }
}

TEST_CASE(
    "--predict and --generate: a changed model says something else, or the same without "
    "what does not matter") {
  const Words asked = {kSentence, "--predict", "1", "--generate", "3"};
  const json base = attnviz_json(asked);
  const json changed = attnviz_json(with(asked, {"--ablate", "*.*"}));
  CHECK(target_of(base) != target_of(changed));
  CHECK(base["generated"]["text"] != changed["generated"]["text"]);
  // What is written sees as little as what was given: the drawn run is the one that wrote.
  const json hidden = attnviz_json(with(asked, {"--hide", "*>Mary"}));
  for (std::size_t query = 0; query < hidden["tokens"].size(); ++query) {
    CHECK(hidden["attention"][3][0][query][1] == 0.0);
  }
}

TEST_CASE("--side-by-side ablated: the model as it is beside what is left of it") {
  const Words text = {"The cat sat", "--head", "3.0"};
  const ProgramResult one =
      attnviz(with(text, {"--side-by-side", "ablated", "--ablate", "2.1=mean"}));
  CHECK(mentions(one.out, {"L3H0", "2.1", "head 2.1"}));
  CHECK(!contains(one.out, "(masks)"));
  const ProgramResult several = attnviz(
      with(text, {"--side-by-side", "unchanged,ablated", "--ablate", "L2", "--hide", "sat>cat"}));
  CHECK(mentions(terminal_text(several.out), {"L3H0"}));
  const ProgramResult lines =
      attnviz(with(text, {"--side-by-side", "ablated", "--hide", "sat>cat", "--json"}));
  const auto documents = lines_of(lines.out);
  REQUIRE(documents.size() == 2);
  CHECK(!parse_json(documents[0]).contains("interventions"));
  CHECK(parse_json(documents[0])["attention"] == attnviz_json(text)["attention"]);
  CHECK(parse_json(documents[1])["attention"] ==
        attnviz_json(with(text, {"--hide", "sat>cat"}))["attention"]);
  CHECK(mentions(error_of(with(text, {"--side-by-side", "ablated"})),
                 {"--side-by-side", "--ablate", "--hide"}));
  CHECK(contains(error_of(with(text, {"--side-by-side", "ablated,none", "--ablate", "2.1"})),
                 "ablated"));
}

TEST_CASE("--lines: words mean each text's own tokens, and sums keep what was asked") {
  const TemporaryFolder folder;
  const std::string lines = "The cat sat\nA dog and the cat\n";
  const ProgramResult shown =
      attnviz({"--lines", "--json", "--no-bos", "--hide", "-1>cat", "--head", "0.0"}, lines);
  const auto documents = lines_of(shown.out);
  REQUIRE(documents.size() == 2);
  CHECK(parse_json(documents[0])["interventions"][0]["hide"]["keys"] == json({1, 2}));
  CHECK(parse_json(documents[1])["interventions"][0]["hide"]["queries"] == json({4, 5}));
  const auto score = [&](const std::string& file, const Words& more) {
    return attnviz(with({"heads", "--lines", "--json", "--partial", folder.file(file)}, more),
                   lines);
  };
  const Words changes = {"--hide", "*>cat@1", "--ablate", "2.1"};
  const json scores = parse_json(score("a.json", changes).out);
  CHECK(scores["interventions"] == parse_json(R"([
      {"ablate": "head", "layer": 2, "head": 1, "by": "zero"}, {"hide": "*>cat@1"}])"));
  CHECK(read_json(folder.file("a.json"))["interventions"] == scores["interventions"]);
  CHECK(score("b.json", {}).exit_code == 0);
  CHECK(score("c.json", changes).exit_code == 0);
  const ProgramResult other = attnviz({"merge", folder.file("a.json"), folder.file("b.json")});
  CHECK(other.exit_code == 2);
  CHECK(mentions(other.err, {"none", "head 2.1", "@1"}));
  CHECK(attnviz(
            {"merge", folder.file("a.json"), folder.file("c.json"), "-o", folder.file("all.json")})
            .exit_code == 0);
  CHECK(mentions(attnviz({"heads", folder.file("all.json")}).out, {"@1"}));
  CHECK(contains(score("a.json", {"--resume"}).err, "a.json"));
}

TEST_CASE("heads: a model is scored without what is taken out; names are earned by what is left") {
  // Induction needs the heads before it that look at previous tokens.
  const auto largest = [](const Words& more) {
    double found = 0.0;
    const json document = attnviz_json(with({"heads"}, more));
    for (const json& head : document["heads"]) {
      found = std::max(found, head["induction"].get<double>());
    }
    return found;
  };
  CHECK(largest({"--ablate", "L0,L1"}) < 0.5 * largest({}));
  // --names are those of the unchanged model.
  const Words named = {"The cat", "--names"};
  CHECK(attnviz_json(with(named, {"--ablate", "L0"}))["model"]["named_heads"] ==
        attnviz_json(named)["model"]["named_heads"]);
}

TEST_CASE("--hide: queries that see nothing give no NaN, in scores, words and pictures") {
  const TemporaryFolder folder;
  const Words blind = {kSentence, "--hide", "3-9>*"};
  const json scores = attnviz_json(with({"heads"}, blind));
  CHECK(scores.dump().find("nan") == std::string::npos);
  for (const json& head : scores["heads"]) {
    CHECK(head["entropy_bits"].is_number());
    CHECK(head["weighted"]["entropy_bits"].is_number());
  }
  for (const Words& more : std::vector<Words>{{"--merge", "words"},
                                              {"--average", "all"},
                                              {"--drop-sink"},
                                              {"--scale", "row-max"},
                                              {"--focus", "5"},
                                              {"-v"}}) {
    const ProgramResult result = attnviz(with(with(blind, more), {"-o", folder.file("a.png")}));
    CHECK(result.exit_code == 0);
    CHECK(!contains(result.out, "nan"));
    CHECK(!contains(result.err, "nan"));
  }
}

TEST_CASE("--ablate and --hide: what does not exist is refused by name, before slow work") {
  const auto refused = [](const std::string& option, const std::string& word) {
    return error_of({"The cat sat", option, word});
  };
  CHECK(mentions(refused("--ablate", "4.0"), {"--ablate 4.0", "layer 4"}));
  CHECK(mentions(refused("--ablate", "0.7"), {"--ablate 0.7", "head 7"}));
  CHECK(contains(refused("--ablate", "L9.mlp"), "--ablate L9.mlp: layer 9"));
  CHECK(mentions(refused("--ablate", "2"), {"2.1", "L2", "MLP", "L2.mlp", "\"2\""}));
  CHECK(contains(refused("--ablate", "2.1,"), "\"\""));
  CHECK(mentions(refused("--ablate", "2.1=median"), {"\"median\""}));
  CHECK(mentions(refused("--ablate", "2.1=zero,2.1=mean"), {"2.1"}));
  CHECK(mentions(refused("--ablate", "0-99999999999.0"), {"--ablate 0-99999999999.0", " 3"}));
  CHECK(mentions(error_of({"--random", "The cat", "--ablate", "L0.mlp"}), {"MLPs"}));
  // The largest number and the one before it do not mean "all that there are".
  for (const std::string last : {"18446744073709551614", "18446744073709551615"}) {
    CHECK(mentions(refused("--ablate", "L0-" + last), {"2.1"}));
    CHECK(mentions(refused("--ablate", "0-" + last + ".0"), {"2.1"}));
    CHECK(mentions(refused("--ablate", "L0-" + last + ".mlp"), {"2.1"}));
    CHECK(mentions(refused("--hide", "sat>0-" + last), {"3-5"}));
    CHECK(mentions(refused("--hide", "sat>" + last + "-"), {"3-5"}));
    CHECK(mentions(refused("--hide", "sat>cat@0-" + last), {"--hide", "@", last}));
  }
  CHECK(mentions(refused("--ablate", "L0-18446744073709551613"), {"--ablate L0-", " 3"}));
  CHECK(mentions(refused("--hide", "cat"), {"QUERIES>KEYS"}));
  CHECK(mentions(refused("--hide", "a>b>c"), {"QUERIES>KEYS"}));
  CHECK(contains(refused("--hide", ">cat"), ">cat"));
  CHECK(contains(refused("--hide", "sat>\"cat"), "--hide"));
  CHECK(mentions(refused("--hide", "5-3>cat"), {"3-5", "3-"}));
  CHECK(mentions(refused("--hide", "sat>cat@x"), {"--hide", "@0-2", "\"sat>cat@x\""}));
  CHECK(mentions(refused("--hide", "sat>cat@9"), {"layer 9"}));
  CHECK(mentions(refused("--hide", "sat>cat@1.9"), {"head 9"}));
  CHECK(mentions(refused("--hide", "sat>kat"), {"\"kat\"", "\"cat\""}));
  CHECK(mentions(refused("--hide", "sat>\"the dog\""), {"\"the dog\""}));
  CHECK(mentions(refused("--hide", "0-9>0"), {"--hide", "9", "3"}));
  CHECK(mentions(refused("--hide", "9>0"), {"--hide", "9", "3"}));
  CHECK(mentions(error_of({"render", "x.json", "--ablate", "2.1"}), {"--ablate"}));
}

}  // namespace attnviz::test
