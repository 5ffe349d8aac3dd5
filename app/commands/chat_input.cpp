#include "commands/input.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/template/chat_template.h"

namespace attnviz::app {

namespace {

constexpr const char* kSystem = "system";

// Refuses a chat from which the template leaves out a message part or a tool.
[[noreturn]] void fail_left_out(const templates::ChatPlace& place,
                                const std::vector<ChatMessage>& messages, const std::string& used) {
  std::string name = "tools" + place.part;
  if (place.message) {
    const ChatMessage& message = messages[*place.message];
    const std::string where =
        message.where.empty() ? fmt::format("message {}", *place.message) : message.where;
    name = fmt::format("{}, role {}: {}", where, in_quotes(message.role), place.part);
  }
  throw Error(ErrorKind::kUnsupported,
              fmt::format("{}: the chat template does not write this into the prompt ({}): remove "
                          "it from the chat, or use a template that reads it",
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
    throw Error(
        ErrorKind::kUsage,
        fmt::format("--chat: the {} tokenizer has no chat template: looked for "
                    "chat_template.jinja, additional_chat_templates/, \"chat_template\" in "
                    "tokenizer_config.json and in chat_template.json, tokenizer.chat_template in a "
                    "GGUF file, and the template of a model in Ollama's store",
                    tokenizer.name()));
  }
  if (with->language == TemplateLanguage::kGo && !options.generation_prompt) {
    throw Error(ErrorKind::kUsage,
                "--no-generation-prompt: Ollama's templates always begin the answer");
  }
  const auto says_system = [](const ChatMessage& one) { return one.role == kSystem; };
  if (options.system) {
    if (std::ranges::any_of(messages, says_system)) {
      throw Error(ErrorKind::kUsage, "--system: the messages already have a system message");
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
  // A system message stays before the examples.
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

namespace {

// The position and the problem from nlohmann's message, which repeats the input, even megabytes of
// it.
std::string syntax_problem(std::string_view message) {
  constexpr std::size_t kColumns = 200;
  const std::size_t column = message.find("column ");
  return fit_width(message.substr(column == std::string_view::npos ? 0 : column), kColumns);
}

// The depth to which lists and objects are nested.
std::size_t nesting_of(std::string_view text) noexcept {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      is_in_string = !is_in_string;
    } else if (is_in_string) {
      i += c == '\\' ? 1U : 0U;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

nlohmann::json parsed_json(std::string_view text, const std::string& where) {
  constexpr std::size_t kDeepest = 64;  // nlohmann_json recurses over values
  if (nesting_of(text) > kDeepest) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: expected at most {} nested lists and objects, found more", where,
                            kDeepest));
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::kMalformed, where + ": not JSON: " + syntax_problem(error.what()));
  }
}

std::vector<TokenId> ids_in(const nlohmann::json& list, const std::string& where) {
  if (!list.is_array() || list.empty()) {
    throw Error(ErrorKind::kMalformed, where + ": expected an array of token ids");
  }
  std::vector<TokenId> ids;
  for (const nlohmann::json& id : list) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > std::numeric_limits<TokenId>::max()) {
      throw Error(ErrorKind::kMalformed, fmt::format("{}[{}]: expected a token id, found {}", where,
                                                     ids.size(), shown_name(id.dump())));
    }
    ids.push_back(id.get<TokenId>());
  }
  return ids;
}

}  // namespace attnviz::app
