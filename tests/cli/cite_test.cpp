// attnviz cite: which sentence an answer rests on.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/toy_retrieval.h"

namespace attnviz::test {
namespace {

using nlohmann::json;

constexpr const char* kStory =
    "The teacher opened the window. Lily gave the ball to the dog. The king wore a crown.\n"
    "Anna found an old map in the attic. The sailor lost his hat at sea.\n";

const json* sentence_of_rank(const json& document, std::size_t rank) {
  for (const json& text : document["documents"]) {
    for (const json& sentence : text["sentences"]) {
      if (sentence["rank"] == rank) {
        return &sentence;
      }
    }
  }
  return nullptr;
}

}  // namespace

TEST_CASE("cite: the model's answer to a key rests on the sentence that names it") {
  const TemporaryFolder folder;
  write_retrieval_model(folder.path() / "model");
  const NeedleText text = needle_text(7);
  write_file(folder.file("prompt.txt"), text.words + "\n");
  const ProgramResult result =
      in_folder(folder, {"cite", "-m", "model", "-f", "prompt.txt", "--generate", "1", "--json"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const json document = parse_json(result.out);
  CHECK(document["answer"]["tokens"][0]["id"] == text.answer);
  CHECK(document["answer"]["given"] == false);
  CHECK(document["n_prompt_tokens"] == text.ids.size());
  const json* first = sentence_of_rank(document, 1);
  REQUIRE(first != nullptr);
  CHECK((*first)["first_token"] == text.sentences[text.needle]);
  CHECK((*first)["n_tokens"] == text.sentences[text.needle + 1] - text.sentences[text.needle]);
  CHECK((*first)["matters"] == true);
  CHECK((*first)["logprob_change"] < -2.0);
  CHECK((*sentence_of_rank(document, 2))["matters"] == false);
}

TEST_CASE("cite: a given answer, the demo model's documents, and the same in every format") {
  const TemporaryFolder folder;
  write_file(folder.file("story.txt"), kStory);
  write_file(folder.file("other.md"), "# Nothing\n\nThe boy ate.\n");
  const std::vector<std::string> words = {
      "cite",     "--doc",      "other.md", "--doc",    "story.txt", "What did Anna find?",
      "--answer", "an old map", "-o",       "all.json", "-o",        "all.csv"};
  const ProgramResult result = in_folder(folder, words);
  REQUIRE(result.exit_code == 0);
  CHECK(mentions(result.out, {"story.txt:2:1", "[1] Anna found an old map in the attic."}));
  const json document = read_json(folder.file("all.json"));
  CHECK(document["question"] == "What did Anna find?");
  CHECK(document["documents"][0]["name"] == "other.md");
  const json& first = *sentence_of_rank(document, 1);
  const std::string story = kStory;
  const std::size_t begin = first["begin"];
  const std::size_t end = first["end"];
  CHECK(story.substr(begin, end - begin) == "Anna found an old map in the attic.");
  CHECK(first["column"] == 1);
  CHECK(document["documents"][1]["sentences"][4]["line"] == 2);
  CHECK(document["documents"][1]["sentences"][4]["column"] == 37);
  CHECK(contains(result.out, "story.txt:2:37"));
  double sum = 0.0;
  std::string answer;
  for (const json& token : document["answer"]["tokens"]) {
    sum += token["logprob"].get<double>();
    answer += token["token"];
  }
  CHECK(sum == doctest::Approx(document["answer"]["logprob"].get<double>()));
  CHECK(answer == " an old map");
  const std::vector<std::string> rows = lines_of(read_file(folder.file("all.csv")));
  REQUIRE(rows.size() == 1 + 2 + 5);
  CHECK(rows[0] == "rank,document,line,column,begin,end,n_tokens,logprob_change,attention,text");
  CHECK(rows[1].starts_with("1,\"story.txt\",2,1,"));
  CHECK(rows[1].ends_with(",\"Anna found an old map in the attic.\""));
}

TEST_CASE("cite: --print-prompt prints the prompt that the model gets") {
  const TemporaryFolder folder;
  write_file(folder.file("a.md"), "One.\n");
  CHECK(in_folder(folder, {"cite", "--doc", "a.md", "Why?", "--print-prompt"}).out ==
        "a.md:\nOne.\n\nQuestion: Why?\nAnswer:\n");
  CHECK(in_folder(folder, {"cite", "Why not?", "--print-prompt"}).out == "Why not?\n");
  // Two documents with the same name get different titles.
  std::filesystem::create_directory(folder.path() / "b");
  write_file(folder.file("b/a.md"), "Two.");
  CHECK(in_folder(folder, {"cite", "--doc", "a.md", "--doc", "b/a.md", "-", "--print-prompt"},
                  "Why?\n")
            .out == "a.md:\nOne.\n\nb/a.md:\nTwo.\n\nQuestion: Why?\nAnswer:\n");
  CHECK(in_folder(folder, {"cite", "--doc", "-", "Why?", "--print-prompt"}, "One.").out ==
        "standard input:\nOne.\n\nQuestion: Why?\nAnswer:\n");
}

TEST_CASE("cite: a space is put before an answer that lacks one, in scripts that have spaces") {
  const auto first_token = [](const std::string& prompt, const std::string& answer) {
    const json document = attnviz_json({"cite", prompt, "--answer", answer});
    return document["answer"]["tokens"][0]["token"].get<std::string>();
  };
  CHECK(first_token("The cat", "sat") == " sat");
  CHECK(first_token("The cat", " sat") == " sat");
  CHECK(first_token("The cat ", "sat") == " sat");  // a token of the answer
  CHECK_FALSE(first_token("猫は", "寝た").starts_with(' '));
}

TEST_CASE("cite: the model's answer ends at the end of a line; long sentences can be cut") {
  const json document =
      attnviz_json({"cite", "The cat sat on the mat because it was tired", "--span-words", "4"});
  CHECK(document["documents"][0]["sentences"].size() == 3);
  CHECK(document["span_words"] == 4);
  CHECK(document["answer"]["tokens"].size() <= 32);
  CHECK_FALSE(contains(document["answer"]["text"].get<std::string>(), "\n"));
  const json few = attnviz_json({"cite", "The cat sat. The dog", "--generate", "2"});
  CHECK(few["answer"]["tokens"].size() == 2);
  CHECK_FALSE(few.contains("span_words"));
  CHECK(few["generated"]["ended_by"] == "length");
}

TEST_CASE("cite: retrieval heads are measured when asked for, and reported separately") {
  const json document = attnviz_json(
      {"cite", "The cat sat. The dog ran. The cat", "--generate", "1", "--retrieval-heads"});
  REQUIRE(document["retrieval_heads"].is_array());
  const std::vector<std::string> heads = document["retrieval_heads"];
  // The demo model's induction heads are among them.
  CHECK(std::ranges::find(heads, "2.1") != heads.end());
  CHECK(std::ranges::find(heads, "2.3") != heads.end());
  CHECK(sentence_of_rank(document, 1)->contains("retrieval_attention"));
  CHECK_FALSE(
      attnviz_json({"cite", "The cat sat. The", "--generate", "1"}).contains("retrieval_heads"));
}

TEST_CASE("cite: edges that are hidden in the prompt are not hidden in the probes of heads") {
  const auto heads_with = [](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"cite", "The cat sat. The dog ran. The cat", "--generate",
                                      "1", "--retrieval-heads"};
    words.insert(words.end(), more.begin(), more.end());
    return attnviz_json(words)["retrieval_heads"];
  };
  const json all = heads_with({});
  REQUIRE(std::ranges::find(all, "2.1") != all.end());
  CHECK(heads_with({"--hide", "*>*"}) == all);
  CHECK(heads_with({"--hide", "4-8>0-3"}) == all);
  CHECK(heads_with({"--ablate", "2.1"}) != all);  // what is ablated is ablated there, too
}

TEST_CASE("cite: no format has a change for the one token that predicts the answer") {
  const TemporaryFolder folder;
  const ProgramResult result = in_folder(
      folder, {"cite", "The cat sat. The", "--generate", "1", "-o", "a.json", "-o", "a.csv"});
  REQUIRE(result.exit_code == 0);
  const json document = read_json(folder.file("a.json"));
  const json& last = *sentence_of_rank(document, 2);
  CHECK(last["text"] == "The");
  CHECK(last["logprob_change"].is_null());
  CHECK(last["matters"] == false);
  CHECK((*sentence_of_rank(document, 1))["logprob_change"].is_number());
  CHECK(document["logprob_change_without_all"].is_number());
  const std::vector<std::string> rows = lines_of(read_file(folder.file("a.csv")));
  REQUIRE(rows.size() == 3);
  CHECK(contains(rows[2], ",13,16,1,,0."));
  CHECK(rows[2].ends_with(",\"The\""));
}

TEST_CASE("cite: where nothing at all can be hidden, the change without all is null") {
  const json document = attnviz_json({"cite", "The", "--no-bos", "--generate", "1"});
  CHECK((*sentence_of_rank(document, 1))["logprob_change"].is_null());
  CHECK(document["logprob_change_without_all"].is_null());
}

TEST_CASE("cite: a table escapes what a terminal would obey, and leaves all else as it was") {
  const TemporaryFolder folder;
  write_file(folder.file("b\x1b.md"), "A \x1b[31mred \acat\tsat, \"he\nsaid\".\n");
  const ProgramResult result = in_folder(folder, {"cite", "--doc", "b\x1b.md", "Why?", "--answer",
                                                  "red", "-o", "-", "--format", "csv"});
  REQUIRE(result.exit_code == 0);
  CHECK(contains(result.out, "1,\"b\\x1B.md\",1,"));
  CHECK(result.out.ends_with(",\"A \\x1B[31mred \\x07cat⇥sat, \"\"he\nsaid\"\".\"\n"));
  CHECK_FALSE(contains(result.out, "\r"));
}

TEST_CASE("cite: the beginning of a prompt that is too long is left out when asked for") {
  const TemporaryFolder folder;
  std::string text;
  for (std::size_t i = 0; i < 200; ++i) {
    text += "The cat sat.\n\n";
  }
  write_file(folder.file("long.md"), text);
  write_file(folder.file("short.md"), "Anna found an old map.\n");
  const std::vector<std::string> words = {"cite", "--doc",      "long.md", "--doc", "short.md",
                                          "Who?", "--truncate", "left",    "-o",    "a.json"};
  const ProgramResult written = in_folder(folder, words);
  CAPTURE(written.err);
  REQUIRE(written.exit_code == 0);
  CHECK(mentions(written.err, {"224"}));  // 32 are kept for the answer
  const json document = read_json(folder.file("a.json"));
  CHECK(document["n_prompt_tokens"] == 224);
  const json& sentences = document["documents"][0]["sentences"];
  REQUIRE(!sentences.empty());
  CHECK(sentences.size() < 100);
  CHECK(sentences.back()["line"] == 399);
  CHECK(document["documents"][1]["sentences"][0]["text"] == "Anna found an old map.");
  const ProgramResult given =
      in_folder(folder, {"cite", "-f", "long.md", "--truncate", "left", "--answer", "The dog"});
  CHECK(mentions(given.err, {"256"}));
  CHECK(given.exit_code == 0);
  std::string question = "Who";
  for (std::size_t i = 0; i < 300; ++i) {
    question += " sat";
  }
  const ProgramResult none =
      in_folder(folder, {"cite", "--doc", "short.md", question, "--truncate", "left"});
  CHECK(none.exit_code == 2);
  CHECK(mentions(none.err, {"256"}));
}

TEST_CASE("cite: masks and temperatures work as in other commands, and are recorded") {
  const std::vector<std::string> words = {"cite", "Tom sat. It rained. The cat", "--answer", "sat"};
  const auto with = [&words](const std::vector<std::string>& more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return attnviz_json(all);
  };
  const json plain = with({});
  const json hot = with({"--temperature", "4"});
  CHECK(hot["temperature"] == 4.0);
  CHECK(hot["answer"]["logprob"] != plain["answer"]["logprob"]);
  CHECK(with({"--no-scale"})["scale"] == false);
  const json narrow = with({"--mask", "window:2"});
  CHECK(narrow["mask"] == "window:2");
  CHECK(contains(narrow["notes"].dump(), "\"mask window:2\""));
  CHECK(narrow["documents"][0]["sentences"][0]["logprob_change"] == 0.0);  // no query sees it
}

TEST_CASE("cite: invalid questions are refused, saying what was expected") {
  const TemporaryFolder folder;
  write_file(folder.file("a.md"), "One. Two.");
  write_file(folder.file("blank.md"), " \n");
  std::string text = "One.";
  for (std::size_t i = 0; i < 3000; ++i) {
    text += " cat";
  }
  write_file(folder.file("long.md"), text);
  struct Refusal {
    std::vector<std::string> words;
    int exit_code;
    std::vector<std::string> named;
  };
  const std::vector<Refusal> refusals = {
      {{"--doc", "none.md", "Why?"}, 1, {"none.md"}},
      {{"--doc", "blank.md", "Why?"}, 2, {"blank.md"}},
      {{"--doc", "-", "-"}, 2, {"--doc -"}},
      {{"--doc", "a.md", "Why?", "--answer", " "}, 2, {"--answer"}},
      {{"Why?", "--answer", "a", "--generate", "3"}, 2, {"--answer", "--generate"}},
      {{"Why?", "--matters", "1"}, 2, {"--matters", "\"1\""}},
      {{"--doc", "a.md", "Why?", "-o", "a.md", "--format", "json"}, 2, {"a.md"}},
      {{"--doc", "long.md", "Why?"}, 2, {"256", "--truncate left"}},
      {{"-f", "long.md", "-m", "demo"}, 2, {"256"}},
      {{"Why?", "-m", ATTNVIZ_SOURCE_DIR "/samples/four-heads.json"}, 2, {"four-heads.json"}},
      {{"Why?", "-m", kModels + "roberta-mlm"}, 2, {"roberta-mlm"}},
      {{"Why?", "--truncate", "right"}, 2, {"--truncate", "left", "\"right\""}},
      {{"Why?", "--truncate", "left", "--print-prompt"}, 2, {"--print-prompt", "--truncate"}},
      {{"Why?", "--mask", "none"}, 2, {"none"}},
      {{"Why?", "-o", "a.png"}, 2, {"png"}}};
  for (const Refusal& refusal : refusals) {
    std::vector<std::string> words = {"cite"};
    words.insert(words.end(), refusal.words.begin(), refusal.words.end());
    const ProgramResult result = in_folder(folder, words);
    CAPTURE(result.err);
    CHECK(result.exit_code == refusal.exit_code);
    CHECK(mentions(result.err, refusal.named));
    CHECK(result.out.empty());
  }
  CHECK(read_file(folder.file("a.md")) == "One. Two.");
}

}  // namespace attnviz::test
