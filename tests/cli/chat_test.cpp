// Chats: messages through a model's own template, turns in what is shown, faults of prompts.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/gguf_writer.h"

namespace attnviz::test {
namespace {

using nlohmann::json;

// A tokenizer of words whose files have a template, and a random model.
class Chat {
 public:
  Chat() {
    write("tokenizer.json", R"({
      "added_tokens": [
        {"id": 0, "content": "<s>", "special": true},
        {"id": 1, "content": "<|user|>", "special": true},
        {"id": 2, "content": "<|assistant|>", "special": true},
        {"id": 3, "content": "<|system|>", "special": true}],
      "pre_tokenizer": {"type": "WhitespaceSplit"},
      "post_processor": {"type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                   {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}},
      "model": {"type": "WordLevel", "unk_token": "?",
                "vocab": {"<s>": 0, "<|user|>": 1, "<|assistant|>": 2, "<|system|>": 3, "?": 4,
                          "hi": 5, "there": 6, "yes": 7}}})");
    write("tokenizer_config.json", R"({"bos_token": "<s>"})");
    write("chat_template.jinja",
          "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\n{% endfor %}"
          "{% if add_generation_prompt %}<|assistant|>{% endif %}");
  }

  void write(const std::string& name, const std::string& bytes) const {
    write_file(folder_.file(name), bytes);
  }
  ProgramResult run(std::vector<std::string> arguments, std::string input = {}) const {
    arguments.insert(arguments.end(), {"--tokenizer", folder_.file("tokenizer.json")});
    return in_folder(folder_, std::move(arguments), std::move(input));
  }
  json tokens(std::vector<std::string> arguments, std::string input = {}) const {
    arguments.insert(arguments.begin(), "tokenize");
    arguments.emplace_back("--json");
    return parse_json(run(std::move(arguments), std::move(input)).out);
  }
  void check_fails(std::vector<std::string> arguments, int exit_code,
                   const std::vector<std::string>& named, std::string input = {}) const {
    const ProgramResult result = run(std::move(arguments), std::move(input));
    CAPTURE(result.err);
    CHECK(result.exit_code == exit_code);
    CHECK(mentions(result.err, named));
  }

 private:
  TemporaryFolder folder_;
};

constexpr const char* kMessages = R"([{"role": "user", "content": "hi"},
  {"role": "assistant", "content": [{"type": "text", "text": "yes"}]},
  {"role": "user", "content": "hi there"}])";

}  // namespace

TEST_CASE("--chat: a text is a user's message, with tokens of the template and one BOS") {
  const Chat chat;
  const json document = chat.tokens({"--chat", "hi there"});
  CHECK(document["text"] == "<s><|user|>hi there\n<|assistant|>");
  CHECK(document["token_ids"] == json({0, 1, 5, 6, 2}));
  CHECK(document["turns"] == json::parse(R"([{"role": null, "begin": 0, "end": 1},
    {"role": "user", "begin": 1, "end": 4}, {"role": null, "begin": 4, "end": 5}])"));
  CHECK(chat.tokens({"--system", "yes", "hi"})["token_ids"] == json({0, 3, 7, 1, 5, 2}));
  CHECK(chat.tokens({"--chat", "hi", "--no-generation-prompt"})["token_ids"] == json({0, 1, 5}));
  CHECK(chat.tokens({"--chat", "hi", "--bos"})["token_ids"] == json({0, 1, 5, 2}));
}

TEST_CASE("--chat: where a template writes no BOS, the tokenizer's is left out, unless asked for") {
  const Chat chat;
  chat.write("chat_template.jinja", "{% for m in messages %}{{ m.content }}{% endfor %}");
  CHECK(chat.tokens({"--chat", "hi"})["token_ids"] == json({5}));
  CHECK(chat.tokens({"--chat", "--bos", "hi"})["token_ids"] == json({0, 5}));
}

TEST_CASE("--messages: a JSON list of a file or of standard input, in three forms") {
  const Chat chat;
  const json expected = {0, 1, 5, 2, 7, 1, 5, 6, 2};
  chat.write("m.json", kMessages);
  CHECK(chat.tokens({"--messages", "m.json"})["token_ids"] == expected);
  CHECK(chat.tokens({"--messages", "-"}, kMessages)["token_ids"] == expected);
  CHECK(chat.tokens({"--messages", "-"},
                    R"({"messages": )" + std::string(kMessages) + "}")["token_ids"] == expected);
  std::string line = kMessages;
  std::replace(line.begin(), line.end(), '\n', ' ');
  CHECK(chat.tokens({"--chat", "--json-lines"}, line + "\n")["token_ids"] == expected);
}

TEST_CASE("--messages: null content is none in a template") {
  const Chat chat;
  chat.write(
      "chat_template.jinja",
      "{% for m in messages %}{% if m.content is none %}yes{% else %}hi{% endif %} {% endfor %}");
  CHECK(chat.tokens({"--messages", "-"}, R"([{"role": "user", "content": ""},
      {"role": "assistant", "content": null}])")["token_ids"] == json({5, 7}));
}

TEST_CASE(
    "--messages: malformed lists are errors with the place; what is not rendered is refused") {
  const Chat chat;
  const std::pair<const char*, std::pair<int, const char*>> cases[] = {
      {"[]", {3, "standard input"}},
      {"7", {3, "standard input"}},
      {"[7]", {3, "standard input[0]"}},
      {R"([{"role": "user"}])", {3, "standard input[0]"}},
      {R"([{"role": 7, "content": "a"}])", {3, "standard input[0].role"}},
      {R"([{"role": "user", "content": 7}])", {3, "standard input[0].content"}},
      {R"([{"role": "user", "content": [{"type": "image"}]}])", {4, "[0].content[0].type"}},
      {R"({"messages": [{"role": "user", "content": "a"}], "model": "m"})", {4, "model"}},
      {R"({"messages": [{"role": "user", "content": "a"}], "tools": [{"name": "f"}]})",
       {4, "tools[0].name"}},
      {"[", {3, "standard input"}}};
  for (const auto& one : cases) {
    CAPTURE(one.first);
    chat.check_fails({"tokenize", "--messages", "-"}, one.second.first, {one.second.second},
                     one.first);
  }
  chat.check_fails({"tokenize", "--messages", "-", "--system", "b"}, 2, {"--system"},
                   R"([{"role": "system", "content": "a"}, {"role": "user", "content": "a"}])");
}

TEST_CASE("--messages: a message that the template leaves out is an error that names it") {
  const Chat chat;
  chat.write("chat_template.jinja",
             "{% for m in messages if m.role != 'tool' %}{{ m.content }}\n{% endfor %}");
  const std::string messages = R"([{"role": "user", "content": "hi", "name": "anna", "id": 7},
      {"role": "tool", "content": "hi"}])";
  chat.check_fails({"tokenize", "--messages", "-"}, 4,
                   {"standard input[1], role \"tool\": content"}, messages);
  chat.write("chat_template.jinja", "{{ messages[-1].content }}");
  chat.check_fails({"tokenize", "--chat", "hi", "--system", "yes"}, 4,
                   {"--system, role \"system\""});
}

TEST_CASE("--tools: a JSON list that the template writes out") {
  const Chat chat;
  chat.write("chat_template.jinja",
             "{% for t in tools or [] %}{{ t.function.name }} {% endfor %}"
             "{% for m in messages %}{{ m.content }} {% endfor %}");
  chat.write("tools.json", R"([{"type": "function", "function": {"name": "yes"}}])");
  chat.write("none.json", "{}");
  CHECK(chat.tokens({"--chat", "hi", "--tools", "tools.json"})["token_ids"] == json({7, 5}));
  CHECK(chat.tokens({"--messages", "-", "--tools", "tools.json"},
                    R"([{"role": "user", "content": "hi"}])")["token_ids"] == json({7, 5}));
  CHECK(chat.tokens({"--chat", "--json-lines", "--tools", "tools.json"},
                    "[{\"role\": \"user\", \"content\": \"hi\"}]\n")["token_ids"] == json({7, 5}));
  CHECK(chat.tokens({"--messages", "-"},
                    R"({"messages": [{"role": "user", "content": "hi"}],
                        "tools": [{"function": {"name": "yes"}}]})")["token_ids"] == json({7, 5}));
  chat.check_fails({"tokenize", "--chat", "hi", "--tools", "none.json"}, 3, {"none.json"});
  chat.check_fails({"tokenize", "--chat", "hi", "--tools", "gone.json"}, 1, {"gone.json"});
  chat.check_fails({"tokenize", "hi", "--tools", "tools.json"}, 2, {"--tools", "--chat"});
  chat.check_fails({"tokenize", "--messages", "-", "--tools", "tools.json"}, 2,
                   {"\"tools\"", "--tools"},
                   R"({"messages": [{"role": "user", "content": "hi"}], "tools": []})");
}

TEST_CASE("--chat: options that describe the text in another way exclude it") {
  const Chat chat;
  chat.check_fails({"tokenize", "--chat", "--ids", "1"}, 2, {"--ids", "--chat"});
  chat.check_fails({"tokenize", "--messages", "m", "hi"}, 2, {"TEXT", "--messages"});
  chat.check_fails({"tokenize", "--chat", "--pair", "a", "hi"}, 2, {"--pair", "--chat"});
  chat.check_fails({"tokenize", "--print-prompt", "hi"}, 2, {"--print-prompt", "--chat"});
  chat.check_fails({"tokenize", "--no-generation-prompt", "hi"}, 2,
                   {"--no-generation-prompt", "--chat"});
}

TEST_CASE("--chat: lines with something that no template writes out are refused") {
  const Chat chat;
  const std::vector<std::string> command = {"tokenize", "--chat", "--json-lines"};
  chat.check_fails(command, 3, {"line 1: \"ids\""}, "{\"ids\": [1]}");
  chat.check_fails(command, 3, {"line 2: \"pair\""}, "\"a\"\n{\"text\": \"a\", \"pair\": \"b\"}");
  chat.check_fails(command, 3, {"line 1: \"system\""}, R"({"text": "a", "system": "Be brief."})");
  chat.check_fails({"tokenize", "--json-lines"}, 3, {"--chat"}, "[]");
}

TEST_CASE("--chat without a template names the files that were looked for") {
  const ProgramResult result = attnviz({"--chat", "hi"});
  CHECK(result.exit_code == 2);
  for (const char* name :
       {"chat_template.jinja", "tokenizer_config.json", "tokenizer.chat_template", "Ollama"}) {
    CHECK(contains(result.err, name));
  }
}

TEST_CASE("--print-prompt prints the rendered text, and nothing else") {
  const Chat chat;
  CHECK(chat.run({"tokenize", "--chat", "hi", "--print-prompt"}).out ==
        "<s><|user|>hi\n<|assistant|>");
  CHECK(chat.run({"tokenize", "--chat", "--lines", "--print-prompt", "--no-generation-prompt"},
                 "hi\nyes\n")
            .out == "<s><|user|>hi\n\n<s><|user|>yes\n\n");
}

TEST_CASE("a hand-written prompt gets a warning, and with --lint-prompt is an error") {
  const Chat chat;
  const ProgramResult plain = chat.run({"tokenize", "<|user|>hi"});
  CHECK(plain.exit_code == 0);
  CHECK(mentions(plain.err, {"\"<|user|>\"", "--chat"}));
  CHECK(chat.run({"tokenize", "<|user|>hi", "-q"}).err.empty());
  chat.check_fails({"tokenize", "<|user|>hi", "--lint-prompt"}, 5, {"\"<|user|>\""});
  chat.check_fails({"tokenize", "<s>hi", "--special", "--lint-prompt"}, 5, {"\"<s>\""});
  chat.check_fails({"--random", "<|user|>hi", "--lint-prompt"}, 5, {"\"<|user|>\""});
  for (const std::vector<std::string>& fine :
       {std::vector<std::string>{"hi"}, {"<|user|>hi", "--special"}, {"<|user|>hi", "--chat"}}) {
    std::vector<std::string> arguments = {"tokenize", "--lint-prompt"};
    arguments.insert(arguments.end(), fine.begin(), fine.end());
    const ProgramResult result = chat.run(arguments);
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
  }
}

TEST_CASE("turns in JSON: who said what, and how much attention it gets") {
  const Chat chat;
  const std::vector<std::string> show = {"--random", "--seed", "3", "--messages", "-", "--json"};
  const json document = parse_json(chat.run(show, kMessages).out);
  REQUIRE(document["turns"].size() == 5);
  CHECK(document["turns"][2] == json::parse(R"({"role": "assistant", "begin": 3, "end": 5})"));
  const json& shares = document["turn_attention"];
  // The document's own weights, summed over the turn and averaged over heads.
  const json& heads = document["attention"][0];
  for (std::size_t turn = 0; turn < 5; ++turn) {
    double mean = 0.0;
    double last = 0.0;
    for (const json& head : heads) {
      for (std::size_t query = 0; query < 9; ++query) {
        for (std::size_t key = document["turns"][turn]["begin"];
             key < document["turns"][turn]["end"]; ++key) {
          const double weight = head[query][key];
          mean += weight / 9.0 / static_cast<double>(heads.size());
          last += query == 8 ? weight / static_cast<double>(heads.size()) : 0.0;
        }
      }
    }
    CHECK(shares["mean"][turn].get<double>() == doctest::Approx(mean).epsilon(1e-6));
    CHECK(shares["from_last"][turn].get<double>() == doctest::Approx(last).epsilon(1e-6));
  }
  std::vector<std::string> verbose = show;
  verbose.back() = "-v";
  const ProgramResult shown = chat.run(verbose, kMessages);
  CHECK(mentions(shown.err, {"user#2", "3 tokens", "33.3 %"}));
  // Rendering the saved document keeps the turns.
  const ProgramResult again = attnviz({"render", "-", "--json"}, document.dump());
  CHECK(parse_json(again.out)["turns"] == document["turns"]);
}

TEST_CASE("--fold: weights over turns are sums over keys, averaged over queries") {
  const Chat chat;
  const auto run = [&chat](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"--random", "--seed", "3", "--messages", "-", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return parse_json(chat.run(std::move(arguments), kMessages).out);
  };
  const json tokens = run({"--head", "0.1"});
  const json turns = run({"--head", "0.1", "--fold", "turns"});
  CHECK(turns["tokens"] == json({"<s>", "user", "assistant", "user#2", "<|assistant|>"}));
  CHECK(turns["merged"] == "turns");
  const json& weights = tokens["attention"][0][0];
  double sum = 0.0;
  for (std::size_t query = 5; query < 8; ++query) {
    sum += weights[query][1].get<double>() + weights[query][2].get<double>();
  }
  CHECK(turns["attention"][0][0][3][1].get<double>() == doctest::Approx(sum / 3.0).epsilon(1e-6));
  CHECK(run({"--fold", "lines"})["merged"] == "lines");
  CHECK(run({"--merge", "sentences"})["merged"] == "sentences");
  const ProgramResult refused = attnviz({"--fold", "turns", "The cat"});
  CHECK(refused.exit_code == 2);
  CHECK(mentions(refused.err, {"turns", "--chat"}));
}

}  // namespace attnviz::test
