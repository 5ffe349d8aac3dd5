// Any bytes as a chat template, in Jinja and in Go: the messages become a text that contains their
// turns, or the template is refused with an Error.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/template/chat_template.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/fuzz_target.h"

namespace attnviz {

namespace {

void render(std::string_view source, TemplateLanguage language) {
  static const std::vector<ChatMessage> messages = {{"system", "Be short."},
                                                    {"user", "Hi — «you» 🙂\n"},
                                                    {"assistant", "<think>well</think>\nYes"},
                                                    {"user", ""}};
  const ChatTemplate chat = {.source = std::string(source),
                             .language = language,
                             .where = "fuzz",
                             .bos_token = "<s>",
                             .eos_token = "</s>"};
  test::refused_or_done([&] {
    const ChatPrompt prompt = render_chat(chat, messages, {.now = {}});
    std::size_t last = 0;
    for (const ChatTurn& turn : prompt.turns) {
      test::require(last <= turn.begin && turn.begin <= turn.end &&
                    turn.end <= prompt.text.size() && turn.message < messages.size());
      last = turn.end;
    }
  });
}

void read(std::string_view source) {
  render(source, TemplateLanguage::kJinja);
  render(source, TemplateLanguage::kGo);
}

}  // namespace

namespace test {

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds = {
      "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
      "message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}{% if add_generation_prompt %}"
      "{{ '<|im_start|>assistant\\n' }}{% endif %}",
      "{{ if .System }}<s>{{ .System }}{{ end }}{{ if .Prompt }}[INST] {{ .Prompt }} [/INST]"
      "{{ end }}{{ .Response }}",
      "{{- range $i, $_ := .Messages }}{{- $last := eq (len (slice $.Messages $i)) 1 -}}"
      "{{- if eq .Role \"user\" }}<u>{{ .Content }}{{ else if and (ne .Role \"tool\") $last }}"
      "<a>{{ .Content }}{{ end }}{{ if $last }}<e>{{ end }}{{ end }}{{/* c */}}"
      "{{ with .Tools }}{{ json . }}{{ end }}{{ currentDate }}{{ printf \"%s-%d\" .Model 3 }}"};
  const auto cases = nlohmann::json::parse(reference_file("chat/cases.json"));
  for (const auto& one : cases["cases"]) {
    seeds.push_back(one[0].get<std::string>());
  }
  return seeds;
}

void fuzz_input(std::string_view bytes) {
  read(bytes);
}

}  // namespace test

}  // namespace attnviz
