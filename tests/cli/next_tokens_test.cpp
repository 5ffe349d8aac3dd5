// --predict and --generate: what a model writes after a text, and what it finds probable.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/safetensors.h"
#include "cli/attnviz_program.h"
#include "support/json.h"
#include "support/stored_model.h"

namespace attnviz::test {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kGpt = kModels + "gpt2-tied";

// What an independent implementation computes for a model's text.
struct Reference {
  std::vector<std::size_t> ids;
  std::vector<std::vector<double>> logits;  // by position

  std::string id_list() const {
    std::string list;
    for (const std::size_t id : ids) {
      list += (list.empty() ? "" : ",") + std::to_string(id);
    }
    return list;
  }
};

Reference reference_of(const std::string& model) {
  const MappedFile file(fs::path(kModels) / model / "expected.safetensors");
  const Safetensors tensors(file.bytes(), model);
  Reference reference;
  const StoredTensor& ids = *tensors.find("ids");
  for (std::size_t i = 0; i < ids.n_numbers(); ++i) {
    std::int64_t id = 0;
    std::memcpy(&id, ids.bytes.data() + i * sizeof(id), sizeof(id));
    reference.ids.push_back(static_cast<std::size_t>(id));
  }
  const StoredTensor& logits = *tensors.find("logits");
  const std::size_t n_vocab = logits.n_numbers() / reference.ids.size();
  for (std::size_t i = 0; i < reference.ids.size(); ++i) {
    std::vector<double>& row = reference.logits.emplace_back();
    for (std::size_t j = 0; j < n_vocab; ++j) {
      float number = 0.0f;
      std::memcpy(&number, logits.bytes.data() + (i * n_vocab + j) * sizeof(number),
                  sizeof(number));
      row.push_back(static_cast<double>(number));
    }
  }
  return reference;
}

// Compares a list of predictions with the most probable tokens.
void check_top(const json& top, const std::vector<double>& logits) {
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  const double sum = std::accumulate(logits.begin(), logits.end(), 0.0,
                                     [](double so_far, double x) { return so_far + std::exp(x); });
  REQUIRE(!top.empty());
  for (std::size_t i = 0; i < top.size(); ++i) {
    CHECK(top[i]["id"] == order[i]);
    CHECK(top[i]["token"] == std::to_string(order[i]));
    CHECK(std::abs(top[i]["logit"].get<double>() - logits[order[i]]) < 1e-4);
    CHECK(std::abs(top[i]["probability"].get<double>() - std::exp(logits[order[i]]) / sum) < 1e-4);
  }
}

json ids_of(const std::string& list) {
  return parse_json("[" + list + "]");
}

ProgramResult failing(std::vector<std::string> arguments) {
  ProgramResult result = attnviz(std::move(arguments));
  CHECK(result.exit_code == 2);
  CHECK(result.out.empty());
  return result;
}

}  // namespace

TEST_CASE("--predict: the reference's most probable tokens, whichever layers are drawn") {
  for (const char* name : {"gpt2-tied", "gemma2-softcap-window", "gpt-neox-parallel"}) {
    CAPTURE(name);
    const Reference reference = reference_of(name);
    const std::string model = kModels + name;
    const json all = attnviz_json({"-m", model, "--ids", reference.id_list(), "--predict", "5"});
    CHECK(all["predictions"]["at"] == reference.ids.size() - 1);
    CHECK(all["predictions"]["after"] == std::to_string(reference.ids.back()));
    REQUIRE(all["predictions"]["top"].size() == 5);
    check_top(all["predictions"]["top"], reference.logits.back());
    const json low =
        attnviz_json({"-m", model, "--ids", reference.id_list(), "--predict", "5", "--layer", "0"});
    CHECK(low["predictions"] == all["predictions"]);
    CHECK(low["attention"][0] == all["attention"][0]);
    const json mean = attnviz_json(
        {"-m", model, "--ids", reference.id_list(), "--predict", "5", "--average", "all"});
    CHECK(mean["predictions"] == all["predictions"]);
    const json third =
        attnviz_json({"-m", model, "--ids", reference.id_list(), "--predict", "4", "--at", "2"});
    CHECK(third["predictions"]["at"] == 2);
    check_top(third["predictions"]["top"], reference.logits[2]);
  }
}

TEST_CASE(
    "--predict --at all: each position as if it were the last, and the token that came there") {
  for (const char* name : {"gpt2-tied", "roberta-mlm"}) {
    CAPTURE(name);
    const Reference reference = reference_of(name);
    const std::size_t ahead = std::string(name) == "roberta-mlm" ? 0 : 1;
    const json document = attnviz_json(
        {"-m", kModels + name, "--ids", reference.id_list(), "--predict", "3", "--at", "all"});
    CHECK_FALSE(document.contains("predictions"));
    const json& all = document["all_predictions"];
    REQUIRE(all.size() == reference.ids.size());
    for (std::size_t at = 0; at < all.size(); ++at) {
      CAPTURE(at);
      const std::vector<double>& logits = reference.logits[at];
      CHECK(all[at]["at"] == at);
      check_top(all[at]["top"], logits);
      CHECK(all[at].contains("actual") == (at + ahead < all.size()));
      if (!all[at].contains("actual")) {
        continue;
      }
      const std::size_t id = reference.ids[at + ahead];
      double sum = 0.0;
      for (const double logit : logits) {
        sum += std::exp(logit);
      }
      CHECK(all[at]["actual"]["id"] == id);
      CHECK(std::abs(all[at]["actual"]["probability"].get<double>() - std::exp(logits[id]) / sum) <
            1e-4);
      CHECK(all[at]["actual"]["rank"] ==
            std::ranges::count_if(logits, [&](double logit) { return logit > logits[id]; }));
    }
  }
}

TEST_CASE("--predict prints its answer first, and with -q nothing else") {
  const std::vector<std::string> asked = {"The cat sat", "--predict", "2"};
  const ProgramResult drawn = attnviz(asked);
  CHECK(lines_of(drawn.out).front().find("\"sat\"") != std::string::npos);
  CHECK(contains(drawn.out, "\n\nattention: demo"));
  std::vector<std::string> quiet = asked;
  quiet.emplace_back("-q");
  const ProgramResult alone = attnviz(quiet);
  CHECK(drawn.out.starts_with(alone.out));
  CHECK(lines_of(alone.out).size() == 4);
  quiet.insert(quiet.end(), {"--at", "all"});
  CHECK(lines_of(attnviz(quiet).out).size() == 6);
  const char* const of_each = "--predict 2";
  CHECK(contains(attnviz({"The cat", "--predict", "2", "--at", "all"}).err, of_each));
  CHECK_FALSE(
      contains(attnviz({"The cat", "--predict", "2", "--at", "all", "--json"}).err, of_each));
  CHECK_FALSE(contains(attnviz({"The cat", "--predict", "1", "--at", "all"}).err, of_each));
  // A drawing in a file is still a drawing.
  const TemporaryFolder folder;
  REQUIRE(in_folder(folder, {"The cat sat", "--predict", "2", "-q", "-o", "a.txt"}).exit_code == 0);
  CHECK(contains(read_file(folder.file("a.txt")), "attention: demo"));
  CHECK(failing({"The cat sat", "--predict", "2", "--at", "all", "--merge", "words"}).err !=
        std::string());
}

TEST_CASE("--predict of models that fill gaps: what they would put in the token's place") {
  const Reference reference = reference_of("roberta-mlm");
  const std::string model = kModels + "roberta-mlm";
  const json document =
      attnviz_json({"-m", model, "--ids", reference.id_list(), "--predict", "3", "--at", "4"});
  CHECK(document["predictions"]["in_place_of"] == std::to_string(reference.ids[4]));
  check_top(document["predictions"]["top"], reference.logits[4]);
  const ProgramResult drawn =
      attnviz({"-m", model, "--ids", reference.id_list(), "--predict", "3", "--at", "4"});
  CHECK(mentions(drawn.out, {std::to_string(reference.ids[4])}));
}

TEST_CASE("--predict K of more tokens than there are gives all, which sum to 1") {
  const json document = attnviz_json({"-m", kGpt, "--ids", "1,2,3", "--predict", "1000"});
  double sum = 0.0;
  for (const json& token : document["predictions"]["top"]) {
    sum += token["probability"].get<double>();
  }
  CHECK(document["predictions"]["top"].size() == 47);
  CHECK(std::abs(sum - 1.0) < 1e-5);
}

TEST_CASE("--temperature changes predictions through attention, not the softmax over tokens") {
  const std::vector<std::string> plain = {"-m", kGpt, "--ids", "1,2,3,9", "--predict", "4"};
  std::vector<std::string> hot = plain;
  hot.insert(hot.end(), {"--temperature", "3"});
  const json before = attnviz_json(plain)["predictions"]["top"];
  const json after = attnviz_json(hot)["predictions"]["top"];
  CHECK(before != after);
  const auto number = [&after](std::size_t i, const char* key) {
    return after[i][key].get<double>();
  };
  CHECK(number(0, "probability") / number(3, "probability") ==
        doctest::Approx(std::exp(number(0, "logit") - number(3, "logit"))).epsilon(1e-4));
  // The first token sees only itself, at any temperature.
  std::vector<std::string> first = {"-m", kGpt, "--ids", "1,2,3,9", "--predict", "4", "--at", "0"};
  const json cold = attnviz_json(first)["predictions"];
  first.insert(first.end(), {"--temperature", "3"});
  CHECK(attnviz_json(first)["predictions"] == cold);
}

TEST_CASE("--generate: each token is the most probable one, and is drawn like the others") {
  const json document =
      attnviz_json({"-m", kGpt, "--ids", "1,2,3", "--generate", "4", "--predict", "1"});
  REQUIRE(document["token_ids"].size() == 7);
  const json& generated = document["generated"];
  CHECK(generated["token_ids"].size() == 4);
  CHECK(generated["ended_by"] == "length");
  CHECK(document["attention"][0][0].size() == 7);
  std::string ids = "1,2,3";
  std::string text;
  for (const json& id : generated["token_ids"]) {
    const json next = attnviz_json({"-m", kGpt, "--ids", ids, "--predict", "1"});
    CHECK(next["predictions"]["top"][0]["id"] == id);
    CHECK_FALSE(next.contains("generated"));
    ids += "," + std::to_string(id.get<int>());
    text += " " + std::to_string(id.get<int>());
  }
  CHECK(document["token_ids"] == ids_of(ids));
  CHECK(document["text"] == "1 2 3" + text);
  CHECK(generated["text"] == text);
  const json whole = attnviz_json({"-m", kGpt, "--ids", ids, "--predict", "1"});
  CHECK(whole["attention"] == document["attention"]);
  CHECK(whole["predictions"] == document["predictions"]);
}

TEST_CASE("--generate: a note says that means instead of heads differ from those it wrote with") {
  const auto notes_with = [](const char* what) {
    return attnviz(
               {"-m", kGpt, "--ids", "1,2,3", "--generate", "2", "--ablate", what, "--head", "0.0"})
        .out;
  };
  CHECK(lines_of(notes_with("L1=mean")).size() > lines_of(notes_with("L1")).size());
}

TEST_CASE("--generate stops where the context is full, and says so") {
  std::string ids = "1";
  for (int i = 0; i < 14; ++i) {
    ids += ",7";
  }
  const ProgramResult run = attnviz({"-m", kGpt, "--ids", ids, "--generate", "9", "--json"});
  CHECK(run.exit_code == 0);
  CHECK(mentions(run.err, {"9 tokens"}));
  const json document = parse_json(run.out);
  CHECK(document["token_ids"].size() == 17);
  CHECK(document["generated"]["ended_by"] == "context");
  const ProgramResult full =
      attnviz({"-m", kGpt, "--ids", ids + ",7,7", "--generate", "9", "--quiet"});
  CHECK(full.exit_code == 0);
  CHECK(full.err.empty());
  CHECK(contains(full.out, "continuation: none"));
}

TEST_CASE("--generate stops at the token that ends a text, as the model's files name it") {
  const json plain = attnviz_json({"-m", kGpt, "--ids", "1,2,3", "--generate", "6"});
  const std::vector<int> ids = plain["generated"]["token_ids"].get<std::vector<int>>();
  const int end = ids.at(1);
  REQUIRE(ids[0] != end);
  for (const std::string& eos : {std::to_string(end), "[46, " + std::to_string(end) + "]"}) {
    CAPTURE(eos);
    const TemporaryFolder folder;
    copy_model("gpt2-tied", folder.path());
    write_file(folder.file("generation_config.json"), R"({"eos_token_id": )" + eos + "}");
    const ProgramResult run =
        attnviz({"-m", folder.path(), "--ids", "1,2,3", "--generate", "6", "--json"});
    REQUIRE(run.exit_code == 0);
    CHECK(mentions(run.err, {std::to_string(end), "1 of 6 tokens"}));
    const json document = parse_json(run.out);
    CHECK(document["generated"]["token_ids"] == json::array({ids[0]}));
    CHECK(document["generated"]["ended_by"] == "end_of_text");
    CHECK(document["generated"]["end_of_text_id"] == end);
  }
  for (const char* broken : {R"({"eos_token_id": "</s>"})", R"({"eos_token_id": [1, -2]})", "{",
                             R"({"eos_token_id": 4294967296})"}) {
    CAPTURE(broken);
    const TemporaryFolder folder;
    copy_model("gpt2-tied", folder.path());
    write_file(folder.file("generation_config.json"), broken);
    const ProgramResult run = attnviz({"-v", "-m", folder.path(), "--ids", "1,2,3"});
    CHECK(run.exit_code == 0);
    CHECK(mentions(run.err, {"generation_config.json"}));
  }
}

TEST_CASE("the drawing shows the continuation, and has a table of what comes next") {
  const TemporaryFolder folder;
  const std::string txt = folder.file("drawing.txt");
  const ProgramResult run = attnviz({"-m", kGpt, "--ids", "5,11,3", "--generate", "3", "--predict",
                                     "3", "-o", txt, "-o", folder.file("drawing.png")});
  REQUIRE(run.exit_code == 0);
  CHECK(run.out.starts_with("continuation: "));
  CHECK(contains(run.out, "probability"));
  for (const std::string& line : lines_of(run.out)) {
    CHECK(display_width(line) <= 80);
  }
  const std::size_t table = run.out.find("probability");
  CHECK(lines_of(run.out.substr(table, run.out.find("\n\n", table) - table)).size() == 4);
  CHECK(std::all_of(run.out.begin(), run.out.end(),
                    [](char c) { return static_cast<unsigned char>(c) < 128; }));
  CHECK(contains(read_file(txt), "probability"));

  const ProgramResult variants = attnviz(
      {"-m", kGpt, "--ids", "5,11,3", "--predict", "2", "--side-by-side", "causal,window:1"});
  CHECK(mentions(variants.out, {"\"3\"", "causal", "window:1"}));

  ProgramRun terminal;
  terminal.arguments = {"-m", kGpt, "--ids", "5,11,3", "--generate", "9", "--predict", "3"};
  terminal.tty_columns = 40;
  terminal.environment = {{"TERM", "xterm-256color"}, {"NO_COLOR", "1"}};
  const ProgramResult narrow = attnviz(terminal);
  CHECK(contains(narrow.out, "█"));
  for (const std::string& line : lines_of(narrow.out)) {
    CHECK(display_width(line) <= 40);
  }
}

TEST_CASE("--lines: every text is continued on its own") {
  const TemporaryFolder folder;
  const ProgramResult run =
      attnviz({"-m", kGpt, "--json-lines", "--json", "--generate", "2", "--predict", "1"},
              "{\"ids\": [5, 11, 3]}\n{\"ids\": [9]}\n");
  REQUIRE(run.exit_code == 0);
  const std::vector<std::string> lines = lines_of(run.out);
  REQUIRE(lines.size() == 2);
  const std::vector<std::string> texts = {"5,11,3", "9"};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    json document = parse_json(lines[i]);
    CHECK(document["line"] == i + 1);
    document.erase("line");
    CHECK(document ==
          attnviz_json({"-m", kGpt, "--ids", texts[i], "--generate", "2", "--predict", "1"}));
  }
}

TEST_CASE("patterns too large to keep: the same predictions as with those that are kept") {
  const TemporaryFolder folder;
  copy_model("llama-gqa-bias", folder.path());
  json config = read_json(folder.file("config.json"));
  config["max_position_embeddings"] = 4096;
  write_file(folder.file("config.json"), config.dump());
  std::string ids = "1";
  for (int i = 0; i < 2100; ++i) {
    ids += "," + std::to_string(i * 7 % 40 + 1);
  }
  const auto table = [&](const std::string& heads) {
    const ProgramResult run = attnviz(
        {"-m", folder.path(), "--ids", ids, "--predict", "3", "--generate", "2", "--head", heads});
    REQUIRE(run.exit_code == 0);
    return run.out.substr(0, run.out.find("\nattention:"));
  };
  const std::string kept = table("0.0");
  CHECK(lines_of(kept).size() > 3);
  CHECK(table("*.*") == kept);
}

TEST_CASE("what cannot predict or continue is refused with the reason") {
  CHECK(mentions(failing({"--random", "the cat", "--predict", "3"}).err, {"random"}));
  const std::string sample = ATTNVIZ_SOURCE_DIR "/samples/four-heads.json";
  const std::string weights = failing({"-m", sample, "the cat", "--generate", "3"}).err;
  CHECK(mentions(weights, {"--generate", "four-heads.json", "unembedding"}));
  const std::string bert = kModels + "bert-mlm-gamma-beta";
  const std::string gaps = failing({"-m", bert, "--ids", "3,4", "--generate", "2"}).err;
  CHECK(mentions(gaps, {"bert model", "--predict"}));
  CHECK(contains(failing({"-m", bert, "--ids", "3", "--generate", "2", "--mask", "causal"}).err,
                 "bert model"));
  const std::string base = kModels + "bert-pair";
  CHECK(contains(failing({"-m", base, "--ids", "3,4", "--predict", "2"}).err, "bert-pair"));
  CHECK(contains(failing({"-m", kGpt, "--ids", "3", "--generate", "2", "--mask", "none"}).err,
                 "mask \"none\""));
  CHECK(contains(failing({"-m", kGpt, "--ids", "3", "--generate", "2", "--mask", "around:2"}).err,
                 "mask \"around:2\""));
  CHECK(contains(failing({"-m", kGpt, "--ids", "3,4", "--at", "0"}).err, "--predict"));
  CHECK(mentions(failing({"-m", kGpt, "--ids", "3,4", "--predict", "1", "--at", "2"}).err,
                 {"--at 2"}));
  CHECK(contains(failing({"-m", kGpt, "--ids", "3,4", "--predict", "0"}).err, "--predict"));
}

TEST_CASE("a trained model continues its story, and the text keeps its bytes") {
  const fs::path folder = kStories;
  if (!fs::exists(folder)) {
    MESSAGE("SKIPPED: no ../shared/reference/models");
    return;
  }
  const json greedy = read_json(folder / "greedy.json");
  const std::string story = greedy["text"];
  const std::string begin = "Once upon a time";
  const json document =
      attnviz_json({"-m", folder, begin, "--generate", "60", "--predict", "2", "--head", "0.0"});
  const std::string text = document["text"];
  CHECK(text.starts_with(begin + ", there was a little girl named Lily. She loved to play"));
  CHECK(story.starts_with(text.substr(0, 200)));
  CHECK(document["generated"]["text"] == text.substr(begin.size()));
  const json& ids = document["token_ids"];
  for (std::size_t i = 0; i < std::min(ids.size(), greedy["ids"].size()); ++i) {
    CHECK(ids[i] == greedy["ids"][i]);
  }
  const ProgramResult drawn = attnviz({"-m", folder, begin, "--generate", "12", "--focus", "-1"});
  CHECK(mentions(drawn.out, {"continuation", "girl"}));
}

}  // namespace attnviz::test
