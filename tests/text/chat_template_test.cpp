#include "attnviz/text/template/chat_template.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "support/json.h"
#include "support/repeated.h"
#include "support/stopwatch.h"

namespace attnviz {

namespace {

namespace fs = std::filesystem;

const fs::path kChat = fs::path(ATTNVIZ_SOURCE_DIR) / "../shared/reference/chat";

bool has_references() {
  if (!fs::exists(kChat)) {
    MESSAGE("SKIPPED: no ../shared/reference/chat");
  }
  return fs::exists(kChat);
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<ChatMessage> messages_of(const nlohmann::json& list) {
  std::vector<ChatMessage> messages;
  for (const nlohmann::json& one : list) {
    messages.push_back({one["role"], one["content"]});
  }
  return messages;
}

// 2025-07-26 09:05:03, a Saturday.
std::tm some_time() {
  std::tm time{};
  time.tm_year = 125;
  time.tm_mon = 6;
  time.tm_mday = 26;
  time.tm_hour = 9;
  time.tm_min = 5;
  time.tm_sec = 3;
  time.tm_isdst = -1;
  std::mktime(&time);
  return time;
}

// Turns are in order, disjoint and inside the text; every user message has its text in its turn.
void check_turns(const ChatPrompt& prompt, const std::vector<ChatMessage>& messages) {
  std::size_t end = 0;
  for (const ChatTurn& turn : prompt.turns) {
    CHECK(turn.begin >= end);
    CHECK(turn.end > turn.begin);
    CHECK(turn.end <= prompt.text.size());
    CHECK(turn.message < messages.size());
    end = turn.end;
  }
}

// The messages left out are those that jinja2, or Go, left out.
void check_left_out(const ChatPrompt& prompt, const std::vector<ChatMessage>& messages,
                    const std::string& expected) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string& content = messages[i].content;
    const std::size_t begin = content.find_first_not_of(" \n");
    const std::size_t end = content.find_last_not_of(" \n") + 1;
    if (expected.find(content.substr(begin, end - begin)) == std::string::npos) {
      missing.push_back(i);
    }
  }
  std::vector<std::size_t> found;
  for (const templates::ChatPlace& omitted : prompt.left_out) {
    found.push_back(omitted.message.value());
  }
  CHECK(found == missing);
}

ChatTemplate chatml() {
  return {
      "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
      "message['content'] + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}"
      "{{ '<|im_start|>assistant\\n' }}{% endif %}",
      TemplateLanguage::kJinja, "test", "", ""};
}

}  // namespace

TEST_CASE("chat templates of real models: every rendering of the references, byte for byte") {
  if (!has_references()) {
    return;
  }
  const nlohmann::json reference = test::read_json(kChat / "expected.json");
  std::size_t n_same = 0;
  for (const nlohmann::json& one : reference["expected"]) {
    const std::string name = one["template"];
    const std::string conversation = one["conversation"];
    CAPTURE(name);
    CAPTURE(conversation);
    const nlohmann::json& facts = reference["templates"][name];
    const ChatTemplate with{text_of(kChat / "templates" / (name + ".jinja")),
                            TemplateLanguage::kJinja, name, facts["bos_token"], facts["eos_token"]};
    const std::vector<ChatMessage> messages = messages_of(reference["conversations"][conversation]);
    const ChatRequest request{one["add_generation_prompt"], some_time()};
    std::string found;
    try {
      const ChatPrompt prompt = render_chat(with, messages, request);
      found = prompt.text;
      check_turns(prompt, messages);
      check_left_out(prompt, messages, one.value("text", ""));
    } catch (const Error& error) {
      found = error.what();
      CHECK(one.contains("error"));
      if (one.contains("error")) {
        const std::string words = one["error"];
        CHECK(found.find(words) != std::string::npos);
        ++n_same;
        continue;
      }
    }
    CHECK(!one.contains("error"));
    const std::string expected = one.value("text", "");
    CHECK(found == expected);
    n_same += found == expected ? 1U : 0U;
  }
  CHECK(n_same == reference["expected"].size());
}

TEST_CASE("Ollama's templates: every rendering of the references, byte for byte") {
  if (!has_references()) {
    return;
  }
  const nlohmann::json reference = test::read_json(kChat / "go/expected.json");
  const nlohmann::json conversations = test::read_json(kChat / "expected.json")["conversations"];
  for (const nlohmann::json& one : reference["expected"]) {
    const std::string name = one["template"];
    const std::string conversation = one["conversation"];
    CAPTURE(name);
    CAPTURE(conversation);
    const ChatTemplate with{text_of(kChat / "go" / (name + ".gotmpl")), TemplateLanguage::kGo, name,
                            "", ""};
    const std::vector<ChatMessage> messages = messages_of(conversations[conversation]);
    std::string found;
    try {
      const ChatPrompt prompt = render_chat(with, messages, {true, some_time()});
      found = prompt.text;
      check_turns(prompt, messages);
      check_left_out(prompt, messages, one["text"]);
    } catch (const Error& error) {
      found = error.what();
    }
    const std::string expected = one["text"];
    CHECK(found == expected);
  }
}

TEST_CASE("the output of each round of a loop over the messages is the turn of its message") {
  const std::vector<ChatMessage> messages = {
      {"system", "Be short."}, {"user", "Hi"}, {"assistant", "Hello"}, {"user", "Hi"}};
  const ChatPrompt prompt = render_chat(chatml(), messages, {});
  REQUIRE(prompt.turns.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const ChatTurn& turn = prompt.turns[i];
    CHECK(turn.message == i);
    CHECK(prompt.text.substr(turn.begin, turn.end - turn.begin) ==
          "<|im_start|>" + messages[i].role + "\n" + messages[i].content + "<|im_end|>\n");
  }
  CHECK(prompt.text.substr(prompt.turns.back().end) == "<|im_start|>assistant\n");
}

TEST_CASE("a system message outside of the loop is found by its text") {
  const ChatTemplate with{
      "{{ bos_token }}{% if messages[0]['role'] == 'system' %}<<SYS>>{{ messages[0].content | trim "
      "}}<</SYS>>{% set messages = messages[1:] %}{% endif %}"
      "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}",
      TemplateLanguage::kJinja, "test", "<s>", "</s>"};
  const ChatPrompt prompt = render_chat(
      with, std::vector<ChatMessage>{{"system", " Be short. "}, {"user", "Be short."}}, {});
  CHECK(prompt.text == "<s><<SYS>>Be short.<</SYS>>[user]Be short.");
  REQUIRE(prompt.turns.size() == 2);
  CHECK(prompt.turns[0].message == 0);
  CHECK(prompt.turns[0].begin == 3);
  CHECK(prompt.turns[0].end == prompt.text.find("[user]"));
  CHECK(prompt.turns[1].message == 1);
}

TEST_CASE("a template knows all special tokens by name; missing ones are undefined") {
  ChatTemplate with{
      "{{ bos_token is defined }} {{ eos_token }} {{ pad_token }} "
      "{{ sep_token is defined }} {{ additional_special_tokens }}"};
  const std::vector<ChatMessage> hi = {{"user", "Hi"}};
  CHECK(render_chat(with, hi, {}).text == "False   False ");
  with.eos_token = "</s>";
  with.other_tokens = {{"pad_token", "<pad>"}};
  with.additional_special_tokens = {"<a>", "<b>"};
  CHECK(render_chat(with, hi, {}).text == "False </s> <pad> False ['<a>', '<b>']");
  // As in llama.cpp, which always gives a text.
  with.tokenizer_adds_bos = true;
  CHECK(render_chat(with, hi, {}).text == "True </s> <pad> False ['<a>', '<b>']");
}

TEST_CASE("null content is none in Jinja, and empty in Go") {
  const std::vector<ChatMessage> messages = {{"user", "Hi"}, {"assistant", "", true}};
  const ChatTemplate jinja{
      "{% for m in messages %}{{ m.content is none }}{{ m.content }};{% endfor %}"};
  CHECK(render_chat(jinja, messages, {}).text == "FalseHi;TrueNone;");
  const ChatTemplate go{"{{ range .Messages }}[{{ .Content }}]{{ end }}", TemplateLanguage::kGo};
  CHECK(render_chat(go, messages, {}).text == "[Hi][]");
}

TEST_CASE("a template that refuses the messages is reported with its own words and the position") {
  const ChatTemplate with{
      "{% for m in messages %}\n  {{ raise_exception('No system here') }}"
      "{% endfor %}",
      TemplateLanguage::kJinja, "chat_template", "", ""};
  CHECK_THROWS_WITH_AS(render_chat(with, std::vector<ChatMessage>{{"user", "Hi"}}, {}),
                       "chat_template: line 2, column 21: No system here", Error);
  CHECK_THROWS_AS(render_chat(with, {}, {}), Error);
}

TEST_CASE("Ollama's templates without .Messages: run once per turn, up to the response") {
  const ChatTemplate with{
      "{{ if .System }}S:{{ .System }} {{ end }}{{ if .Prompt }}U:{{ .Prompt }} "
      "{{ end }}A:{{ .Response }}<end>",
      TemplateLanguage::kGo, "TEMPLATE", "", ""};
  const std::vector<ChatMessage> messages = {
      {"system", "x"}, {"user", "1"}, {"user", "2"}, {"assistant", "3"}, {"user", "4"}};
  const ChatPrompt prompt = render_chat(with, messages, {});
  CHECK(prompt.text == "S:x U:1\n\n2 A:3<end>U:4 A:");
  const ChatTemplate silent{"U:{{ .Prompt }} A:", TemplateLanguage::kGo, "TEMPLATE", "", ""};
  CHECK(render_chat(silent, messages, {}).text == "U:1\n\n2 A:3U:4 A:");
}

TEST_CASE("Ollama's templates that would take for ever, or all memory, are stopped") {
  const auto ranges = [](std::size_t count, const std::string& inside) {
    return test::repeated("{{range $}}", count) + inside + test::repeated("{{end}}", count) +
           "{{.Messages}}";
  };
  for (const std::string& source :
       {ranges(5, "{{" + test::repeated(".a", 200000) + "}}"),
        ranges(5, "{{not 1" + test::repeated(" 1", 200000) + "}}"),
        ranges(6, "{{if and 1" + test::repeated(" 1", 200000) + "}}{{end}}"),
        ranges(6, "{{." + std::string(1000000, 'a') + "}}")}) {
    CAPTURE(source.substr(0, 80));
    const ChatTemplate with{source, TemplateLanguage::kGo, "TEMPLATE", "", ""};
    CHECK_THROWS_AS(render_chat(with, std::vector<ChatMessage>{{"user", "1"}}, {}), Error);
  }
  // Nested templates, each of which is cut where the response begins.
  const ChatTemplate deep{test::repeated("{{if .System}}", 390) +
                              test::repeated("{{.Prompt}}", 100000) +
                              test::repeated("{{end}}", 390) + "U{{.Prompt}} A{{.Response}}",
                          TemplateLanguage::kGo, "TEMPLATE", "", ""};
  CHECK(render_chat(deep, std::vector<ChatMessage>{{"user", "1"}}, {}).text == "U1 A");
}

// According to Go's documentation.
TEST_CASE("Go templates: numbers, and the output of print, println and printf") {
  const auto rendered = [](const std::string& source) {
    const ChatTemplate with{source + "{{ .Messages }}", TemplateLanguage::kGo, "t", "", ""};
    try {
      const std::string text = render_chat(with, std::vector<ChatMessage>{{"user", "1"}}, {}).text;
      return text.substr(0, text.rfind('['));
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  for (const auto& one : std::vector<std::pair<std::string, std::string>>{
           {"{{ print 1.5 -2 +3 }} {{ 1e3 }} {{ .5 }} {{ 1e21 }} {{ 0.00001 }} {{ -1.5e-7 }}",
            "1.5 -2 3 1000 0.5 1e+21 1e-05 -1.5e-07"},
           {"{{ print 1 2 \"a\" 3 true }}|{{ print \"a\" \"b\" }}|{{ println \"a\" \"b\" 1 }}",
            "1 2a3 true|ab|a b 1\n"},
           {"{{ print }}{{ println }}{{ printf \"%d%% %s %v %q\" 1 \"a\" 1.0 \"b\" }}",
            "\n1% a 1 \"b\""},
           {"{{ range $i, $x := .Messages }}{{ break }}{{ end }}{{ eq 1 2 1 }} {{ ne 1 2 }}",
            "true true"}}) {
    CAPTURE(one.first);
    CHECK(rendered(one.first) == one.second);
  }
  for (const auto& one : std::vector<std::pair<std::string, std::string>>{
           {"{{ printf \"%d\" \"a\" }}", "printf: %d of str"},
           {"{{ printf \"%s\" 1 }}", "printf: %s of int"},
           {"{{ printf \"%s\" \"a\" 1 }}", "printf: 1 argument too many"},
           {"{{ printf \"%\" }}", "printf: %  is not known"},
           {"{{ len 3 }}", "len of int"},
           {"{{ len .Messages 3 }}", "len: expected 1 argument, found 2"},
           {"{{ eq 1 \"1\" }}", "int and str are not compared"},
           {"{{ ne 1 2 3 }}", "ne: expected 2 arguments, found 3"},
           {"{{ lt 1 2 3 }}", "lt: expected 2 arguments, found 3"},
           {"{{ not 1 2 }}", "not: expected 1 argument, found 2"},
           {"{{ currentDate 1 }}", "currentDate: expected 0 arguments, found 1"},
           {"{{ break }}", "break outside of a range"},
           {"{{ range .Messages }}{{ else }}{{ continue }}{{ end }}",
            "continue outside of a range"},
           {"{{ 0x1F }}", "a number that is none"},
           {"{{ 017 }}", "a number that is none"},
           {"{{ 1.5.a }}", "a number that is none"}}) {
    CAPTURE(one.first);
    const std::string found = rendered(one.first);
    CAPTURE(found);
    CHECK(found.starts_with("t: line 1, column "));
    CHECK(found.ends_with(one.second));
  }
}

}  // namespace attnviz
