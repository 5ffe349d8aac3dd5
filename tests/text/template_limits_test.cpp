// Chat templates and messages that would take long, need much memory, or give long messages.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/text/template/chat_template.h"
#include "support/failure.h"
#include "support/repeated.h"
#include "support/stopwatch.h"

namespace attnviz {

namespace {

ChatTemplate jinja(std::string source) {
  return {std::move(source), TemplateLanguage::kJinja, "t", "", ""};
}

std::vector<ChatMessage> numbered(std::size_t count) {
  std::vector<ChatMessage> messages;
  for (std::size_t i = 0; i < count; ++i) {
    messages.push_back({i % 2 == 0 ? "user" : "assistant", "a" + std::to_string(i) + ";"});
  }
  return messages;
}

std::string failure(const std::string& source, const std::vector<ChatMessage>& messages) {
  return test::failure_of([&] { render_chat(jinja(source), messages, {}); }).message;
}

}  // namespace

TEST_CASE("chat templates: messages are not searched for in a long text again and again") {
  CHECK(failure("{{ 'a b' * 1000000 }}", numbered(3000)) ==
        "t: the turn of each message: long texts or many names are read too often");
}

TEST_CASE("chat templates: the time is not requested again and again") {
  CHECK(failure("{% for i in range(2000) %}{% set x = strftime_now('%s' * 300) %}{% endfor %}",
                numbered(1)) ==
        "t: line 1, column 50: long texts or many names are read too often");
  const ChatTemplate few =
      jinja("{% for i in range(200) %}{{ strftime_now('%d%m%Y') }}{% endfor %}");
  CHECK(render_chat(few, numbered(1), {}).text.size() == 200 * 8);
}

TEST_CASE("chat templates: a long message that almost matches everywhere takes little work") {
  const std::vector<ChatMessage> messages = {
      {"user", std::string(400000, 'a') + "b" + std::string(100000, 'a')}};
  const test::Stopwatch watch;
  CHECK(render_chat(jinja("{{ 'a' * 8000000 }}"), messages, {}).turns.empty());
  CHECK(watch.is_in_time());
}

TEST_CASE("chat templates: two hundred thousand messages, each found after the previous one") {
  const std::vector<ChatMessage> messages = numbered(200000);
  const ChatTemplate with{"{{ .Prompt }}{{ .Response }}", TemplateLanguage::kGo, "t", "", ""};
  const test::Stopwatch watch;
  const ChatPrompt prompt = render_chat(with, messages, {});
  REQUIRE(prompt.turns.size() == messages.size());
  CHECK(prompt.turns.back().message == 199999);
  CHECK(prompt.turns.back().end == prompt.text.size());
  CHECK(watch.is_in_time());
}

TEST_CASE("chat templates: messages between the turns of others, and after them all") {
  const ChatPrompt prompt = render_chat(
      jinja("<{{ messages[0].content }}>{% for m in messages[1:2] %}{{ m.content }}{% endfor %}"
            "<{{ messages[2].content }}{{ messages[3].content }}>{% for m in messages[4:5] %}"
            "{{ m.content }}{% endfor %}<{{ messages[5].content }}{{ messages[6].content }}>"),
      numbered(7), {});
  CHECK(prompt.text == "<a0;>a1;<a2;a3;>a4;<a5;a6;>");
  REQUIRE(prompt.turns.size() == 6);
  std::string found;
  for (const ChatTurn& turn : prompt.turns) {
    found += std::to_string(turn.message) + "=" +
             prompt.text.substr(turn.begin, turn.end - turn.begin) + " ";
  }
  CHECK(found == "0=<a0;> 1=a1; 2=<a2;a3;> 4=a4; 5=<a5; 6=a6; ");
}

TEST_CASE("chat templates: a role is a word, and each turn has one") {
  const std::vector<ChatMessage> messages = {{std::string(257, 'u'), "x"}};
  CHECK(failure("{% for i in range(10000) %}x{% for m in messages %}y{% endfor %}{% endfor %}",
                messages)
            .starts_with("messages: expected a role of at most 256 bytes, found \"uuu"));
  CHECK(failure("x", {{std::string(256, 'u'), "x"}}) == "nothing was thrown");
}

TEST_CASE("Ollama's templates: limits hold for all turns together") {
  const ChatTemplate wide{std::string(100000, 'x') + "{{ .Response }}", TemplateLanguage::kGo,
                          "TEMPLATE", "", ""};
  CHECK(test::failure_of([&] {
          render_chat(wide, numbered(1000), {});
        }).message.find("the text is too long") != std::string::npos);
}

TEST_CASE("Jinja: nested filters are stopped, and escapes are counted before they are written") {
  CHECK(failure("{{ 'a' | map(" + test::repeated("'map', ", 5500) + "'upper') | length }}",
                numbered(1))
            .find("too deep") != std::string::npos);
  CHECK(failure("{{ ('\\x01' * 10000000) | tojson | tojson | length }}", numbered(1))
            .find("the texts are too long") != std::string::npos);
}

TEST_CASE("Jinja: control characters in a list are counted before they are written") {
  const test::Stopwatch watch;
  CHECK(failure("{% set s = '\\x01' * 10000000 %}{% set x = [s, s, s, s, s] ~ '' %}", numbered(1))
            .find("the texts are too long") != std::string::npos);
  CHECK(watch.is_in_time());
}

TEST_CASE("Jinja: a slice of a long text does not make a list of its characters") {
  const std::string text = "{% set s = 'é' * 4000000 %}";
  const auto rendered = [&](const std::string& of) {
    return render_chat(jinja(text + of), numbered(1), {}).text;
  };
  CHECK(rendered("{{ s[1:][:-1][::1] | length }} {{ s[-2:] }} {{ s[3:1] }}") == "3999998 éé ");
  CHECK(failure(text + "{{ s[::2] | length }}", numbered(1)).find("the texts are too long") !=
        std::string::npos);
}

TEST_CASE("chat templates: the time as a text of limited length, or an error") {
  CHECK(render_chat(jinja("{{ strftime_now('x' * 300) | length }}{{ strftime_now('') }}"),
                    numbered(1), {})
            .text == "300");
  CHECK(failure("{{ strftime_now('%9999d') }}", numbered(1))
            .find("strftime_now: the text is longer than 4094 bytes") != std::string::npos);
}

TEST_CASE("a template's very long refusal is cut") {
  const std::string message = failure("{{ raise_exception('a' * 4000000) }}", numbered(1));
  CHECK(message.size() < 2000);
  CHECK(message.ends_with("aaa…"));
  CHECK(failure("{{ raise_exception('\\x01' * 10000000) }}", numbered(1)).size() < 4200);
}

TEST_CASE("a template that exceeds the limits is run once, and letters cost more than copies") {
  const std::vector<ChatMessage> messages = {{"user", "a"},
                                             {.role = "user", .content = "", .is_null = true}};
  const auto steps = [&](const std::string& body) {
    return failure("{% for i in range(100000) %}" + body + "{% endfor %}", messages);
  };
  const test::Stopwatch watch;
  CHECK(steps("{% for j in range(100000) %}{% endfor %}").find("too many steps") !=
        std::string::npos);
  CHECK(failure("{% set s = 'a' * 10000000 %}{{ (s ~ s ~ s).lower() }}", messages)
            .find("are read too often") != std::string::npos);
  CHECK(watch.is_in_time());
}

}  // namespace attnviz
