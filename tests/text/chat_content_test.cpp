// What templates are given of a chat, and what they leave out of its prompt.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/text/template/chat_json.h"
#include "attnviz/text/template/chat_template.h"
#include "support/failure.h"
#include "support/json.h"
#include "support/repeated.h"
#include "support/stopwatch.h"

namespace attnviz {
namespace {

// A Jinja template's output for messages in JSON, followed by what it leaves out in brackets.
std::string prompt_of(const std::string& source, const std::string& json,
                      TemplateLanguage language = TemplateLanguage::kJinja) {
  const ChatTemplate with{source, language, "t"};
  const Chat chat = read_chat(json, "m");
  const ChatPrompt prompt = render_chat(with, chat.messages, {.now = {}, .tools = chat.tools});
  std::string text = prompt.text;
  for (const templates::ChatPlace& omitted : prompt.left_out) {
    text += "{" + (omitted.message ? std::to_string(*omitted.message) : "tools") + " " +
            omitted.part + "}";
  }
  return text;
}

constexpr const char* kTwoParts = R"([{"role": "user", "content": [
    {"type": "text", "text": "Look: "}, {"type": "text", "text": " a cat."}]}])";

}  // namespace

TEST_CASE("templates are given content in parts unchanged, or joined if they do not accept lists") {
  // Gemma 3 trims each part; a template that prints content, or adds it to a text, does not accept
  // lists.
  CHECK(prompt_of("{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}"
                  "{% for p in m.content %}{{ p.text | trim }}{% endfor %}{% endif %}{% endfor %}",
                  kTwoParts) == "Look:a cat.");
  for (const char* const printed : {"{{ m.content }}", "{{ '' + m.content }}",
                                    "{{ m.content | trim }}", "{{ m['content'] ~ '' }}"}) {
    CAPTURE(printed);
    CHECK(prompt_of(std::string("{% for m in messages %}") + printed + "{% endfor %}", kTwoParts) ==
          "Look:  a cat.");
  }
  // Each message separately: a system text is printed, parts of users are iterated over.
  CHECK(prompt_of("{{ messages[0].content }};{% for m in messages[1:] %}{% for p in m.content %}"
                  "{{ p.text }}{% endfor %};{% endfor %}",
                  R"([{"role": "system", "content": [{"type": "text", "text": "S"}]},
                      {"role": "user", "content": "a"},
                      {"role": "user", "content": [{"type": "text", "text": "b"}]}])") == "S;a;b;");
}

TEST_CASE("a text becomes one part of type text if a template reads parts") {
  const std::string parts =
      "{% for m in messages %}{% for p in m.content | selectattr('type', 'equalto', 'text') %}"
      "{{ p['text'] }}{% endfor %}{% endfor %}";
  CHECK(prompt_of(parts, R"([{"role": "user", "content": "Hi"}])") == "Hi");
  CHECK(prompt_of("{% for m in messages %}{{ m.content[0]['text'] }}{% endfor %}",
                  R"([{"role": "user", "content": "Hi"}])") == "Hi");
  CHECK(prompt_of("{% for m in messages %}{{ m.content }}{% endfor %}",
                  R"([{"role": "user", "content": "Hi"}])") == "Hi");
}

TEST_CASE("what a template leaves out is reported: a message, a part, a call, a tool") {
  CHECK(prompt_of("{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}"
                  "{% endfor %}",
                  R"([{"role": "tool", "content": "a"}, {"role": "user", "content": "a"}])") ==
        "a{0 content}");
  CHECK(prompt_of("{% for m in messages %}{{ m.content[0].text }}{% endfor %}", kTwoParts) ==
        "Look: {0 content[1].text}");
  const std::string with_calls = R"({"tools": [{"type": "function", "function": {"name": "now"}}],
      "messages": [{"role": "assistant", "content": null, "tool_calls":
        [{"id": "1", "function": {"name": "now", "arguments": {"b": 1, "a": 2.5}}}]}]})";
  CHECK(prompt_of("{% for m in messages %}{{ m.content }}{% endfor %}", with_calls) ==
        "None{0 tool_calls[0].function.name}{tools [0].function.name}");
  CHECK(prompt_of("{{ tools[0].function.name }}{% for m in messages %}"
                  "{{ m.tool_calls[0].function | tojson }}{% endfor %}",
                  with_calls) == R"(now{"name": "now", "arguments": {"b": 1, "a": 2.5}})");
  const std::string answers = R"([{"role": "assistant", "content": "", "refusal": "No."},
      {"role": "assistant", "content": "", "function_call": {"name": "now", "arguments": "{}"}}])";
  CHECK(prompt_of("{% for m in messages %}{{ m.content }}{% endfor %}",
                  R"([{"role": "assistant", "content": "", "tool_calls": ["now"]}])") ==
        "{0 tool_calls[0]}");
  CHECK(prompt_of("{% for m in messages %}{{ m.content }}{% endfor %}", answers) ==
        "{0 refusal}{1 function_call.name}");
  CHECK(prompt_of(
            "{% for m in messages %}{{ m.refusal }}{{ m.function_call.name if m.function_call }}"
            "{% endfor %}",
            answers) == "No.now");
}

TEST_CASE("a template's error about messages without content names the first of them") {
  const test::Failure failure = test::failure_of([] {
    prompt_of("{% for m in messages %}{{ '>' + m.content }}{% endfor %}",
              R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null}])");
  });
  CHECK(failure.message.ends_with(" (m[1]: no content, where some templates need \"\")"));
}

TEST_CASE("a template that trims, escapes or drops earlier thoughts leaves nothing out") {
  const std::string chat = R"([{"role": "user", "content": " \"a\"\n"},
      {"role": "assistant", "content": "<think>x</think>\n\nb", "reasoning_content": "r"},
      {"role": "user", "content": " "}])";
  CHECK(
      prompt_of("{% for m in messages %}{{ m.content.split('</think>')[-1] | trim | upper | tojson "
                "}}{% endfor %}",
                chat) == R"("\"A\"""B""")");
}

TEST_CASE("every key of a message is passed to a template, with its type and in order") {
  CHECK(
      prompt_of("{% for m in messages %}{{ m.name }} {{ m.n + 1 }} {{ m.refusal is none }} "
                "{{ m.x is defined }} {{ m | tojson }}{% endfor %}",
                R"([{"role": "user", "z": [1, 2.0, true], "content": "a", "name": "anna", "n": 1,
                       "refusal": null, "n": 2}])") ==
      R"(anna 3 True False {"role": "user", "z": [1, 2.0, true], "content": "a", "name": "anna", )"
      R"("n": 2, "refusal": null})");
}

// transformers' get_chat_template().
TEST_CASE("among several templates tool_use is used if tools are given, else default") {
  const auto used = [](const ChatTemplate& with, bool has_tools) {
    const Chat chat = read_chat(R"([{"role": "user", "content": "a"}])", "m");
    ChatRequest request;
    request.tools = has_tools ? read_tools("[]", "t") : nullptr;
    const ChatPrompt prompt = render_chat(with, chat.messages, request);
    return prompt.where + ": " + prompt.text;
  };
  ChatTemplate with{.source = "d{{ messages[0].content }}",
                    .where = "D",
                    .named = {{"rag", "r{{ messages[0].content }}", "R"},
                              {"tool_use", "t{{ messages[0].content }}", "T"}}};
  CHECK(used(with, false) == "D: da");
  CHECK(used(with, true) == "T: ta");
  with.source = "";
  CHECK(used(with, true) == "T: ta");
  const test::Failure failure = test::failure_of([&] { used(with, false); });
  CHECK(failure.kind == ErrorKind::kUsage);
  CHECK(failure.message ==
        "D: expected a chat template called \"default\", found \"rag\" and \"tool_use\"; "
        "\"tool_use\" is used when tools are given");
  with.named.pop_back();
  CHECK_THROWS_AS(used(with, true), Error);
}

TEST_CASE("blank parts are written as a text, not as a printed list") {
  const std::string prints = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";
  const std::string user = R"({"role": "user", "content": [{"type": "text", "text": "Hi"}]})";
  for (const char* const blank : {R"([{"type": "text", "text": ""}])", "[]"}) {
    CAPTURE(blank);
    const std::string system = fmt::format(R"({{"role": "system", "content": {}}})", blank);
    CHECK(prompt_of(prints, fmt::format("[{},{}]", system, user)) == "<system><user>Hi");
    CHECK(prompt_of(prints, fmt::format(R"([{},{{"role": "user", "content": "Hi"}}])", system)) ==
          "<system><user>Hi");
    CHECK(prompt_of(prints, fmt::format("[{}]", system)) == "<system>");
    CHECK(prompt_of("{% for m in messages %}<{{ m.role }}>{% for p in m.content %}{{ p.text }};"
                    "{% endfor %}{% endfor %}",
                    fmt::format("[{},{}]", user, system)) ==
          (blank == std::string_view("[]") ? "<user>Hi;<system>" : "<user>Hi;<system>;"));
    // A template that leaves blank messages out loses nothing.
    CHECK(prompt_of("{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}"
                    "{% endfor %}",
                    fmt::format("[{},{}]", system, user)) == "Hi");
  }
}

TEST_CASE("a text that is in the prompt is not reported as left out, however it got there") {
  const std::string parts = R"([{"role": "user", "content": [{"type": "text", "text": "ok"},
                                                             {"type": "text", "text": "B"}]}])";
  const std::string strict = "{% if p.text | length > 9 %}{{ raise_exception('long') }}{% endif %}";
  const auto each = [](const std::string& body) {
    return "{% for m in messages %}{% for p in m.content %}" + body + "{% endfor %}{% endfor %}";
  };
  CHECK(prompt_of(each(strict + "{{ p.text }}|"), parts) == "ok|B|");
  CHECK(prompt_of(each(strict + "{{ p.text | upper }}"), parts) == "OKB");
  CHECK(prompt_of(each(strict + "{{ p.text if p.text != 'B' }}|"), parts) ==
        "ok||{0 content[1].text}");
  const std::string cut = "{% for m in messages %}{{ m.content[:10] }};{% endfor %}";
  CHECK(prompt_of(cut, R"([{"role": "user", "content": "Hello"}])") == "Hello;");
  CHECK(prompt_of(cut, R"([{"role": "user", "content": "Hello, World"}])") ==
        "Hello, Wor;{0 content}");
  CHECK(prompt_of(cut, R"([{"role": "user", "content": "a"}, {"role": "user", "content": "a"}])") ==
        "a;a;");
  // But not text from another message or from the template.
  const std::string last = "user said: {{ messages[-1].content }}";
  for (const char* const said : {"user", "Hel", "hello"}) {
    CAPTURE(said);
    CHECK(prompt_of(last, std::string(R"([{"role": "user", "content": ")") + said +
                              R"("}, {"role": "user", "content": "Hello"}])") ==
          "user said: Hello{0 content}");
  }
}

TEST_CASE("members of a message keep their order, also if there are only two") {
  CHECK(prompt_of("{% for m in messages %}{{ m | tojson }}{% endfor %}",
                  R"([{"content": "a", "role": "user"}, {"role": "user", "content": "b"}])") ==
        R"({"content": "a", "role": "user"}{"role": "user", "content": "b"})");
}

// As filled by Ollama: its structs have only their fields, in JSON without spaces.
TEST_CASE("Ollama's templates have tools, calls, thoughts and tool results") {
  const std::string source =
      "{{ range .Tools }}{{ . }}{{ .Function.Name }}{{ end }}|{{ .Tools }}|{{ range .Messages }}"
      "{{ .Role }}:{{ .Content }}{{ .Thinking }}{{ .ToolName }}{{ .ToolCallID }}{{ range "
      ".ToolCalls }}"
      "{{ .Function.Name }} {{ .Function.Arguments }}{{ end }};{{ end }}";
  CHECK(
      prompt_of(source,
                R"({"messages": [{"role": "user", "content": "q", "name": "anna"},
      {"role": "assistant", "thinking": "hm", "tool_calls":
        [{"id": "7", "function": {"name": "f", "arguments": "{\"y\": \"<1>\", \"x\": 2}"}}]},
      {"role": "tool", "content": "r", "tool_name": "f"},
      {"role": "tool", "content": "s", "tool_call_id": "7"}],
      "tools": [{"type": "function", "strict": true, "function": {"parameters": {"required": ["x"],
        "properties": {"x": {"description": "d", "type": "integer"}}, "type": "object"},
        "description": "D", "name": "f"}}]})",
                TemplateLanguage::kGo) ==
      R"({"type":"function","function":{"name":"f","description":"D","parameters":)"
      R"({"type":"object","required":["x"],"properties":{"x":{"type":"integer","description":"d"}}}}}f)"
      R"(|[{"type":"function","function":{"name":"f","description":"D","parameters":)"
      R"({"type":"object","required":["x"],"properties":{"x":{"type":"integer","description":"d"}}}}}])"
      R"(|user:q;assistant:hmf {"y":"\u003c1\u003e","x":2};tool:rf;tool:s7;)");
  CHECK(prompt_of("{{ range .Messages }}{{ .Content }}{{ end }}",
                  R"([{"role": "assistant", "content": "a", "tool_calls":
                      [{"function": {"name": "f", "arguments": {}}}]}])",
                  TemplateLanguage::kGo) == "a{0 tool_calls[0].function.name}");
  CHECK(test::failure_of([] {
          prompt_of("{{ .Messages }}", R"([{"role": "user", "content": "a", "tool_calls": [7]}])",
                    TemplateLanguage::kGo);
        }).message == "m[0]: tool_calls: expected objects with a \"function\"");
}

TEST_CASE("chats in JSON: errors name the position of invalid parts") {
  const auto failure = [](const std::string& json) {
    return test::failure_of([&] { read_chat(json, "m"); }).message;
  };
  CHECK(failure(R"([{"role": "user", "content": 1e999}])").starts_with("m: not JSON: "));
  CHECK(failure(R"([{"role": "user", "content": "a", "id": 18446744073709551615}])") ==
        "m: expected whole numbers of 64 bits, below 2^63, found 18446744073709551615");
  for (const std::string number : {"123456789012345678901", "-9223372036854775809"}) {
    const test::Failure beyond = test::failure_of(
        [&] { read_tools(R"([{"function": {"name": "f", "maximum": )" + number + "}}]", "t"); });
    CHECK(beyond.kind == ErrorKind::kUnsupported);
    CHECK(beyond.message == "t: expected whole numbers of 64 bits, below 2^63, found " + number);
  }
  CHECK(read_tools(R"([{"a": -9223372036854775808, "b": 1e20, "c": 123456789012345678901.0}])",
                   "t") != nullptr);
  CHECK(failure(R"([{"role": "assistant", "content": "", "tool_calls": {"function": {}}}])") ==
        "m[0].tool_calls: expected a list of calls, found dict");
  for (const char* const media :
       {R"("images": ["iVBORw0KGgo="])", R"("audio": {"id": "a1"})", R"("images": "cat.png")"}) {
    const test::Failure refused = test::failure_of([&] {
      read_chat(std::string(R"([{"role": "user", "content": "a", )") + media + "}]", "m");
    });
    CHECK(refused.kind == ErrorKind::kUnsupported);
    CHECK(refused.message.ends_with(": attnviz reads only texts"));
  }
  CHECK(read_chat(R"([{"role": "user", "content": "a", "images": [], "audio": null}])", "m")
            .messages.size() == 1);
  CHECK(failure(test::repeated("[", 100000)).starts_with("m: expected at most 64 "));
  CHECK(failure(R"([{"role": "user", "content": [{"type": "text"}]}])") ==
        "m[0].content[0].text: expected a string, found none");
  CHECK(failure(R"([{"role": "assistant", "tool_calls": []}])") ==
        "m[0]: expected an object with \"role\" and \"content\"");
  CHECK(failure(R"({"messages": [{"role": "user", "content": "a"}], "tools": {}})") ==
        "m.tools: expected a list of tools, found dict");
  CHECK(test::failure_of([] { read_tools("[7]", "t"); }).message ==
        "t[0]: expected an object, found int");
  std::string many = R"([{"role": "user", "content": "a")";
  for (int i = 0; i < 200000; ++i) {
    many += ", \"k" + std::to_string(i) + "\": 0";
  }
  const test::Stopwatch watch;
  CHECK(read_chat(many + "}]", "m").messages.size() == 1);
  CHECK(watch.is_in_time());
}

}  // namespace attnviz
