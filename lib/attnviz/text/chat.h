// A chat before a model reads it: its messages, and the template that makes a text of them.
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
  bool is_null = false;  // content that is said to be none, which templates of Jinja ask for
  /// The whole message as a mapping, unless it is a role and then one text. Set by read_chat().
  std::shared_ptr<const templates::Value> fields = {};
  std::string where = {};  // how errors about it begin: "chat.json[2]"
};

struct Chat {
  std::vector<ChatMessage> messages;
  std::shared_ptr<const templates::Value> tools = {};  // a list of callable tools; null: none
};

enum class TemplateLanguage {
  kJinja,  // of Hugging Face's files and GGUF
  kGo,     // of Ollama's TEMPLATE layers
};

/// One of several templates of a model.
struct NamedTemplate {
  std::string name;  // "tool_use", "rag", …
  std::string source;
  std::string where;  // as in ChatTemplate
};

/// A template as a model's files hold it; of several, the one called default, with the others.
struct ChatTemplate {
  std::string source;  // empty if there are others, but none called default
  TemplateLanguage language = TemplateLanguage::kJinja;
  std::string where = {};                      // in front of messages: the file and the key
  std::string bos_token = {}, eos_token = {};  // what these names stand for in Jinja; may be empty
  /// What others stand for there: {"pad_token", "<pad>"}, ….
  std::vector<std::pair<std::string, std::string>> other_tokens = {};
  std::vector<std::string> additional_special_tokens = {};
  /// Whether who runs such files begins a text with BOS, as its tokenizer has it, unless the
  /// template did: llama.cpp and Ollama do, transformers leaves it to the template.
  bool tokenizer_adds_bos = false;
  std::vector<NamedTemplate> named = {};  // those not called default
  /// What stands in front of the messages: a system message, unless there is another, examples.
  std::vector<ChatMessage> first = {};
  std::vector<std::string> stops = {};  // texts that end an answer
};

}  // namespace attnviz
