// attnviz lesson, softmax and meaning: what they print and write, what they refuse, and their
// documents against the published schemas.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "attnviz/core/utf8.h"
#include "cli/attnviz_program.h"
#include "support/sanitized.h"

namespace attnviz::test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

constexpr const char* kLessons[] = {"scaling", "heads", "linear", "positions",
                                    "cost",    "cache", "masks"};
const Words kBanks = {"meaning", "bank",
                      "--in",    "He sat on the bank of the river",
                      "--in",    "She put money in the bank"};

Words with_more(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Run once: some take measurements.
const ProgramResult& lesson(const std::string& name) {
  static std::map<std::string, ProgramResult> known;
  if (!known.contains(name)) {
    known[name] = attnviz({"lesson", name});
  }
  return known[name];
}

void check_valid(const std::string& schema, const std::vector<Words>& commands) {
  const TemporaryFolder folder;
  const auto validate = [&](const Words& names) {
    ProgramRun run;
    run.folder = folder.path();
    run.arguments = {ATTNVIZ_SOURCE_DIR "/tests/model/validate_json.py",
                     ATTNVIZ_SCHEMAS_DIR "/attnviz." + schema + "-1.schema.json"};
    run.arguments.insert(run.arguments.end(), names.begin(), names.end());
    return run_program("/usr/bin/python3", run);
  };
  constexpr int kSkipped = 77;  // the validator's code when it lacks a module
  if (!std::filesystem::exists("/usr/bin/python3") || validate({}).exit_code == kSkipped) {
    MESSAGE("SKIPPED: needs python3 with the module jsonschema (Debian: python3-jsonschema)");
    return;
  }
  Words names;
  for (const Words& command : commands) {
    names.push_back(std::to_string(names.size()) + ".json");
    const ProgramResult result = attnviz(with_more(command, {"--json"}));
    REQUIRE(result.exit_code == 0);
    write_file(folder.file(names.back()), result.out);
  }
  const ProgramResult valid = validate(names);
  CAPTURE(valid.out);
  CAPTURE(valid.err);
  CHECK(valid.exit_code == 0);
  write_file(folder.file("broken.json"), R"({"schema": "attnviz.other/1"})");
  CHECK(validate({"broken.json"}).exit_code == 1);
}

}  // namespace

TEST_CASE("lesson: the list has every lesson") {
  const ProgramResult list = attnviz({"lesson"});
  CHECK(list.exit_code == 0);
  CHECK(list.err.empty());
  for (const char* name : kLessons) {
    CHECK(contains(list.out, std::string("\n") + name + " "));
  }
}

TEST_CASE("lesson: the list is there for programs, too") {
  const json list = attnviz_json({"lesson"});
  CHECK(list["schema"] == "attnviz.lessons/1");
  std::vector<std::string> names;
  for (const json& one : list["lessons"]) {
    names.push_back(one["name"]);
    CHECK(contains(attnviz({"lesson"}).out, one["teaches"].get<std::string>().substr(0, 12)));
  }
  CHECK(names == std::vector<std::string>(std::begin(kLessons), std::end(kLessons)));
}

TEST_CASE("lesson: in JSON, counts are whole numbers, and rows have names") {
  const json heads = attnviz_json({"lesson", "heads"});
  CHECK(heads["rows"][0]["name"] == "one wide head");
  CHECK(!heads["rows"][0].contains("layer"));
  const std::map<std::string, Words> counts = {
      {"scaling", {"d"}},
      {"heads", {"n_heads", "d_head", "parameters"}},
      {"linear", {"n_tokens", "softmax", "linear"}},
      {"cost", {"n_tokens", "naive_bytes", "blocked_bytes"}},
      {"cache", {"with_cache", "without_cache", "bytes_per_token", "context", "bytes_at_context"}},
      {"masks", {"pairs_at_4096"}}};
  for (const auto& count : counts) {
    const std::string& name = count.first;
    const Words& keys = count.second;
    CAPTURE(name);
    const json document = attnviz_json({"lesson", name});
    for (const json& row : document["rows"]) {
      for (const std::string& key : keys) {
        CAPTURE(key);
        CHECK(row[key].is_number_integer());
      }
    }
    for (const json& chart : document.value("charts", json::array())) {
      CHECK(chart["lines"][0]["x"][0].is_number_integer());
    }
  }
  // W_Q and W_K, 128 x 128 each.
  CHECK(heads["rows"][1]["parameters"] == 32768);
  CHECK(attnviz_json({"lesson", "cost"})["rows"][0]["naive_seconds"].is_number_float());
}

TEST_CASE("lesson: one screen of 80 x 40 and 7 bits, with the commands to try next") {
  for (const std::string name : kLessons) {
    CAPTURE(name);
    const ProgramResult& run = lesson(name);
    CHECK(run.exit_code == 0);
    CHECK(run.err.empty());
    CHECK(run.out.starts_with(name + ": "));
    const std::vector<std::string> lines = lines_of(run.out);
    CHECK(lines.size() < 40);
    for (const std::string& line : lines) {
      CHECK(line.size() <= 80);
      for (const char sign : line) {
        REQUIRE((sign >= ' ' && sign <= '~'));
      }
    }
    CHECK(contains(run.out, fmt::format("attnviz lesson {0} -o {0}.png", name)));
  }
}

TEST_CASE("lesson: one screen in colour, too") {
  for (const std::string name : {"scaling", "heads", "linear", "positions", "masks"}) {
    CAPTURE(name);
    const ProgramResult run = attnviz({"lesson", name, "--style", "blocks", "--color", "always"});
    const std::vector<std::string> lines = lines_of(terminal_text(run.out));
    CHECK(lines.size() < 40);
    for (const std::string& line : lines) {
      CHECK(display_width(line) <= 80);
    }
  }
}

TEST_CASE("lesson: the suggested commands work") {
  for (const std::string name : kLessons) {
    const TemporaryFolder folder;
    for (const std::string& line : lines_of(lesson(name).out)) {
      if (!line.starts_with("attnviz ") || contains(line, "attnviz lesson")) {
        continue;
      }
      Words arguments;
      bool is_quoted = false;
      std::string word;
      // The command ends where two blanks do.
      for (const char sign : line.substr(8, line.find("  ") - 8) + " ") {
        if (sign == '"') {
          is_quoted = !is_quoted;
        } else if (sign == ' ' && !is_quoted) {
          arguments.push_back(word);
          word.clear();
        } else {
          word += sign;
        }
      }
      CAPTURE(line);
      CHECK(in_folder(folder, arguments).exit_code == 0);
    }
  }
}

TEST_CASE("lesson: figures in both themes, pages and tables") {
  const TemporaryFolder folder;
  for (const std::string name : {"scaling", "masks"}) {
    const ProgramResult run =
        in_folder(folder, {"lesson", name, "-q", "-o", name + ".png", "-o", name + ".svg", "-o",
                           name + ".html", "-o", name + ".csv", "-o", name + ".json"});
    CHECK(run.exit_code == 0);
    CHECK(read_file(folder.file(name + ".png")).starts_with("\x89PNG"));
    CHECK(contains(read_file(folder.file(name + ".svg")), "<svg"));
    CHECK(contains(read_file(folder.file(name + ".html")), name + ": "));
  }
  CHECK(read_file(folder.file("scaling.csv")).starts_with("d,variance,variance_scaled,"));
  REQUIRE(
      in_folder(folder, {"lesson", "masks", "--theme", "dark", "-q", "-o", "dark.svg"}).exit_code ==
      0);
  CHECK(contains(read_file(folder.file("dark.svg")), "#17191e"));
  const ProgramResult chart = in_folder(folder, {"lesson", "scaling", "-o", "a.png", "--cell", "9",
                                                 "--no-values", "--colormap", "blues"});
  CHECK(mentions(chart.err, {"--colormap", "--cell", "--no-values"}));
}

TEST_CASE("lesson: the seed makes other numbers, and the same ones again") {
  const json first = attnviz_json({"lesson", "scaling"});
  CHECK(first == attnviz_json({"lesson", "scaling", "--seed", "42"}));
  const json other = attnviz_json({"lesson", "scaling", "--seed", "1"});
  CHECK(first["rows"] != other["rows"]);
  CHECK(other["seed"] == 1);
  for (const json& row : other["rows"]) {
    const double d = row["d"];
    CHECK(std::abs(row["variance"].get<double>() / d - 1.0) < 0.2);
  }
}

TEST_CASE("lesson: positions of the command line's own patterns") {
  const json lesson = attnviz_json({"lesson", "positions"});
  const json alone = attnviz_json({"--random", "the cat saw the other cat", "--positions", "rope",
                                   "--mask", "none", "--head", "0.0", "-q"});
  CHECK(lesson["patterns"][2]["title"] == "rope");
  for (std::size_t q = 0; q < 6; ++q) {
    for (std::size_t k = 0; k < 6; ++k) {
      const double a = lesson["patterns"][2]["weights"][q][k];
      CHECK(a == doctest::Approx(alone["attention"][0][0][q][k].get<double>()).epsilon(1e-5));
    }
  }
  CHECK(lesson["patterns"][0]["weights"][0] == lesson["patterns"][0]["weights"][3]);
}

TEST_CASE("lesson: what is refused") {
  CHECK(attnviz({"lesson", "nonsense"}).exit_code == 2);
  CHECK(contains(attnviz({"lesson", "mask"}).err, "masks"));
  CHECK(contains(attnviz({"lesson", "masks", "heads"}).err, "\"heads\""));
  CHECK(contains(attnviz({"lesson", "-o", "a.png"}).err, "NAME"));
  CHECK(attnviz({"lesson", "masks", "-o", "a.npy"}).exit_code == 2);
}

TEST_CASE("softmax: weights of arguments, of standard input, and of negative numbers") {
  const json by_arguments = attnviz_json({"softmax", "2.1", "8.7", "-1.5", "-.5", "-inf"});
  CHECK(by_arguments["scores"][2] == -1.5);
  CHECK(by_arguments["scores"][3] == -0.5);
  CHECK(by_arguments["scores"][4].is_null());
  CHECK(by_arguments["masked"] == json::array({4}));
  CHECK(by_arguments["weights"][4] == 0.0);
  double sum = 0.0;
  for (const double score : {2.1, 8.7, -1.5, -0.5}) {
    sum += std::exp(score);
  }
  CHECK(by_arguments["weights"][0].get<double>() == doctest::Approx(std::exp(2.1) / sum));
  const std::string numbers = "[2.1, 8.7; −1.5\n -.5 -inf]\n";
  CHECK(attnviz_json({"softmax", "-"}, numbers) == by_arguments);
  CHECK(attnviz_json({"softmax"}, numbers) == by_arguments);
  CHECK(attnviz_json({"softmax", "2.1,8.7", "-1.5,-.5,-inf"}) == by_arguments);
  CHECK(parse_json(attnviz({"softmax", "--json", "2.1", "8.7", "--", "-1.5", "-.5", "-inf"}).out) ==
        by_arguments);
}

TEST_CASE("softmax: --divide-by and --temperature divide, wherever they stand") {
  const json divided = attnviz_json({"softmax", "--divide-by", "11.31", "2.1", "8.7", "3.2"});
  CHECK(divided["divide_by"] == 11.31);
  CHECK(divided["divided"][1].get<double>() == doctest::Approx(8.7 / 11.31));
  CHECK(attnviz_json({"softmax", "2.1", "8.7", "3.2", "--divide-by=11.31"}) == divided);
  const json warm = attnviz_json({"softmax", "1", "-2", "--temperature", "2"});
  CHECK(warm["divided"] == json::array({0.5, -1.0}));
}

TEST_CASE("softmax: prints the table, and rows for spreadsheets") {
  const std::string out = attnviz({"softmax", "1000", "1001"}).out;
  // Each finite, exp(88.5) = 2.72e38, and their sum above 3.40e38.
  const std::string sum = attnviz({"softmax", "88.5", "88.5"}).out;
  CHECK(mentions(sum, {"2.72e+38       0", "3.4e38"}));
  CHECK(contains(out, "inf     nan"));
  CHECK(attnviz({"softmax", "0", "0", "-o", "-", "--format", "csv"}).out ==
        "score,divided,exponential,weight\n0,0,1,0.5\n0,0,1,0.5\n");
  const TemporaryFolder folder;
  CHECK(in_folder(folder, {"softmax", "1", "2", "-q", "-o", "a.html", "-o", "a.svg", "-o", "a.png",
                           "--title", "One row"})
            .exit_code == 0);
  CHECK(contains(read_file(folder.file("a.svg")), ">73.1%<"));  // e / (1 + e)
  CHECK(contains(read_file(folder.file("a.svg")), ">One row<"));
  CHECK(read_file(folder.file("a.png")).starts_with("\x89PNG"));
  CHECK(contains(read_file(folder.file("a.html")), "softmax"));
}

TEST_CASE("softmax: what is refused, with the reason") {
  const std::vector<std::pair<Words, Words>> cases = {
      {{"softmax", "a"}, {"\"a\""}},
      {{"softmax", "1", "nan"}, {"2", "nan"}},
      {{"softmax", "inf"}, {"1", "inf"}},
      {{"softmax", "1", "--divide-by", "0"}, {"--divide-by", "\"0\""}},
      {{"softmax", "1", "--divide-by", "-1"}, {"--divide-by", "\"-1\""}},
      {{"softmax", "1", "--temperature", "nan"}, {"--temperature", "\"nan\""}},
      {{"softmax", "1", "-x"}, {"-x"}},
      {{"softmax", "1", "-o", "a.npy"}, {"-o", ".png"}}};
  for (const auto& [arguments, named] : cases) {
    const ProgramResult run = attnviz(arguments);
    CAPTURE(run.err);
    CHECK(run.exit_code == 2);
    CHECK(mentions(run.err, named));
    CHECK(run.out.empty());
  }
  CHECK(attnviz({"softmax"}, "").exit_code == 2);
  ProgramRun run;
  run.arguments = {"softmax"};
  run.tty_columns = 80;
  run.stdin_is_tty = true;
  CHECK(attnviz(run).exit_code == 2);
}

TEST_CASE("meaning: cosines of the vectors that it prints, checked by a loop") {
  const json document = attnviz_json(kBanks);
  REQUIRE(document["pairs"].size() == 1);
  const json& cosines = document["pairs"][0]["cosines"];
  REQUIRE(cosines.size() == 5);  // the embedding, and four layers
  CHECK(document["points"].size() == 5);
  const auto vectors_of = [&](std::size_t i) {
    return document["contexts"][i]["vectors"].get<std::vector<std::vector<double>>>();
  };
  const auto a = vectors_of(0), b = vectors_of(1);
  for (std::size_t point = 0; point < 5; ++point) {
    double product = 0.0, of_a = 0.0, of_b = 0.0;
    for (std::size_t i = 0; i < a[point].size(); ++i) {
      product += a[point][i] * b[point][i];
      of_a += a[point][i] * a[point][i];
      of_b += b[point][i] * b[point][i];
    }
    CHECK(cosines[point].get<double>() ==
          doctest::Approx(product / std::sqrt(of_a * of_b)).epsilon(1e-6));
  }
  CHECK(cosines[0].get<double>() == doctest::Approx(1.0));
  CHECK(cosines[3].get<double>() < 0.999);
}

TEST_CASE("meaning: what follows the word changes nothing in a causal model") {
  const json document =
      attnviz_json({"meaning", "cat", "--in", "The cat sat", "--in", "The cat ran to the river"});
  for (const json& cosine : document["pairs"][0]["cosines"]) {
    CHECK(cosine.get<double>() == doctest::Approx(1.0).epsilon(1e-6));
  }
}

TEST_CASE("meaning: several texts, words of several tokens, and other models") {
  const json three = attnviz_json(
      {"meaning", "cat", "--in", "The cat sat", "--in", "A cat", "--in", "One black cat"});
  CHECK(three["pairs"].size() == 3);
  const json pieces = attnviz_json(
      {"meaning", "zyxwvut", "--in", "The zyxwvut sat", "--in", "A red zyxwvut", "-q"});
  CHECK(pieces["contexts"][0]["word_tokens"].size() > 1);
  const json random = attnviz_json({"meaning", "cat", "--in", "The cat sat", "--in", "A cat",
                                    "--random", "--layers", "2", "-q"});
  CHECK(random["model"]["random"] == true);
  const TemporaryFolder folder;
  CHECK(
      in_folder(folder, with_more(kBanks, {"-q", "-o", "bank.png", "-o", "bank.html"})).exit_code ==
      0);
  CHECK(read_file(folder.file("bank.png")).starts_with("\x89PNG"));
  CHECK(attnviz(with_more(kBanks, {"-o", "-", "--format", "csv"}))
            .out.starts_with("point,a,b,cosine\n"));
}

TEST_CASE("meaning: what is refused says which text it is") {
  const std::vector<std::pair<Words, Words>> cases = {
      {{"meaning", "bank", "--in", "He sat on the bank", "--in", "A cat"}, {"--in 2"}},
      {{"meaning", "bank", "--in", "A cat", "--in", "the bank"}, {"--in 1"}},
      {{"meaning", "bank", "--in", "the bank", "--in", " "}, {"--in 2"}},
      {{"meaning", "bank", "--in", "the bank"}, {"--in"}},
      {{"meaning", "bank"}, {"--in"}},
      {{"meaning", "--in", "a", "--in", "b"}, {"meaning", "WORD"}},
      {{"meaning", "", "--in", "a", "--in", "b"}, {"meaning", "WORD"}},
      {{"meaning", "a", "b", "--in", "a", "--in", "b"}, {"WORD", "\"b\""}}};
  for (const auto& [arguments, named] : cases) {
    const ProgramResult run = attnviz(arguments);
    CAPTURE(run.err);
    CHECK(run.exit_code == 2);
    CHECK(mentions(run.err, named));
    CHECK(run.out.empty());
  }
  Words many = {"meaning", "a"};
  for (int i = 0; i < 257; ++i) {
    many.insert(many.end(), {"--in", "a"});
  }
  CHECK(mentions(attnviz(many).err, {"--in", "256", "257"}));
}

TEST_CASE("documents of lesson, softmax and meaning are valid by their schemas") {
  std::vector<Words> lessons;
  for (const char* name : kLessons) {
    lessons.push_back({"lesson", name});
  }
  check_valid("lesson", lessons);
  check_valid("lessons", {{"lesson"}});
  check_valid("softmax", {{"softmax", "1", "2"},
                          {"softmax", "1000", "-inf", "--divide-by", "3"},
                          {"softmax", "-1000", "--temperature", "2"},
                          {"softmax", "-inf", "-inf"}});
  check_valid(
      "meaning",
      {kBanks,
       {"meaning", "the cat", "--in", "the cat sat", "--in", "saw the cat", "--random", "-q"},
       {"meaning", "cat", "--in", "cat", "--in", "cat", "--in", "cat", "--in", "a cat"}});
}

TEST_CASE("lesson: in 7 bits no curve has the sign of a product, and theory is seen over it") {
  const std::string& out = lesson("scaling").out;
  CHECK(contains(out, " # q * k\n"));
  CHECK(!contains(out, "**"));
  const std::vector<std::string> lines = lines_of(out);
  CHECK(std::ranges::any_of(lines, [](const std::string& line) { return contains(line, "##."); }));
}

TEST_CASE("lesson: times and sizes have the same units in table and chart") {
  const ProgramResult run = attnviz({"lesson", "cost", "--style", "blocks"});
  CHECK(!contains(run.out, " us "));
  CHECK(contains(run.out, "kB ┤"));
  const std::string& in_ascii = lesson("cost").out;
  CHECK(!contains(in_ascii, "µ"));
  if (!kSanitized) {  // else a machine that is slow takes milliseconds for all
    CHECK(contains(run.out, " µs"));
    CHECK(contains(in_ascii, " us "));
  }
  CHECK(contains(lesson("cache").out, "3.3 P"));
}

TEST_CASE("meaning: the output for each text stays together, after the model") {
  const std::string out =
      attnviz({"meaning", "cat", "--in", "A cat saw a cat", "--in", "My cat is a cat"}).out;
  const std::size_t model = out.find("\ndemo: ");
  const std::size_t first = out.find("\ntext 1: "), second = out.find("\ntext 2: ");
  REQUIRE(first != std::string::npos);
  REQUIRE(second != std::string::npos);
  CHECK(model < first);
  CHECK(out.substr(first + 1, second - first).find("\ndemo") == std::string::npos);
}

}  // namespace attnviz::test
