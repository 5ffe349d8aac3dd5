// How a text becomes a model's tokens: begun and ended, in two parts, cut to the context.

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"
#include "support/stored_model.h"

namespace attnviz::test {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Strings = std::vector<std::string>;

json special(const char* name) {
  return {{"SpecialToken", {{"id", name}, {"type_id", 0}}}};
}

json sequence(const char* name, int segment) {
  return {{"Sequence", {{"id", name}, {"type_id", segment}}}};
}

json added(int id, const char* name) {
  return {{"id", id},        {"content", name}, {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"special", true}, {"normalized", false}};
}

// Ids in the order of the words; a text is put between [CLS] and [SEP], as BERT expects.
std::string bert_tokenizer() {
  json vocabulary;
  for (const char* word : {"[CLS]", "[SEP]", "[UNK]", "the", "cat", "sat", "on", "a", "mat"}) {
    vocabulary[word] = vocabulary.size();
  }
  json last = special("[SEP]");
  last["SpecialToken"]["type_id"] = 1;
  const json template_processing = {
      {"type", "TemplateProcessing"},
      {"single", {special("[CLS]"), sequence("A", 0), special("[SEP]")}},
      {"pair", {special("[CLS]"), sequence("A", 0), special("[SEP]"), sequence("B", 1), last}},
      {"special_tokens",
       {{"[CLS]", {{"id", "[CLS]"}, {"ids", {0}}, {"tokens", {"[CLS]"}}}},
        {"[SEP]", {{"id", "[SEP]"}, {"ids", {1}}, {"tokens", {"[SEP]"}}}}}}};
  return json{{"version", "1.0"},
              {"added_tokens", {added(0, "[CLS]"), added(1, "[SEP]"), added(2, "[UNK]")}},
              {"normalizer", nullptr},
              {"pre_tokenizer", {{"type", "Whitespace"}}},
              {"post_processor", template_processing},
              {"decoder", nullptr},
              {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "[UNK]"}}}}
      .dump();
}

// Whose tokenizer takes texts as they are, and has a token that may begin them.
std::string plain_tokenizer() {
  json tokenizer = parse_json(bert_tokenizer());
  tokenizer["post_processor"] = nullptr;
  return tokenizer.dump();
}

class TinyModel {
 public:
  TinyModel(const char* name, const std::string& tokenizer) {
    copy_model(name, folder_.path());
    write_file(folder_.file("tokenizer.json"), tokenizer);
  }

  std::string path() const { return folder_.path(); }
  void write(const char* name, const std::string& text) const {
    write_file(folder_.file(name), text);
  }
  json tokens(Strings more) const {
    more.insert(more.begin(), {"-m", path(), "--json"});
    return attnviz_json(more);
  }

 private:
  TemporaryFolder folder_;
};

const Strings kCatWithBothEnds = {"[CLS]", "the", "cat", "[SEP]"};

}  // namespace

TEST_CASE(
    "what a tokenizer adds is marked in JSON, and in drawings with a star that is explained") {
  const TinyModel model("bert-pair", bert_tokenizer());
  const json document = model.tokens({"the cat"});
  CHECK(document["tokens"] == json(kCatWithBothEnds));
  CHECK(document["marks"] == json({{"special", {0, 3}}, {"added", {0, 3}}}));
  const ProgramResult drawn = attnviz({"-m", model.path(), "the cat", "--head", "0.0"});
  CHECK(mentions(drawn.out, {"*[CLS]", "* special token", "tokenizer"}));
  const ProgramResult table = attnviz({"tokenize", "-m", model.path(), "the cat"});
  CHECK(mentions(table.out, {"0-0        special"}));
}

TEST_CASE("--pair: a second text, whose tokens are of segment 1") {
  const TinyModel model("bert-pair", bert_tokenizer());
  const json pair = model.tokens({"the cat", "--pair", "sat"});
  CHECK(pair["tokens"] == json({"[CLS]", "the", "cat", "[SEP]", "sat", "[SEP]"}));
  CHECK(pair["text"] == "the cat\nsat");
  CHECK(pair["marks"]["second_text"] == json({4, 5}));
  // Segments have embeddings of their own, so the same ids as one text attend differently.
  const json flat = model.tokens({"--ids", "0,3,4,1,5,1"});
  CHECK(flat["token_ids"] == pair["token_ids"]);
  CHECK(flat["attention"] != pair["attention"]);

  ProgramRun lines;
  lines.arguments = {"-m", model.path(), "--json-lines", "--json"};
  lines.input = "{\"text\": \"the cat\", \"pair\": \"sat\"}\n";
  CHECK(parse_json(attnviz(lines).out)["attention"] == pair["attention"]);
}

TEST_CASE("--pair: refused where nothing would separate the texts") {
  const TinyModel model("gpt2-tied", plain_tokenizer());
  const ProgramResult run = attnviz({"-m", model.path(), "the cat", "--pair", "sat"});
  CHECK(run.exit_code == 2);
  CHECK(contains(run.err, "--pair"));
  const ProgramResult words = attnviz({"--random", "the cat", "--pair", "sat"});
  CHECK(words.exit_code == 2);
  CHECK(contains(words.err, "words"));
}

TEST_CASE("heads over a corpus of pairs resumes only with the same second text") {
  const TinyModel model("bert-pair", bert_tokenizer());
  const TemporaryFolder folder;
  const auto score = [&](const std::string& pair) {
    return attnviz({"heads", "-m", model.path(), "-q", "--lines", "--pair", pair, "--partial",
                    folder.file("p.json"), "--resume", "-o", folder.file("x.csv")},
                   "the cat\nsat\n");
  };
  REQUIRE(score("on a mat").exit_code == 0);
  const ProgramResult refused = score("on a cat");
  CHECK(refused.exit_code == 2);
  CHECK(mentions(refused.err, {"p.json", "--resume", "\"on a mat\"", "\"on a cat\""}));
  CHECK(score("on a mat").exit_code == 0);
  const std::string cut_in_messages(200, 'a');
  std::filesystem::remove(folder.file("p.json"));
  REQUIRE(score(cut_in_messages + " cat").exit_code == 0);
  CHECK(score(cut_in_messages + " mat").exit_code == 2);
}

TEST_CASE("--lines: a text without a token is reported and skipped; alone it is an error") {
  json tokenizer = parse_json(plain_tokenizer());
  tokenizer["normalizer"] = {{"type", "Strip"}};
  tokenizer["pre_tokenizer"] = {{"type", "Split"},
                                {"pattern", {{"String", "\u0001"}}},
                                {"behavior", "Removed"},
                                {"invert", false}};
  const TinyModel model("llama-mha-untied", tokenizer.dump());
  const ProgramResult run =
      attnviz({"-m", model.path(), "--lines", "--json"}, "the\n\u0001\ncat\n");
  CHECK(run.exit_code == 0);
  CHECK(lines_of(run.out).size() == 2);
  CHECK(mentions(run.err, {"line 2"}));
  CHECK(attnviz({"-m", model.path(), "\u0001"}).exit_code == 2);
}

TEST_CASE("--bos and --no-bos: the token that begins a text, regardless of the tokenizer") {
  const TinyModel model("llama-mha-untied", plain_tokenizer());
  model.write("tokenizer_config.json", R"({"bos_token": "[CLS]"})");
  CHECK(model.tokens({"the cat"})["tokens"] == json({"the", "cat"}));
  CHECK(model.tokens({"the cat"}).count("marks") == 0);
  const json begun = model.tokens({"the cat", "--bos"});
  CHECK(begun["tokens"] == json({"[CLS]", "the", "cat"}));
  CHECK(begun["marks"]["added"] == json::array({0}));
  const TinyModel bert("bert-pair", bert_tokenizer());
  bert.write("tokenizer_config.json", R"({"bos_token": "[CLS]"})");
  CHECK(bert.tokens({"the cat", "--no-bos"})["tokens"] == json({"the", "cat", "[SEP]"}));
  bert.write("tokenizer_config.json", "{}");
  CHECK(bert.tokens({"the cat", "--no-bos"})["tokens"] == json({"the", "cat", "[SEP]"}));
  CHECK(attnviz({"-m", model.path(), "the cat", "--bos", "--no-bos"}).exit_code == 2);
  CHECK(attnviz({"-m", model.path(), "--ids", "3", "--bos"}).exit_code == 2);
  CHECK(attnviz({"--random", "the cat", "--bos"}).exit_code == 2);
}

TEST_CASE("--special: the name of a special token in the text is that token only when asked for") {
  const TinyModel model("llama-mha-untied", plain_tokenizer());
  CHECK(model.tokens({"the [SEP] cat"})["tokens"].size() == 5);
  const json parsed = model.tokens({"the [SEP] cat", "--special"});
  CHECK(parsed["token_ids"] == json({3, 1, 4}));
  CHECK(parsed["marks"] == json({{"special", {1}}}));
}

TEST_CASE("--truncate: a text longer than the context is cut at one end, with a note") {
  const TinyModel model("bert-pair", bert_tokenizer());  // a context of 24 tokens
  std::string text = "sat";
  for (int i = 0; i < 30; ++i) {
    text += " the";
  }
  text += " mat";
  const ProgramResult refused = attnviz({"-m", model.path(), text});
  CHECK(refused.exit_code == 2);
  CHECK(mentions(refused.err, {"34 tokens", "--truncate"}));
  const json left = model.tokens({text, "--truncate", "left"});
  REQUIRE(left["tokens"].size() == 24);
  CHECK(left["tokens"][0] == "[CLS]");
  CHECK(left["tokens"][1] == "the");
  CHECK(left["tokens"][22] == "mat");
  REQUIRE(left["notes"].size() == 1);
  CHECK(mentions(left["notes"][0], {"24", "34 tokens"}));
  const json right = model.tokens({text, "--truncate", "right"});
  CHECK(right["tokens"][1] == "sat");
  CHECK(right["tokens"][22] == "the");
  CHECK(right["tokens"][23] == "[SEP]");
  CHECK(model.tokens({"the cat", "--truncate", "left"})["tokens"] == json(kCatWithBothEnds));
}

TEST_CASE("render: marks of a document are drawn again") {
  const TinyModel model("bert-pair", bert_tokenizer());
  const TemporaryFolder folder;
  const ProgramResult drawn = attnviz({"-m", model.path(), "the cat", "--head", "0.0", "-o",
                                       folder.file("a.json"), "-o", "-", "--format", "txt"});
  REQUIRE(drawn.exit_code == 0);
  const ProgramResult again =
      attnviz({"render", folder.file("a.json"), "-o", "-", "--format", "txt"});
  CHECK(again.out == drawn.out);
}

TEST_CASE("ids are taken as they are: options on how a text becomes tokens are refused") {
  const TinyModel model("llama-mha-untied", plain_tokenizer());
  for (const Strings& option : {Strings{"--no-bos"}, {"--bos"}, {"--special"}, {"--pair", "a"}}) {
    CAPTURE(option.front());
    ProgramRun lines;
    lines.arguments = {"-m", model.path(), "--json-lines", "--json"};
    lines.arguments.insert(lines.arguments.end(), option.begin(), option.end());
    lines.input = "{\"ids\": [3, 4]}\n";
    CHECK(attnviz(lines).exit_code == 2);
  }
  CHECK(attnviz({"--random", "the cat", "--no-bos", "--json"}).exit_code == 0);  // there is none
}

TEST_CASE("--predict fills the gap that the text has, else the last word's place") {
  const TinyModel model("bert-mlm-gamma-beta", bert_tokenizer());
  const json last = model.tokens({"the cat", "--predict", "2"})["predictions"];
  CHECK(last["at"] == 2);
  CHECK(last["in_place_of"] == "cat");
  const json gap = model.tokens({"the [UNK] cat", "--special", "--predict", "2"})["predictions"];
  CHECK(gap["at"] == 2);
  CHECK(gap["in_place_of"] == "[UNK]");
}

TEST_CASE("a model whose config has a negative end of text has none") {
  const TinyModel model("gpt2-tied", plain_tokenizer());
  model.write("generation_config.json", R"({"eos_token_id": -1})");
  CHECK(model.tokens({"the cat"})["tokens"].size() == 2);
}

}  // namespace attnviz::test
