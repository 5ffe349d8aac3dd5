// No option is ignored in silence, and no input is overwritten.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {

TEST_CASE(
    "an output that would replace ids, a font, a tokenizer or sums that are read is refused") {
  const TemporaryFolder folder;
  const std::string ids = "[[1,2,3,4,1,2,3,4]]";
  write_file(folder.file("ids.json"), ids);
  const std::string bytes = read_file("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf");
  write_file(folder.file("font.ttf"), bytes);
  write_file(folder.file("tok.json"), "{}");
  write_file(folder.file("lines.txt"), "a b\nc d\n");
  const std::vector<std::vector<std::string>> lines = {
      {"heads", "--probe-ids", "ids.json", "-o", "./ids.json"},
      {"a b", "--random", "--tokenizer", "./tok.json", "-o", "tok.json"},
      {"a b", "--random", "--tokenizer", ".", "-o", "tok.json"},
      {"heads", "--lines", "-f", "lines.txt", "--partial", "sums.json", "-o", "./sums.json"}};
  for (const std::vector<std::string>& line : lines) {
    const ProgramResult result = in_folder(folder, line);
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
  }
  CHECK(read_file(folder.file("ids.json")) == ids);
  CHECK(read_file(folder.file("tok.json")) == "{}");
  CHECK(folder.names() ==
        std::vector<std::string>{"font.ttf", "ids.json", "lines.txt", "tok.json"});
  const ProgramResult font = in_folder(
      folder, {"lesson", "scaling", "--font", "font.ttf", "--format", "svg", "-o", "font.ttf"});
  CHECK(font.exit_code == 2);
  CHECK(read_file(folder.file("font.ttf")) == bytes);
  // The name of a rule is not a file.
  write_file(folder.file("chars"), "");
  CHECK(in_folder(folder, {"a b", "--random", "--tokenizer", "chars", "--format", "svg", "-o",
                           "chars", "-q"})
            .exit_code == 0);
}

TEST_CASE("options that do not apply are refused, not ignored") {
  const std::vector<std::vector<std::string>> lines = {
      {"diff", "-m", "demo", "-m", "demo", "--text", "a b c", "-f", "missing"},
      {"diff", "-m", "demo", "-m", "demo", "--text", "a b c", "--ids", "1,2,3"},
      {"cite", "--print-prompt", "-o", "c.json", "Who?"},
      {"models", "--names", "--json"},
      {"heads", "--chat"},
      {"heads", "--pair", "x"},
      {"heads", "--truncate", "left"},
      {"heads", "--punctuation", "3"},
      {"lesson", "--seed", "5"},
      {"lesson", "--theme", "dark"},
      {"lesson", "--no-footer"},
      {"heads", "a.json", "--system", "x"}};
  for (const std::vector<std::string>& line : lines) {
    const ProgramResult result = attnviz(line);
    CAPTURE(line);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK(contains(result.err, "attnviz: " + std::string(line[1] == "a.json" ? "--system" : "-")));
  }
}

TEST_CASE("--style mask: options for drawing weights change nothing, and a note says so") {
  const std::vector<std::string> mask = {"The cat sat", "--style", "mask"};
  const ProgramResult plain = attnviz(mask);
  std::vector<std::string> scaled = mask;
  scaled.insert(scaled.end(), {"--scale", "log", "--range", "0.1:0.5"});
  const ProgramResult result = attnviz(scaled);
  CHECK(mentions(result.err, {"--scale", "--range", "mask"}));
  CHECK(!contains(plain.err, "--scale"));
}

TEST_CASE("--title= is an empty title, and does not take the next word") {
  const ProgramResult empty = attnviz({"--title=", "The cat sat", "--head", "0.0"});
  CHECK(empty.exit_code == 0);
  CHECK(empty.out == attnviz({"--title", "", "The cat sat", "--head", "0.0"}).out);
  CHECK(contains(empty.out, "cat"));
  CHECK(!contains(empty.out, "The cat sat"));
  // A value that looks like an option is a value, and numbers and files cannot be empty.
  CHECK(contains(attnviz({"--title", "--style=", "x y", "--head", "0.0"}).out, "--style="));
  CHECK(mentions(attnviz({"x y", "--head="}).err, {"--head"}));
}

TEST_CASE("--focus =3 is the token 3, and not the fourth one") {
  CHECK(mentions(attnviz({"3 a b", "--focus", "=3"}).out, {"\"3\""}));
}

TEST_CASE("--ablate: MLPs of all layers are those that exist") {
  const ProgramResult result = attnviz(
      {"-m", kReference + "experts/nemotronh", "--ids", "1,2,3", "--ablate", "*.mlp", "--json"});
  CHECK(result.exit_code == 0);
  CHECK(attnviz({"-m", kReference + "experts/nemotronh", "--ids", "1,2,3", "--ablate", "0.mlp"})
            .exit_code == 2);
}

TEST_CASE("heads: a page of a text whose heads have no induction has its table alone") {
  const TemporaryFolder folder;
  const std::vector<std::string> heads = {"heads", "The cat sat on the mat", "-q", "-o"};
  std::vector<std::string> line = heads;
  line.emplace_back("a.html");
  CHECK(in_folder(folder, line).exit_code == 0);
  CHECK(contains(read_file(folder.file("a.html")), "<title>heads: "));
  CHECK(in_folder(folder, {"heads", "--score", "self", "--title", "", "-q", "-o", "b.html"})
            .exit_code == 0);
  const std::string untitled = read_file(folder.file("b.html"));
  CHECK(contains(untitled, "<title>attnviz</title>"));
  CHECK(!contains(untitled, "<h1>"));
}

TEST_CASE("diff: the command on a page keeps texts that begin with a dash") {
  const TemporaryFolder folder;
  CHECK(in_folder(folder, {"diff", "--head", "2.1", "-q", "-o", "a.html", "--", "-a b", "-a c"})
            .exit_code == 0);
  CHECK(contains(read_file(folder.file("a.html")), "attnviz diff '--text=-a b' '--text=-a c'"));
}

TEST_CASE("render: the note on rows that do not sum to 1 appears once, however often it is saved") {
  const TemporaryFolder folder;
  write_file(folder.file("a.json"),
             R"({"tokens": ["a", "b"], "attention": [[[[1, 0], [0.5, 0.4]]]]})");
  CHECK(in_folder(folder, {"render", "a.json", "-q", "-o", "b.json"}).exit_code == 0);
  const std::string drawn = in_folder(folder, {"render", "b.json"}).out;
  const std::string row = "head 0.0, query 1";
  CHECK(contains(drawn, row));
  CHECK(drawn.find(row) == drawn.rfind(row));
}

TEST_CASE("heads FILE: means, rollouts and weights under a mask get a note") {
  const TemporaryFolder folder;
  write_file(folder.file("a.json"), R"({"tokens": ["a", "b", "c"], "mask": "causal", "attention":
             [[[[1, 0.9, 0.9], [0.5, 0.5, 0.9], [0.2, 0.3, 0.5]]]]})");
  CHECK(mentions(in_folder(folder, {"heads", "a.json"}).out, {"3 weights", "mask"}));
  write_file(folder.file("b.json"), R"({"tokens": ["a", "b", "c"], "mask": "causal", "attention":
             [[[[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]]]]})");
  const auto detected = [&folder](const char* name) {
    const ProgramResult result =
        in_folder(folder, {"heads", name, "--ids", "1,2,1", "--transformer-lens", "--json"});
    return nlohmann::json::parse(result.out)["transformer_lens"].dump();
  };
  CHECK(detected("a.json") == detected("b.json"));
  write_file(folder.file("r.json"), attnviz({"rollout", "The cat sat", "--json"}).out);
  CHECK(mentions(in_folder(folder, {"heads", "r.json"}).out, {"rollout"}));
  write_file(folder.file("m.json"), attnviz({"The cat sat", "--average", "all", "--json"}).out);
  CHECK(contains(in_folder(folder, {"heads", "m.json"}).out, "mean"));
}

TEST_CASE("titles and colours of a map that is not drawn get a note") {
  const auto said = [](const std::vector<std::string>& line) { return attnviz(line).err; };
  CHECK(mentions(said({"heads", "The cat sat", "--title", "a"}), {"--title"}));
  CHECK(!contains(said({"heads", "The cat sat", "--title", "a", "--score", "first"}), "--title"));
  const std::string why = said({"why", "The cat", "--colormap", "magma", "--json", "--top", "3"});
  CHECK(mentions(why, {"--colormap", "--top"}));
  CHECK(mentions(said({"softmax", "1", "2", "--title", "a"}), {"--title", "pict"}));
}

TEST_CASE("heads: layers that see other keys than the one that `uniform` describes get a note") {
  const std::string model = kReference + "experts/gemma4-ple";
  const auto said = [&model](std::vector<std::string> more) {
    more.insert(more.begin(), {"heads", "-m", model});
    std::string text = attnviz(more).out;
    std::ranges::replace(text, '\n', ' ');  // notes are wrapped
    return text;
  };
  CHECK(mentions(said({}), {"layer 0", "5 tokens", "layer 2"}));
  CHECK(!contains(said({"--layer", "0,1"}), "layer 2"));
}

TEST_CASE("heads: layers that see other keys get a note with sums, too, by the longest text") {
  const TemporaryFolder folder;
  const std::string sums = folder.file("p.json");
  const auto score = [&](const std::string& lines, const char* more) {
    return attnviz({"heads", "-m", kReference + "experts/gemma4-ple", "--json-lines", "--partial",
                    sums, more, "-"},
                   lines)
        .exit_code;
  };
  const auto is_noted = [](std::string text) {
    std::ranges::replace(text, '\n', ' ');  // notes are wrapped
    return contains(text, "5 tokens") && contains(text, "layer 2");
  };
  const std::string longest = "{\"ids\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}\n";
  const std::string all = longest + "{\"ids\": [1, 2, 3]}\n";
  REQUIRE(score(longest, "-q") == 0);
  CHECK(is_noted(attnviz({"heads", sums}).out));
  REQUIRE(score(all, "--resume") == 0);
  CHECK(is_noted(attnviz({"heads", sums}).out));
  std::filesystem::remove(sums);
  REQUIRE(score("{\"ids\": [1, 2, 3]}\n", "-q") == 0);
  CHECK(!contains(attnviz({"heads", sums}).out, "layer 2 "));
  // A file that does not say how long its texts are may have longer ones.
  nlohmann::json older = parse_json(read_file(sums));
  CHECK(older["n_longest"] == 3);
  older.erase("n_longest");
  write_file(folder.file("older.json"), older.dump());
  REQUIRE(in_folder(folder, {"merge", "p.json", "older.json", "-o", "m.json"}).exit_code == 0);
  CHECK(!parse_json(read_file(folder.file("m.json"))).contains("n_longest"));
}

TEST_CASE("heads: layers that see other keys get a note with attention in a file, too") {
  const TemporaryFolder folder;
  REQUIRE(in_folder(folder, {"-m", kReference + "experts/gemma4-ple", "--ids", "1,2,3,4,5,6,7,8,9",
                             "-q", "-o", "a.json"})
              .exit_code == 0);
  std::string text = in_folder(folder, {"heads", "a.json"}).out;
  std::ranges::replace(text, '\n', ' ');
  CHECK(mentions(text, {"layer 0", "5 tokens", "layer 2"}));
}

TEST_CASE("heads: how much a query sees decides whether uniform attention passes for a sink") {
  const auto is_noted = [](const char* text, const char* mask) {
    return contains(attnviz({"heads", text, "--mask", mask}).out, "sink");
  };
  const char* const few = "The cat sat on the";
  const char* const many = "The cat sat on the mat because it was tired and it ran to the house";
  CHECK(is_noted(few, "causal"));
  CHECK(!is_noted(few, "none"));
  CHECK(!is_noted(many, "causal"));
  CHECK(is_noted(many, "window:3"));
}

TEST_CASE("heads: the key that is a sink has no decimals") {
  const std::string table =
      attnviz({"heads", "The cat sat", "--columns", "sink_key,first", "--head", "0.0"}).out;
  CHECK(contains(table, "\n0.0             0  "));
}

TEST_CASE("heads: a short probe among long ones is why no name is earned") {
  const TemporaryFolder folder;
  std::string ids = "[[";
  for (int i = 0; i < 100; ++i) {
    ids += std::to_string(i * 37 % 200) + (i < 99 ? "," : "");
  }
  write_file(folder.file("ids.json"), ids + "],[5,6,7]]");
  CHECK(mentions(in_folder(folder, {"heads", "--probe-ids", "ids.json"}).out,
                 {"sequences", "100 tokens"}));
}

TEST_CASE("heads FILE: a score whose square overflows a sum is refused") {
  const TemporaryFolder folder;
  write_file(folder.file("a.json"), R"({"tokens": ["a", "b", "c"], "attention":
             [[[[1, 0, 0], [1e5, 1e5, 0], [1e5, 1e5, 1e5]]]]})");
  CHECK(in_folder(folder, {"heads", "a.json"}).exit_code == 0);
  std::string tokens, rows;
  for (int i = 0; i < 60; ++i) {
    tokens += i > 0 ? ",\"a\"" : "\"a\"";
    rows += i > 0 ? ",[" : "[";
    for (int k = 0; k < 60; ++k) {
      rows += k > 0 ? ",1.6e7" : "1.6e7";
    }
    rows += "]";
  }
  write_file(folder.file("b.json"),
             "{\"tokens\": [" + tokens + "], \"attention\": [[[" + rows + "]]]}");
  const ProgramResult large = in_folder(folder, {"heads", "b.json"});
  CHECK(large.exit_code == 3);
  CHECK(mentions(large.err, {"2^28"}));
}

TEST_CASE("heads of sums: sums that contradict themselves are refused") {
  const TemporaryFolder folder;
  write_file(folder.file("lines.txt"), "a b c d\ne f g h\n");
  REQUIRE(in_folder(folder, {"heads", "--lines", "-f", "lines.txt", "-q", "--band", "2",
                             "--partial", "sums.json"})
              .exit_code == 0);
  const auto refused = [&folder](const char* key, const nlohmann::json& value) {
    nlohmann::ordered_json sums =
        nlohmann::ordered_json::parse(read_file(folder.file("sums.json")));
    sums[key] = value;
    write_file(folder.file("odd.json"), sums.dump() + "\n");
    const ProgramResult result =
        in_folder(folder, {"heads", "odd.json", "--expect", "any self > 0"});
    CHECK(result.exit_code == 3);
    return result.err;
  };
  CHECK(contains(refused("heads", nlohmann::json::array()), "heads"));
  const nlohmann::json first =
      nlohmann::json::parse(read_file(folder.file("sums.json")))["heads"][0];
  CHECK(contains(refused("heads", {first, first}), "heads"));
  CHECK(mentions(refused("n_texts", 1), {"1 text"}));
  // The band is that of the file, even where the default one is asked for.
  CHECK(in_folder(folder, {"heads", "sums.json", "--band", "4"}).exit_code == 2);
  CHECK(in_folder(folder, {"heads", "sums.json", "--band", "2"}).exit_code == 0);
}

TEST_CASE("on a narrow terminal a line to copy is not broken inside its quotes") {
  ProgramRun run;
  run.arguments = {"the cat   sat on the mat and so on", "the dog   sat on the mat"};
  run.tty_columns = 40;
  run.stderr_is_tty = true;
  const ProgramResult result = attnviz(run);
  CHECK(
      contains(terminal_text(result.out + result.err),
               "attnviz diff \"the cat   sat on the mat and so on\" \"the dog   sat on the mat\""));
}

}  // namespace attnviz::test
