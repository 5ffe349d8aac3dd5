// A chat before a model reads it: its messages, and the template that makes them a text.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace attnviz {

namespace templates {
class Value;
}

struct ChatMessage {
  std::string role;      // "system", "user", "assistant", …
  std::string content;   // its texts, joined without a separator
  bool is_null = false;  // the content is null, which Jinja templates test for
  /// The whole message as a mapping; null if it has only a role and one text. Set by read_chat().
  std::shared_ptr<const templates::Value> fields = {};
  std::string where = {};  // how errors about it begin: "chat.json[2]"
};

struct Chat {
  std::vector<ChatMessage> messages;
  std::shared_ptr<const templates::Value> tools = {};  // a list of callable tools; null: none
};

enum class TemplateLanguage {
  kJinja,  // Hugging Face's files and GGUF
  kGo,     // Ollama's TEMPLATE layers
};

/// One of several templates of a model.
struct NamedTemplate {
  std::string name;  // "tool_use", "rag", …
  std::string source;
  std::string where;  // as in ChatTemplate
};

/// A template from a model's files; of several, the one called default, together with the others.
struct ChatTemplate {
  std::string source;  // empty if none of several is called default
  TemplateLanguage language = TemplateLanguage::kJinja;
  std::string where = {};                      // prefix of messages: the file and the key
  std::string bos_token = {}, eos_token = {};  // the texts of these names in Jinja; may be empty
  /// The texts of other names: {"pad_token", "<pad>"}, ….
  std::vector<std::pair<std::string, std::string>> other_tokens = {};
  std::vector<std::string> additional_special_tokens = {};
  /// Whether programs that run this kind of file add BOS, as its tokenizer asks for, unless the
  /// template did: llama.cpp and Ollama do, transformers leaves it to the template.
  bool tokenizer_adds_bos = false;
  std::vector<NamedTemplate> named = {};  // those not called default
  /// Messages before those of the chat: a system message (unless the chat has one), examples.
  std::vector<ChatMessage> first = {};
  std::vector<std::string> stops = {};  // texts that end an answer
};

}  // namespace attnviz
