// attnviz heads: scores, names, files and expectations.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

std::string joined(const json& ids) {
  std::string words;
  for (const json& id : ids) {
    words += (words.empty() ? "" : ",") + std::to_string(id.get<unsigned>());
  }
  return words;
}

void check_scores(const json& found, const json& expected) {
  for (const auto& item : expected.items()) {
    const std::string& score = item.key();
    const json& table = item.value();
    for (const json& head : found) {
      CAPTURE(score);
      const json& at =
          table.is_null()
              ? table
              : table[head["layer"].get<std::size_t>()][head["head"].get<std::size_t>()];
      REQUIRE(head[score].is_null() == at.is_null());
      if (!at.is_null()) {
        const auto number = at.get<double>();
        CHECK(std::abs(head[score].get<double>() - number) <=
              3e-5 * std::max(1.0, std::abs(number)));
      }
    }
  }
}

}  // namespace

TEST_CASE("heads: ids are scored as in the reference, with TransformerLens' numbers beside") {
  const json reference = read_json(kReference + "heads/demo.json");
  for (const std::size_t index : {0U, 2U, 6U}) {
    const json& one = reference["cases"][index];
    const json document =
        attnviz_json({"heads", "--ids", joined(one["ids"]), "--transformer-lens"});
    CHECK(document["schema"] == "attnviz.heads/1");
    CHECK(document["source"]["token_ids"] == one["ids"]);
    json expected = one["scores"];
    expected.erase("retrieval");  // this was not declared a probe
    check_scores(document["heads"], expected);
    CHECK(document["sink_rate"].get<double>() == doctest::Approx(one["sink_rate"].get<double>()));
    if (one.contains("transformer_lens")) {
      const json& lens = one["transformer_lens"]["induction_head"]["mul exclude_bos"][2][1];
      CHECK(document["transformer_lens"][9]["induction_head"]["mul exclude_bos"].get<double>() ==
            doctest::Approx(lens.get<double>()).epsilon(1e-4));
    }
  }
}

TEST_CASE("heads: probes given by ids earn the names of the reference, by their mean") {
  const json reference = read_json(kReference + "heads/demo.json");
  json probes = json::array();
  for (const json& one : reference["cases"]) {
    const std::string name = one["name"];
    if (name.starts_with("probe") && name.ends_with("with BOS")) {
      probes.push_back(one["ids"]);
    }
  }
  const TemporaryFolder folder;
  write_file(folder.file("probes.json"), probes.dump());
  const json document = attnviz_json({"heads", "--probe-ids", folder.file("probes.json")});
  const json all_names = read_json(kReference + "heads/names.json");
  for (const json& model : all_names["models"]) {
    if (model["model"] != "demo") {
      continue;
    }
    for (const json& head : document["heads"]) {
      const std::string name =
          std::to_string(head["layer"].get<int>()) + "." + std::to_string(head["head"].get<int>());
      const json earned = model["named"].value(name, json::object());
      CAPTURE(name);
      REQUIRE(head["names"].size() == earned.size());
      for (const json& one : head["names"]) {
        CHECK(earned.contains(one.get<std::string>()));
      }
    }
  }
}

TEST_CASE("heads: without a text probes are made, the same from the same seed") {
  const json document = attnviz_json({"heads", "--probe-count", "2"});
  const json& source = document["source"];
  CHECK(source["kind"] == "probe");
  CHECK(source["seed"] == 42);
  REQUIRE(source["ids"].size() == 2);
  CHECK(source["ids"][0].size() == 101);
  CHECK(source["ids"][0][0] == 0);  // BOS
  CHECK(source["ids"][0][1] == source["ids"][0][26]);
  CHECK(source["ids"][0] != source["ids"][1]);
  CHECK(document["null"]["previous"].get<double>() == doctest::Approx(0.04197278508));
  CHECK(document["null"]["induction"].get<double>() == doctest::Approx(0.030721188));
  CHECK(attnviz_json({"heads", "--probe-count", "2"}) == document);
  const json other = attnviz_json({"heads", "--probe-count", "2", "--probe-seed", "1"});
  CHECK(other["model"] == document["model"]);
  CHECK(other["source"]["seed"] == 1);
  CHECK(other["source"]["ids"] != source["ids"]);
  CHECK(attnviz_json({"heads", "--no-bos", "--probe-length", "5"})["source"]["ids"][0].size() ==
        20);
}

TEST_CASE("heads: no head is named where chance, or uniform attention, would earn names") {
  const char* const warning = "100 tokens";
  const std::string brief = attnviz({"heads", "--probe-length", "8"}).out;
  CHECK(contains(brief, warning));
  CHECK(!contains(brief, "previous-token: looks"));
  CHECK(!contains(attnviz({"heads", "--no-bos"}).out, warning));
  // A head with uniform attention puts a third of it on the first of three visible keys.
  const std::vector<std::string> windowed = {"heads", "--layers", "2", "--mask", "window:3"};
  const json seen = attnviz_json(windowed);
  for (const json& head : seen["heads"]) {
    CHECK(head["names"].empty());
  }
  const std::string note = seen["notes"].back();
  CHECK(
      mentions(note, {"previous-token", "current-token", "sink", "duplicate-token", "induction"}));
  const std::string screen = attnviz(windowed).out;
  CHECK(mentions(screen, {"previous-token", "current-token", "sink"}));
  CHECK(contains(attnviz({"heads", "-m", kModels + "llama-gqa-bias", "--probe-length", "8"}).out,
                 warning));
  for (std::vector<std::string> refused : {std::vector<std::string>{"heads", "--mask", "window:3"},
                                           {"heads", "--probe-length", "8"},
                                           {"heads", "The cat sat on the mat"}}) {
    refused.insert(refused.end(), {"-q", "--expect", "any sink"});
    const ProgramResult result = attnviz(refused);
    CHECK(result.exit_code == 2);
    CHECK(mentions(result.err, {"--expect", "sink"}));
  }
}

TEST_CASE(
    "heads: names appear in pictures, sentences and -v, for other models where they are measured") {
  const ProgramResult shown = attnviz({"Harry Potter is a wizard. Harry", "-v"});
  CHECK(mentions(shown.out, {"random tokens", "induction head", "current-token L0H1"}));
  CHECK(mentions(shown.err, {"previous-token"}));
  CHECK(mentions(attnviz({"inspect", "Harry Potter is a wizard. Harry"}).out,
                 {"random tokens", "induction head"}));
  const Words random = {"The cat sat", "--layers", "2", "--heads", "3"};
  CHECK(!contains(attnviz(random).out, "on random tokens"));
  Words named = random;
  named.emplace_back("--names");
  CHECK(mentions(attnviz(named).out, {"on random tokens"}));
  const ProgramResult brief =
      attnviz({"-m", kModels + "llama-gqa-bias", "--ids", "1,2", "--names"});
  CHECK(brief.exit_code == 2);
  CHECK(mentions(brief.err, {"--names", "100 tokens", "64"}));
  const json document = attnviz_json({"The cat sat", "--names", "--head", "2.1"});
  CHECK(document["model"]["named_heads"][4] ==
        json{{"layer", 2}, {"head", 1}, {"name", "induction"}});
  const TemporaryFolder folder;
  const std::string file = folder.file("a.json");
  attnviz({"Harry Potter is a wizard. Harry", "-q", "-o", file});
  CHECK(attnviz({"render", file, "-q"}).out == attnviz({"Harry Potter is a wizard. Harry"}).out);
}

TEST_CASE("heads: input that is piped without - gets a note and is left unread, not waited for") {
  const Words quick = {"heads", "--probe-count", "1", "--json"};
  const ProgramResult alone = attnviz(quick);
  CHECK(alone.err.empty());
  const ProgramResult piped = attnviz(quick, "The cat sat\n");
  const std::string note = piped.err;
  CHECK(lines_of(note).size() == 1);
  CHECK(mentions(note, {"attnviz heads -"}));
  CHECK(piped.out == alone.out);
  CHECK(attnviz_json({"heads", "-"}, "The cat sat\n")["source"]["text"] == "The cat sat");

  const TemporaryFolder folder;
  write_file(folder.file("list"), "one\ntwo\n");
  const auto shell = [&](const std::string& script) {
    ProgramRun run;
    run.folder = folder.path();
    run.environment = {{"PROGRAM", ATTNVIZ_PROGRAM}};
    run.arguments = {"-c", "heads() { \"$PROGRAM\" heads --probe-count 1 >/dev/null; }; " + script};
    return run_program("/bin/sh", run);
  };
  const ProgramResult loop = shell("while read -r word; do echo $word; heads; done <list");
  CHECK(loop.out == "one\ntwo\n");
  CHECK(loop.err == note);  // with the first, before the second was read
  CHECK(shell("heads </dev/null").err.empty());
  CHECK(shell("heads <&-").err.empty());
  CHECK(shell("mkfifo open; heads <>open").err.empty());  // open for ever, and empty
  CHECK(shell("echo text | \"$PROGRAM\" heads -q >/dev/null").err.empty());
}

TEST_CASE("heads: random weights are scored, too, and earn no name") {
  const json document = attnviz_json({"heads", "--random", "--layers", "3", "--heads", "6"});
  REQUIRE(document["heads"].size() == 18);
  for (const json& head : document["heads"]) {
    CHECK(head["names"].empty());
  }
}

TEST_CASE("heads: the first screen names the induction heads and says how sure that is") {
  const ProgramResult result = attnviz({"heads"});
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(mentions(result.out, {"induction", "0.3", "0.031", "random 0.079", "\n  2.1  0.9",
                              "duplicate-token", "0.2 with 0.1"}));
  for (const std::string& line : lines_of(result.out)) {
    CHECK(line.size() <= 80);
  }
}

TEST_CASE("heads: a table by one score, its first rows, only what is large, other columns") {
  const ProgramResult result =
      attnviz({"heads", "--sort", "entropy_bits", "--top", "2", "--columns",
               "entropy_bits,confidence", "--min", "confidence=0.2", "The cat sat on the mat"});
  const std::vector<std::string> lines = lines_of(result.out);
  std::size_t heading = 0;
  while (heading < lines.size() && !lines[heading].starts_with("head ")) {
    ++heading;
  }
  REQUIRE(heading + 4 < lines.size());
  CHECK(contains(lines[heading], "entropy_bits  confidence"));
}

TEST_CASE("heads: options for a table get a note where there is none") {
  const ProgramResult map =
      attnviz({"heads", "--score", "induction", "--sort", "previous", "--min", "induction=0.5"});
  CHECK(mentions(map.err, {"--sort", "--min"}));
  CHECK(attnviz({"heads", "--columns", "induction, previous"}).err.empty());
}

TEST_CASE("heads: a score as a map of layers and heads, on the screen and as a picture") {
  const TemporaryFolder folder;
  const std::string picture = folder.file("map.png");
  const ProgramResult result = attnviz({"heads", "--score", "previous", "-o", picture});
  REQUIRE(result.exit_code == 0);
  CHECK(mentions(result.out, {"row = layer", "= head"}));
  CHECK(read_file(picture).starts_with("\x89PNG"));
  CHECK(mentions(attnviz({"heads", "--score", "induction", "The cat"}).err,
                 {"--score induction", "demo", "16 heads", "3 tokens"}));
}

TEST_CASE("heads: as comma-separated values, one row per head") {
  const ProgramResult result = attnviz({"heads", "-o", "-", "--format", "csv"});
  const std::vector<std::string> lines = lines_of(result.out);
  REQUIRE(lines.size() == 17);
  CHECK(lines[0].starts_with("layer,head,names,previous,previous_sem,self,self_sem,"));
  CHECK(contains(lines[0], ",weighted_previous,"));
  CHECK(lines[10].starts_with("2,1,induction,0.0"));
}

TEST_CASE("heads: patterns of any tool are scored") {
  const TemporaryFolder folder;
  const std::string text = "The cat saw the dog and the cat ran";
  REQUIRE(attnviz({text, "-q", "-o", folder.file("a.json")}).exit_code == 0);
  const json run = attnviz_json({"heads", text});
  const json file = attnviz_json({"heads", folder.file("a.json")});
  CHECK(file["source"]["kind"] == "file");
  for (std::size_t i = 0; i < run["heads"].size(); ++i) {
    for (const char* score : {"previous", "duplicate", "entropy_bits", "sink_alpha"}) {
      CAPTURE(score);
      CHECK(file["heads"][i][score] == run["heads"][i][score]);
    }
  }
  // [query][key], causal, without tokens: repetitions are known from ids alone.
  write_file(folder.file("b.json"), "[[1,0,0],[0.5,0.5,0],[0,1,0]]");
  const json given = attnviz_json({"heads", folder.file("b.json")})["heads"][0];
  CHECK(given["previous"] == 0.75);
  CHECK(given["duplicate"].is_null());
  const json with_ids = attnviz_json({"heads", folder.file("b.json"), "--ids", "7,8,7"});
  CHECK(with_ids["heads"][0]["duplicate"] == 0.0);
  CHECK(with_ids["heads"][0]["induction"] == 1.0);
  CHECK(attnviz({"heads", folder.file("b.json"), "--ids", "7,8"}).exit_code == 2);
  for (const Words& idle : std::vector<Words>{{"--copying"},
                                              {"--dropout", "0.5"},
                                              {"--lines"},
                                              {"--heads", "3"},
                                              {"--probe-seed", "3"}}) {
    CAPTURE(idle.front());
    Words arguments = {"heads", folder.file("b.json")};
    arguments.insert(arguments.end(), idle.begin(), idle.end());
    CHECK(attnviz(arguments).exit_code == 2);
  }
  CHECK(mentions(attnviz({"heads", folder.file("b.json"), "--transformer-lens"}).err, {"--ids"}));
  write_file(folder.file("d.json"), "[[9,1],[2,3]]");
  CHECK(mentions(attnviz({"heads", folder.file("d.json")}).out, {"2 of 2"}));
  write_file(folder.file("c.json"), "[[1,0],[2.5,-1.5]]");
  const ProgramResult refused = attnviz({"heads", folder.file("c.json")});
  CHECK(refused.exit_code == 3);
  CHECK(mentions(refused.err, {"head 0.0", "query 1", "key 1", "2^24"}));
  CHECK(attnviz({"heads", folder.file("none.json")}).exit_code == 1);
}

TEST_CASE("heads: means over the lines of a text, with their standard errors") {
  const json document = attnviz_json({"heads", "--lines"}, "The cat sat on it\nA dog ran to her\n");
  CHECK(document["source"] == json{{"kind", "corpus"}, {"n_texts", 2}});
  const json first = attnviz_json({"heads", "The cat sat on it"})["heads"][0]["previous"];
  const json second = attnviz_json({"heads", "A dog ran to her"})["heads"][0]["previous"];
  const json& mean = document["heads"][0]["previous"];
  CHECK(mean["n"] == 2);
  CHECK(mean["mean"].get<double>() ==
        doctest::Approx((first.get<double>() + second.get<double>()) / 2));
  CHECK(mean["sem"].get<double>() ==
        doctest::Approx(std::abs(first.get<double>() - second.get<double>()) / 2));
}

TEST_CASE("heads: a failed expectation ends with 5, with the output in place") {
  const TemporaryFolder folder;
  const std::string file = folder.file("h.json");
  const ProgramResult holds =
      attnviz({"heads", "-q", "-o", file, "--expect", "2.1 induction>0.8", "--expect",
               "any previous>=0.9", "--expect", "count 2 induction>0.3", "--expect",
               "1.3 previous-token", "--expect", "L2H1 previous<0.1", "--expect",
               "1.3 previous-token>=0.85", "--expect", "2.1 previous-token<0.1"});
  CHECK(holds.exit_code == 0);
  CHECK(holds.err.empty());
  const ProgramResult fails =
      attnviz({"heads", "-q", "-o", file, "--expect", "0.0 induction", "--expect",
               "any duplicate>0.9", "--expect", "count 3 induction>0.3"});
  CHECK(fails.exit_code == 5);
  CHECK(mentions(fails.err, {"0.0 induction", "0.0", "0.02", "duplicate>0.9", "none", "0.2",
                             "3 induction>0.3", "2.1 2.3"}));
  CHECK(read_json(file)["heads"].size() == 16);
  const ProgramResult spaced = attnviz({"heads", "-q", "--expect", "any induction < -1"});
  CHECK(spaced.exit_code == 5);
  CHECK(spaced.out.empty());  // a test, whose output is not read
  CHECK(mentions(spaced.err, {"none; ", "smallest"}));
  CHECK(mentions(attnviz({"heads", "-q", "--expect", "2.1 inducton"}).err,
                 {"previous-token", "current-token", "duplicate-token", "induction", "sink",
                  "\"induction\""}));
  for (const char* wrong :
       {"2.1", "2.1 induction>nan", "2.1 induction<inf", "2.1 induct", "x induction",
        "count induction>1", "count 99999999999999999999 induction>1", "2.1 induction>",
        "2.1 induktion>0.5", "9.9 induction>0.5"}) {
    CAPTURE(wrong);
    const ProgramResult refused = attnviz({"heads", "--expect", wrong});
    CHECK(refused.exit_code == 2);
    CHECK(refused.err.starts_with("attnviz: --expect: "));
  }
}

TEST_CASE("heads: what cannot be probed is refused") {
  CHECK(attnviz({"heads", "--probe-length", "1"}).exit_code == 2);
  CHECK(mentions(attnviz({"heads", "--probe-length", "1000"}).err, {"256"}));
  CHECK(mentions(attnviz({"heads", "--probe-length", "5", "The cat"}).err, {"--probe-length"}));
  const TemporaryFolder folder;
  const auto given = [&folder](const char* probes) {
    write_file(folder.file("p.json"), probes);
    const ProgramResult result = attnviz({"heads", "--probe-ids", folder.file("p.json")});
    CHECK(result.exit_code == 3);
    return result.err;
  };
  CHECK(mentions(given("[5, 6]"), {"p.json", "[0]"}));
  CHECK(mentions(given("[[5, 6], [7, 1.5]]"), {"p.json", "[1][1]", "1.5"}));
  CHECK(mentions(given("[[-1]]"), {"[0][0]", "-1"}));
  CHECK(contains(given("[[]"), "p.json"));
  CHECK(contains(given("[]"), "p.json"));
  CHECK(attnviz({"heads", ""}).exit_code == 2);
}

TEST_CASE("heads: tokens that are declared punctuation count once, and must be there") {
  const Words text = {"heads", "The cat sat on it", "--punctuation"};
  const auto with = [&text](const char* indices) {
    Words arguments = text;
    arguments.emplace_back(indices);
    return arguments;
  };
  const auto score = [&](const char* indices) {
    return attnviz_json(with(indices))["heads"][5]["punctuation"];
  };
  CHECK(score("3,1") == score("1,3,3,1"));
  const ProgramResult refused = attnviz(with("1,99"));
  CHECK(refused.exit_code == 2);
  CHECK(mentions(refused.err, {"--punctuation", "99", "6"}));
}

}  // namespace attnviz::test
