// attnviz why: numbers of another implementation, what is asked for, and what is refused.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"
#include "support/why_cases.h"

namespace attnviz::test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

const std::string kPotter = "Harry Potter is a wizard. Harry";

std::string comma_list(const json& ids) {
  std::string words;
  for (const json& id : ids) {
    words += (words.empty() ? "" : ",") + std::to_string(id.get<unsigned>());
  }
  return words;
}

const json& head_of(const json& list, std::size_t layer, std::size_t head) {
  return *std::ranges::find_if(list, [&](const json& one) {
    return one["layer"] == layer && one.value("head", 0U) == head;
  });
}

std::size_t n_cells(const std::string& row) {
  std::size_t n = 1;
  bool is_quoted = false;
  for (const char sign : row) {
    is_quoted = is_quoted != (sign == '"');
    n += sign == ',' && !is_quoted ? 1 : 0;
  }
  return n;
}

}  // namespace

TEST_CASE("why: the embedded model's numbers are those of float64, through the program") {
  for (const char* name : {"demo", "demo-induction"}) {
    const std::string file = kSharedReference + "why/" + name + ".json";
    if (!std::filesystem::exists(file)) {
      MESSAGE("SKIPPED: " << file << " is not there");
      return;
    }
    CAPTURE(name);
    const json expected = read_json(file);
    const json found = attnviz_json({"why", "--ids", comma_list(expected["ids"])});
    CHECK(found["target"]["id"] == expected["target"]);
    CHECK(found["versus"]["id"] == expected["against"]);
    check_why(found["target"]["logprob"], expected["base"]["target_logprob"]);
    const json& zero = expected["ablation"]["zero"];
    for (const json& head : found["ablation"]["heads"]) {
      const std::size_t layer = head["layer"];
      const std::size_t index = head["head"];
      check_why(head["kl_bits"], zero["heads"]["kl_bits"][layer][index]);
      check_why(head["kl_bits_mean"], zero["heads"]["kl_bits_mean"][layer][index]);
      check_why(head["logprob_change"], zero["heads"]["target_change_nats"][layer][index]);
      CHECK(head["top"]["id"] == zero["heads"]["top"][layer][index]);
    }
    for (const char* part : {"mlps", "layers"}) {
      for (const json& one : found["ablation"][part]) {
        check_why(one["logprob_change"],
                  zero[part][one["layer"].get<std::size_t>()]["target_change_nats"]);
      }
    }
    const json& lens = expected["lens"];
    REQUIRE(found["lens"].size() == lens.size());
    for (std::size_t i = 0; i < lens.size(); ++i) {
      check_why(found["lens"][i]["logprob"], lens[i]["target_logprob"]);
      CHECK(found["lens"][i]["rank"] == lens[i]["target_rank"]);
    }
    const json& parts = found["attribution"]["parts"];
    REQUIRE(parts.size() == expected["dla"]["parts"].size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      check_why(parts[i]["logit"], expected["dla"]["target"][i]);
    }
    for (const json& span : expected["leave_one_out"]) {
      const auto word = std::ranges::find_if(found["tokens_lost"], [&span](const json& one) {
        return one["begin"] == span["span"][0] && one["end"] == span["span"][1];
      });
      if (word == found["tokens_lost"].end()) {
        continue;  // of several words
      }
      CHECK((*word)["logprob_change"].is_null() == span["target_change_nats"].is_null());
      if (!span["target_change_nats"].is_null()) {
        check_why((*word)["logprob_change"], span["target_change_nats"]);
      }
    }
  }
}

TEST_CASE("why: the induction head is what the demo model needs to say Potter again") {
  const json found = attnviz_json({"why", kPotter, "--toward", " Potter"});
  const json named = attnviz_json({"heads"});
  const auto induction = std::ranges::find_if(named["heads"], [](const json& head) {
    return std::ranges::count(head["names"], "induction") > 0;
  });
  REQUIRE(induction != named["heads"].end());
  const auto changes = [](const json& head) { return head["logprob_change"].get<double>(); };
  const json most =
      *std::ranges::min_element(found["ablation"]["heads"], {}, [&](const json& head) {
        return head["layer"] == (*induction)["layer"] ? changes(head) : 0.0;
      });
  CHECK(most["head"] == (*induction)["head"]);
  CHECK(changes(most) < -0.1);
  // What the screen says of the head is what leaving it out costs.
  const std::string screen = attnviz({"why", kPotter, "--toward", " Potter"}).out;
  const auto lines = lines_of(screen);
  const auto needed = std::ranges::find_if(
      lines, [](const std::string& line) { return line.starts_with("ablation: "); });
  const std::string name =
      fmt::format("head {}.{} ", (*induction)["layer"].get<int>(), (*induction)["head"].get<int>());
  const auto row = std::find_if(needed, lines.end(), [&name](const std::string& line) {
    return line.starts_with(name) && line.ends_with("induction");
  });
  REQUIRE(row != lines.end());
  CHECK(row->find(fmt::format("{:+.2f}", changes(most))) != std::string::npos);
}

TEST_CASE("why: a part alone is that of all") {
  const json all = attnviz_json({"why", "The cat sat", "--toward", " on"});
  for (const auto& part :
       {std::pair{"--tokens", "tokens_lost"}, std::pair{"--attribution", "attribution"},
        std::pair{"--lens", "lens"}}) {
    const char* const option = part.first;
    const char* const key = part.second;
    CAPTURE(key);
    const json one = attnviz_json({"why", "The cat sat", "--toward", " on", option});
    CHECK(one[key] == all[key]);
    for (const char* other : {"tokens_lost", "attribution", "lens", "ablation"}) {
      CHECK(one.contains(other) == (std::string(other) == key));
    }
  }
  const json mlps =
      attnviz_json({"why", "The cat sat", "--toward", " on", "--ablate-each", "mlps"});
  CHECK(mlps["ablation"]["mlps"] == all["ablation"]["mlps"]);
  CHECK_FALSE(mlps["ablation"].contains("heads"));
  const json mean = attnviz_json(
      {"why", "The cat sat", "--toward", " on", "--ablate-each", "mlps", "--by", "mean"});
  CHECK(mean["ablation"]["kind"] == "mean");
  CHECK(mean["ablation"]["mlps"] != all["ablation"]["mlps"]);
}

TEST_CASE("why: after a token inside the text it is as if the text ended there") {
  const json inside = attnviz_json({"why", kPotter, "--at", "is"});
  const json before = attnviz_json({"why", "Harry Potter is"});
  for (const char* key :
       {"tokens", "at", "target", "tokens_lost", "attribution", "ablation", "lens"}) {
    CAPTURE(key);
    CHECK(inside[key] == before[key]);
  }
  CHECK(inside["text"] == "Harry Potter is");
}

TEST_CASE("why: a score is the sum of its pairs, and induction builds on the previous-token head") {
  const json found =
      attnviz_json({"why", kPotter, "--head", "2.1", "--query", "-1", "--key", "Potter"})["score"];
  double sum = found["position_bias"];
  std::vector<double> of_key(found["key_parts"].size(), 0.0);
  for (const json& row : found["products"]) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      of_key[i] += row[i].get<double>();
      sum += row[i].get<double>();
    }
  }
  check_why(sum, found["score"]);
  const json inspected =
      attnviz_json({"inspect", kPotter, "--head", "2.1", "--query", "-1"})["heads"][0];
  check_why(found["score"], inspected["for_query"]["scaled"][found["key"].get<std::size_t>()]);
  const auto best = static_cast<std::size_t>(std::ranges::max_element(of_key) - of_key.begin());
  const json& part = found["key_parts"][best];
  REQUIRE(part["part"] == "head");
  const json heads = attnviz_json({"heads"})["heads"];
  const json& names = head_of(heads, part["layer"], part["head"])["names"];
  CHECK(std::ranges::count(names, "previous-token") == 1);
}

TEST_CASE("why: numbers before a soft cap, and runs in which more is ablated, get a note") {
  const std::string gemma = kModels + "gemma2-softcap-window";
  const auto notes = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"why", "-m", gemma, "--ids", "1,2,3,4", "--json"});
    return attnviz_json(more)["notes"].dump();
  };
  CHECK(contains(notes({"--attribution"}), "soft cap"));
  CHECK(contains(notes({"--head", "0.0", "--query", "3", "--key", "1"}), "soft cap"));
  const std::string stays = "--ablate";
  CHECK(contains(notes({"--ablate", "1.0", "--ablate-each", "layers"}), stays));
  CHECK(!contains(notes({"--ablate-each", "layers"}), stays));
}

TEST_CASE("why: invalid questions are refused with a reason") {
  const auto refused = [](Words arguments, int code, const Words& named) {
    arguments.insert(arguments.begin(), "why");
    const ProgramResult result = attnviz(arguments);
    CAPTURE(result.err);
    CHECK(result.exit_code == code);
    CHECK(result.out.empty());
    CHECK(mentions(result.err, named));
  };
  refused({"The cat", "--toward", "wizard of oz"}, 2, {"wizard of oz"});
  refused({"The cat", "--toward", ""}, 2, {"--toward"});
  refused({"The cat", "--toward", "id:99999999"}, 2, {"--toward", "99999999", "5248"});
  refused({"The cat", "--versus", "id:x"}, 2, {"--versus", "id:"});
  refused({"The cat", "--at", "dog"}, 2, {"--at", "\"dog\""});
  refused({"The cat", "--head", "2.1"}, 2, {"--head", "--query", "--key"});
  refused({"The cat", "--head", "2.1", "--query", "1"}, 2, {"--query", "--key"});
  refused({"The cat", "--head", "2", "--query", "1", "--key", "1"}, 2, {"--head"});
  refused({"The cat", "--head", "2.1", "--query", "1", "--key", "1", "--lens"}, 2,
          {"--query", "--lens"});
  refused({"The cat", "--ablate-each", "neurons"}, 2, {"--ablate-each", "heads", "mlps", "layers"});
  refused({"The cat", "--lens", "-o", "/tmp/never-written.png"}, 2, {"--attribution"});
  refused({"The cat", "--random"}, 2, {"random"});
  refused({"--ids", "5,3", "-m", kModels + "roberta-mlm"}, 4, {"roberta-mlm"});
}

TEST_CASE("why: one token is enough, and the last word has nothing to lose") {
  const json found = attnviz_json({"why", "--ids", "0"});
  REQUIRE(found["tokens_lost"].size() == 1);
  CHECK(found["tokens_lost"][0]["logprob_change"].is_null());
  CHECK(found["tokens_lost"][0]["attention"].get<double>() == doctest::Approx(1.0));
}

TEST_CASE("why: a mask that was asked for is named on the screen") {
  const std::string screen = attnviz({"why", "The cat sat", "--mask", "none", "--tokens"}).out;
  CHECK(screen.find("\nmask none\n") != std::string::npos);
  const std::string usual = attnviz({"why", "The cat sat", "--tokens"}).out;
  CHECK(usual.find("mask") == std::string::npos);
}

TEST_CASE("why: tables are 7-bit and no wider than the screen, files hold the same numbers") {
  for (const std::size_t columns : {40U, 80U}) {
    ProgramRun run;
    run.arguments = {"why", kPotter, "--style", "ascii"};
    run.environment = {{"COLUMNS", std::to_string(columns)}};
    const ProgramResult result = attnviz(run);
    REQUIRE(result.exit_code == 0);
    for (const std::string& line : lines_of(result.out)) {
      CAPTURE(line);
      CHECK(line.size() <= 80U);
      CHECK(std::ranges::all_of(line, [](char sign) { return sign >= ' ' && sign <= '~'; }));
    }
  }
  const TemporaryFolder folder;
  REQUIRE(in_folder(folder, {"why", kPotter, "-q", "-o", "w.csv", "-o", "w.json", "-o", "w.png",
                             "-o", "w.svg", "-o", "w.txt"})
              .exit_code == 0);
  const json document = read_json(folder.file("w.json"));
  const std::vector<std::string> rows = lines_of(read_file(folder.file("w.csv")));
  CHECK(rows.front() ==
        "part,layer,head,logit,versus,bias_share,logprob_change,kl_bits,kl_bits_mean,begin,end,"
        "text,attention,logprob,rank,top");
  CHECK(rows.size() == 1 + document["attribution"]["parts"].size() +
                           document["ablation"]["layers"].size() + document["tokens_lost"].size() +
                           document["lens"].size());
  const std::size_t cells = n_cells(rows.front());
  for (const std::string& row : rows) {
    CAPTURE(row);
    CHECK(n_cells(row) == cells);
  }
}

TEST_CASE("why: words and lens alone are rows of a CSV file, too") {
  const TemporaryFolder folder;
  REQUIRE(
      in_folder(folder, {"why", kPotter, "-q", "--tokens", "--lens", "-o", "w.csv", "-o", "w.json"})
          .exit_code == 0);
  const json document = read_json(folder.file("w.json"));
  const std::vector<std::string> rows = lines_of(read_file(folder.file("w.csv")));
  const json& words = document["tokens_lost"];
  const json& lens = document["lens"];
  REQUIRE(rows.size() == 1 + words.size() + lens.size());
  CHECK(rows[2] == fmt::format("word,,,,,,{},,,1,2,\" Harry\",{},,,",
                               words[1]["logprob_change"].get<double>(),
                               words[1]["attention"].get<double>()));
  CHECK(rows[words.size()].starts_with("word,,,,,,,,,7,8,\" Harry\","));  // nothing to lose
  CHECK(rows[1 + words.size()].starts_with("lens_in,0,,,,,,,,,,,,"));
  CHECK(rows[2 + words.size()].starts_with("lens_attention,0,"));
  CHECK(rows.back() ==
        fmt::format("lens_out,,,,,,,,,,,,,{},0,\" Potter\"", lens.back()["logprob"].get<double>()));
}

}  // namespace attnviz::test
