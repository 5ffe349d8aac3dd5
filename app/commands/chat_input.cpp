#include "commands/chat_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/text/template/chat_template.h"

namespace attnviz::app {

namespace {

constexpr const char* kSystem = "system";

// Refuses a text of the chat, or a tool, that the template leaves out of the prompt.
[[noreturn]] void fail_left_out(const templates::ChatPlace& place,
                                const std::vector<ChatMessage>& messages, const std::string& used) {
  std::string name = "tools" + place.part;
  if (place.message) {
    const ChatMessage& message = messages[*place.message];
    const std::string where =
        message.where.empty() ? fmt::format("message {}", *place.message) : message.where;
    name = fmt::format("{}, role {}: {}", where, attnviz::quoted(message.role), place.part);
  }
  throw Error(ErrorKind::kUnsupported,
              fmt::format("{}: the chat template does not write this into the prompt ({}): leave "
                          "it out of the chat, or use a template that reads it",
                          name, used));
}

}  // namespace

Chat chat_of(const std::variant<std::string, std::vector<TokenId>, Chat>& content) {
  if (const auto* const text = std::get_if<std::string>(&content)) {
    return {{{"user", *text}}};
  }
  return std::get<Chat>(content);
}

TokenizedText tokenize_chat(const Tokenizer& tokenizer, Chat chat, const InputOptions& options) {
  std::vector<ChatMessage>& messages = chat.messages;
  const ChatTemplate* const with = tokenizer.chat_template();
  tokenizer.check_chat_template();
  if (with == nullptr) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--chat: there is no chat template beside the {} tokenizer: looked for "
                            "chat_template.jinja, additional_chat_templates/, \"chat_template\" in "
                            "tokenizer_config.json and "
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
    messages.insert(messages.begin(),
                    {.role = kSystem, .content = *options.system, .where = "--system"});
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
  ChatPrompt prompt = render_chat(*with, messages,
                                  {.add_generation_prompt = options.generation_prompt,
                                   .now = current_time(),
                                   .tools = chat.tools});
  if (!prompt.left_out.empty()) {
    fail_left_out(prompt.left_out.front(), messages, prompt.where);
  }
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
