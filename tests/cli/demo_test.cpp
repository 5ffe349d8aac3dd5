// What the embedded model's heads do, in numbers computed from the program's own JSON:
// tests/reference/demo/README.md has the definitions.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {

namespace {

using nlohmann::json;

constexpr std::size_t kHeads = 16;

json reference(const std::string& name) {
  return read_json(kReference + "demo/" + name);
}

std::vector<json> reference_lines(const std::string& name) {
  std::vector<json> items;
  const std::string file = kReference + "demo/" + name;
  for (const std::string& line : lines_of(read_file(file))) {
    items.push_back(parse_json(line));
  }
  return items;
}

// What the command line `words` answers to each of `texts`, strings or {"ids": …}.
std::vector<json> documents(const std::vector<json>& texts,
                            const std::vector<std::string>& words = {}) {
  std::string input;
  for (const json& text : texts) {
    input += text.dump() + '\n';
  }
  std::vector<std::string> arguments = words;
  arguments.insert(arguments.end(), {"--json-lines", "--json", "-q"});
  const ProgramResult run = attnviz(std::move(arguments), std::move(input));
  REQUIRE(run.exit_code == 0);
  std::vector<json> found;
  for (const std::string& line : lines_of(run.out)) {
    found.push_back(parse_json(line));
  }
  REQUIRE(found.size() == texts.size());
  return found;
}

// The mean of a number over many queries.
struct Mean {
  double sum = 0.0;
  std::size_t count = 0;
  void add(double number) {
    sum += number;
    ++count;
  }
  double value() const { return sum / static_cast<double>(count); }
};

const json& head_of(const json& document, std::size_t number) {
  return document["attention"][number / 4][number % 4];
}

// The tokens that share a byte with a word.
std::vector<std::size_t> tokens_in(const json& ranges, const json& word) {
  std::vector<std::size_t> tokens;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i][0] < word[1] && ranges[i][1] > word[0] && ranges[i][0] < ranges[i][1]) {
      tokens.push_back(i);
    }
  }
  REQUIRE(!tokens.empty());
  return tokens;
}

// Sentences with a pronoun, as the program cuts them into tokens.
struct Sentences {
  std::vector<json> items;
  std::vector<json> texts;
  std::vector<json> ranges;  // of the tokens, in bytes

  explicit Sentences(const std::string& file) : items(reference_lines(file)) {
    texts.reserve(items.size());
    for (const json& item : items) {
      texts.push_back(item["text"]);
    }
    ranges.reserve(items.size());
    for (const json& document : documents(texts, {"tokenize"})) {
      ranges.push_back(document["ranges"]);
    }
  }

  // The weight that the pronoun's last token puts on a word.
  double weight_on(const char* word, std::size_t sentence, const json& pattern) const {
    const json& item = items[sentence];
    const std::size_t query = tokens_in(ranges[sentence], item["pronoun"]).back();
    double sum = 0.0;
    for (const std::size_t key : tokens_in(ranges[sentence], item[word])) {
      sum += pattern[query][key].get<double>();
    }
    return sum;
  }
};

// The head that wins most sentences, among those that look at the antecedent at all.
std::size_t pronoun_head() {
  const Sentences sentences("pronouns_choose.jsonl");
  const std::vector<json> found = documents(sentences.texts);
  std::size_t best = kHeads;
  std::size_t most = 0;
  for (std::size_t head = 0; head < kHeads; ++head) {
    std::size_t wins = 0;
    Mean antecedent;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const json& pattern = head_of(found[i], head);
      const double on_antecedent = sentences.weight_on("antecedent", i, pattern);
      antecedent.add(on_antecedent);
      wins += on_antecedent > sentences.weight_on("distractor", i, pattern) ? 1U : 0U;
    }
    if (antecedent.value() >= 0.1 && wins > most) {
      best = head;
      most = wins;
    }
  }
  return best;
}

}  // namespace

TEST_CASE("demo: the default model, by name and without") {
  const char* const text = "The cat sat on the mat because it was tired";
  const ProgramResult plain = attnviz({text});
  CHECK(plain.exit_code == 0);
  CHECK(plain.err.empty());
  CHECK(mentions(plain.out, {"attention: demo\n", "demo", "attnviz"}));
  CHECK(attnviz({"-m", "demo", text}).out == plain.out);
  const json document = attnviz_json({text});
  CHECK(document["model"]["name"] == "demo");
  CHECK(contains(document["model"]["origin"], "attnviz"));
  CHECK(document["model"]["family"] == "llama");
  CHECK(document["tokens"].size() == 11);
  for (const char* command : {"inspect", "tokenize"}) {
    CHECK(attnviz({command, "-m", "demo", text}).out == attnviz({command, text}).out);
  }
  const std::string info = attnviz({"info"}).out;
  CHECK(attnviz({"info", "-m", "demo"}).out == info);
  CHECK(mentions(info, {"info", "demo", "llama", "attnviz"}));
  CHECK(mentions(attnviz({"inspect", text}).out, {"demo", "attnviz"}));
}

TEST_CASE("demo: the name comes before a file's, and a path names the file") {
  const TemporaryFolder folder;
  write_file(folder.file("demo"), "no model");
  ProgramRun run;
  run.folder = folder.path();
  run.arguments = {"-m", "demo", "The cat", "-q"};
  CHECK(attnviz(run).exit_code == 0);
  run.arguments = {"-m", "./demo", "The cat", "-q"};
  CHECK(attnviz(run).exit_code == 3);
}

TEST_CASE("demo: what was drawn is drawn again from its document, with the model's origin") {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.json");
  const ProgramResult drawn = attnviz({"The cat sat", "-o", file});
  REQUIRE(drawn.exit_code == 0);
  REQUIRE(attnviz({"The cat sat", "-q", "-o", folder.file("a.png")}).exit_code == 0);
  const json origin = read_json(file)["model"]["origin"];
  CHECK(contains(read_file(folder.file("a.png")), "\"origin\": " + origin.dump()));
  const ProgramResult again = attnviz({"render", file});
  CHECK(again.exit_code == 0);
  CHECK(contains(again.out, "demo: " + origin.get<std::string>()));
}

TEST_CASE("demo: each of more than 2,000 common words is one token") {
  std::string text;
  std::size_t n_words = 0;
  for (std::string line :
       lines_of(read_file(ATTNVIZ_SOURCE_DIR "/assets/demo/training/words/common.txt"))) {
    if (line.empty() || line.front() == '[') {
      continue;
    }
    std::replace(line.begin(), line.end(), ':', ' ');  // base:past
    text += line + " ";
    n_words += 1 + static_cast<std::size_t>(std::count(line.begin(), line.end(), ' '));
  }
  text.pop_back();
  REQUIRE(n_words > 2000);
  ProgramRun run;
  run.arguments = {"tokenize", "--json"};
  run.input = text;
  const json tokens = parse_json(attnviz(run).out)["tokens"];
  CHECK(tokens.size() == 1 + n_words);  // the BOS
  CHECK(attnviz_json({"tokenize", "I go home now, hello and thank you"})["tokens"].size() == 10);
}

TEST_CASE("demo: a text far from its vocabulary gets a warning, one within it does not") {
  const ProgramResult far = attnviz({"猫坐在垫子上"});
  CHECK(far.exit_code == 0);
  CHECK(mentions(far.err, {"demo", "18 of 19 tokens"}));  // a space, and three bytes each
  CHECK(mentions(far.err, {"\"猫\"", "\"坐\"", "\"在\""}));
  const std::string note = "18 of 19 tokens";
  CHECK(contains(attnviz({"inspect", "猫坐在垫子上"}).err, note));
  CHECK(attnviz({"-q", "猫坐在垫子上"}).err.empty());
  // Readers of the drawing, the picture or the document must see it, too.
  CHECK(contains(attnviz({"-q", "猫坐在垫子上"}).out, note));
  CHECK(contains(attnviz({"inspect", "-q", "猫坐在垫子上"}).out, note));
  CHECK(contains(attnviz_json({"-q", "猫坐在垫子上"})["notes"].dump(), note));
  CHECK_FALSE(contains(attnviz({"-q", "The dog chased the cat"}).out, "of 6 tokens"));
  CHECK(attnviz({"The dog chased the cat"}).err.empty());
  CHECK(attnviz({"In 2024 the cat paid 1,000,000"}).err.empty());
  CHECK_FALSE(contains(attnviz({"--random", "猫坐在垫子上"}).err, "tokens"));
}

TEST_CASE("demo: the warning comes once, and only for the part of the text that is kept") {
  const std::string lines = attnviz({"--lines"}, "The cat sat\n猫坐在\n垫子上\n").err;
  CHECK(lines_of(lines).size() == 1);
  CHECK(mentions(lines, {"demo", "\"猫\""}));
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "The cat sat. ";
  }
  for (int i = 0; i < 100; ++i) {
    text += "猫";
  }
  const std::string right = attnviz({text, "--truncate", "right"}).err;
  CHECK_FALSE(contains(right, "\"猫\""));
  CHECK(contains(attnviz({text, "--truncate", "left"}).err, "\"猫\""));
  const std::string refused = attnviz({text}).err;
  CHECK_FALSE(contains(refused, "\"猫\""));
  CHECK(mentions(refused, {"256", "--truncate"}));
}

TEST_CASE("demo: its own tokenizer begins a text, and cannot be replaced") {
  CHECK(attnviz_json({"The cat"})["tokens"] == json({"<|bos|>", " The", " cat"}));
  CHECK(attnviz_json({"The cat", "--no-bos"})["tokens"] == json({" The", " cat"}));
  for (const char* command : {"show", "inspect", "tokenize"}) {
    const ProgramResult run = attnviz({command, "-m", "demo", "--tokenizer", "words", "The cat"});
    CHECK(run.exit_code == 2);
    CHECK(mentions(run.err, {"--random"}));
  }
}

TEST_CASE("demo: a name that is nearly its own gets a hint") {
  const TemporaryFolder folder;
  ProgramRun run;
  run.folder = folder.path();
  run.environment = {{"HOME", folder.path().string()}};
  run.arguments = {"-m", "demp", "The cat"};
  CHECK(mentions(attnviz(run).err, {"\"demo\""}));
}

TEST_CASE("demo: it predicts and writes") {
  const char* const text = "Harry Potter is a wizard. Harry";
  CHECK(attnviz_json({text, "--predict", "1"})["predictions"]["top"][0]["token"] == " Potter");
  const json document = attnviz_json({text, "--generate", "3"});
  CHECK(document["generated"]["token_ids"].size() == 3);
  CHECK(document["generated"]["text"].get<std::string>().starts_with(" Potter"));
}

TEST_CASE("demo: a text longer than its context is refused, with the option that shortens it") {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "cat ";
  }
  const ProgramResult run = attnviz({text});
  CHECK(run.exit_code == 2);
  CHECK(mentions(run.err, {"256", "--truncate"}));
  CHECK(attnviz({text, "--truncate", "right", "-q"}).exit_code == 0);
}

TEST_CASE("demo: one head looks at the previous token, another at what came next the time before") {
  const json pairs = reference("random_pairs.json");
  std::vector<json> texts;
  for (const json& row : pairs["rows"]) {
    texts.push_back({{"ids", row}});
  }
  const std::vector<json> found = documents(texts);
  double best_previous = 0.0;
  double best_induction = 0.0;
  for (std::size_t head = 0; head < kHeads; ++head) {
    Mean previous;
    Mean induction;
    for (const json& document : found) {
      const json& pattern = head_of(document, head);
      std::map<std::size_t, std::size_t> last_at;
      for (std::size_t query = 0; query < pattern.size(); ++query) {
        const auto id = document["token_ids"][query].get<std::size_t>();
        if (query > 0) {
          previous.add(pattern[query][query - 1].get<double>());
        }
        if (const auto before = last_at.find(id); before != last_at.end()) {
          induction.add(pattern[query][before->second + 1].get<double>());
        }
        last_at[id] = query;
      }
    }
    CHECK(std::abs(previous.value() - pairs["previous"][head / 4][head % 4].get<double>()) < 1e-3);
    CHECK(std::abs(induction.value() - pairs["induction"][head / 4][head % 4].get<double>()) <
          1e-3);
    best_previous = std::max(best_previous, previous.value());
    best_induction = std::max(best_induction, induction.value());
  }
  CHECK(best_previous >= 0.95);
  CHECK(best_induction >= 0.8);
}

TEST_CASE("demo: a head finds what a pronoun refers to, in sentences not used for choosing it") {
  const std::size_t head = pronoun_head();
  const json figures = reference("figures.json")["pronoun"];
  REQUIRE(head < kHeads);
  CHECK(head == figures["layer"].get<std::size_t>() * 4 + figures["head"].get<std::size_t>());
  const Sentences sentences("pronouns_score.jsonl");
  const std::vector<json> found =
      documents(sentences.texts, {"--head", fmt::format("{}.{}", head / 4, head % 4)});
  std::map<std::string, Mean> wins;
  Mean antecedent;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const json& pattern = found[i]["attention"][0][0];
    const double on_antecedent = sentences.weight_on("antecedent", i, pattern);
    const bool won = on_antecedent > sentences.weight_on("distractor", i, pattern);
    antecedent.add(on_antecedent);
    wins["all"].add(won ? 1.0 : 0.0);
    wins[sentences.items[i]["group"].get<std::string>()].add(won ? 1.0 : 0.0);
  }
  CHECK(wins["all"].value() >= 0.81);
  CHECK(wins["it_they"].value() >= 0.97);
  CHECK(wins["all"].sum == figures["all"]["wins"].get<double>());
  CHECK(std::abs(antecedent.value() - figures["all"]["antecedent"].get<double>()) < 1e-3);
}

}  // namespace attnviz::test
