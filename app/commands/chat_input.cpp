#include "commands/chat_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/text/template/chat_template.h"

namespace attnviz::app {

namespace {

using nlohmann::json;

constexpr const char* kSystem = "system";

// "[2].content" behind the name of the input.
class At {
 public:
  explicit At(std::string where) : where_(std::move(where)) {}

  At operator/(std::string_view key) const { return At(fmt::format("{}.{}", where_, key)); }
  At operator/(std::size_t index) const { return At(fmt::format("{}[{}]", where_, index)); }

  [[noreturn]] void fail(const std::string& what, ErrorKind kind = ErrorKind::kMalformed) const {
    throw Error(kind, fmt::format("{}: {}", where_, what));
  }

 private:
  std::string where_;
};

std::string text_of(const json& value, const At& at) {
  if (!value.is_string()) {
    at.fail(fmt::format("expected a string, found {}", value.type_name()));
  }
  return value.get<std::string>();
}

void expect_members(const json& object, std::initializer_list<std::string_view> known,
                    const At& at) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) == known.end()) {
      at.fail(fmt::format("{} is not rendered; attnviz knows {}", attnviz::quoted(key),
                          joined(std::vector<std::string>(known.begin(), known.end()), "and")),
              ErrorKind::kUnsupported);
    }
  }
}

std::string content_of(const json& value, const At& at) {
  if (value.is_null()) {
    return {};
  }
  if (!value.is_array()) {
    return text_of(value, at);
  }
  std::string text;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const json& part = value[i];
    const At here = at / i;
    if (!part.is_object() || !part.contains("type")) {
      here.fail("expected an object with a \"type\"");
    }
    if (const std::string type = text_of(part["type"], here / "type"); type != "text") {
      (here / "type")
          .fail(fmt::format("expected \"text\", found {}: attnviz reads texts alone",
                            attnviz::quoted(type)),
                ErrorKind::kUnsupported);
    }
    expect_members(part, {"type", "text"}, here);
    text += text_of(part.value("text", json()), here / "text");
  }
  return text;
}

}  // namespace

std::vector<ChatMessage> messages_in(const json& given, const std::string& where) {
  const bool is_object = given.is_object() && given.contains("messages");
  At at(where);
  if (is_object) {
    expect_members(given, {"messages"}, at);
    at = at / "messages";
  }
  const json& list = is_object ? given["messages"] : given;
  if (!list.is_array() || list.empty()) {
    at.fail("expected a list of messages: [{\"role\": \"user\", \"content\": \"Hi\"}]");
  }
  std::vector<ChatMessage> messages;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const json& one = list[i];
    const At here = at / i;
    if (!one.is_object() || !one.contains("role") || !one.contains("content")) {
      here.fail("expected an object with \"role\" and \"content\"");
    }
    expect_members(one, {"role", "content"}, here);
    messages.push_back({text_of(one["role"], here / "role"),
                        content_of(one["content"], here / "content"), one["content"].is_null()});
  }
  return messages;
}

std::vector<ChatMessage> messages_of(
    const std::variant<std::string, std::vector<TokenId>, std::vector<ChatMessage>>& content) {
  if (const auto* const text = std::get_if<std::string>(&content)) {
    return {{"user", *text}};
  }
  return std::get<std::vector<ChatMessage>>(content);
}

TokenizedText tokenize_chat(const Tokenizer& tokenizer, std::vector<ChatMessage> messages,
                            const InputOptions& options) {
  const ChatTemplate* const with = tokenizer.chat_template();
  if (with == nullptr) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--chat: there is no chat template beside the {} tokenizer: looked for "
                            "chat_template.jinja, \"chat_template\" in tokenizer_config.json and "
                            "in chat_template.json, tokenizer.chat_template in a GGUF file, and "
                            "the template of a model in Ollama's store",
                            tokenizer.name()));
  }
  if (with->language == TemplateLanguage::kGo && !options.generation_prompt) {
    throw Error(ErrorKind::kUsage,
                "--no-generation-prompt: templates of Ollama's always begin the answer");
  }
  const auto says_system = [](const ChatMessage& one) { return one.role == kSystem; };
  if (options.system) {
    if (std::ranges::any_of(messages, says_system)) {
      throw Error(ErrorKind::kUsage, "--system: the messages have a system message of their own");
    }
    messages.insert(messages.begin(), {kSystem, *options.system});
  }
  const bool has_system = std::ranges::any_of(messages, says_system);
  std::vector<ChatMessage> all;
  for (const ChatMessage& one : with->first) {
    if (!has_system || !says_system(one)) {
      all.push_back(one);
    }
  }
  // A system message stays in front of examples.
  const auto place =
      has_system && says_system(messages.front()) ? messages.begin() + 1 : messages.begin();
  messages.insert(place, all.begin(), all.end());
  ChatPrompt prompt = render_chat(
      *with, messages, {.add_generation_prompt = options.generation_prompt, .now = current_time()});
  attnviz::TokenizeOptions how;
  how.parse_special = true;
  const bool has_bos = !with->bos_token.empty() && prompt.text.starts_with(with->bos_token);
  how.add_special_tokens = with->tokenizer_adds_bos;
  how.bos = has_bos ? std::optional(false) : options.bos;
  TokenizedText text = tokenizer.tokenize(prompt.text, how);
  text.turns = std::move(prompt.turns);
  return text;
}

}  // namespace attnviz::app
