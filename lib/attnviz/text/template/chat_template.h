// What a chat becomes before a model reads it: its messages, through the model's own template.
#pragma once

#include <cstddef>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace attnviz {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant", …
  std::string content;
};

enum class TemplateLanguage {
  kJinja,  // of Hugging Face's files and GGUF
  kGo,     // of Ollama's TEMPLATE layers
};

/// A template as a model's files hold it.
struct ChatTemplate {
  std::string source;
  TemplateLanguage language = TemplateLanguage::kJinja;
  std::string where;                 // in front of messages: the file and the key
  std::string bos_token, eos_token;  // what these names stand for in Jinja; may be empty
};

struct ChatRequest {
  bool add_generation_prompt = true;  // what begins the answer; Go templates always have it
  std::tm now = {};                   // local time, of templates that say the date
};

/// The local time.
std::tm current_time();

/// A part of the rendered text that one message brought: bytes [begin, end).
struct ChatTurn {
  std::size_t message = 0;
  std::size_t begin = 0, end = 0;
};

struct ChatPrompt {
  std::string text;
  /// In order of the text, disjoint; what belongs to none is the template's own: the token that
  /// begins texts, a system prompt that nobody gave, what begins the answer.
  std::vector<ChatTurn> turns;
};

/// Renders the messages. What a loop over the messages writes belongs to the message it is at; a
/// message that stands outside of such loops is found by its text.
///
/// Throws Error{kUsage} without messages, Error{kMalformed} `where: line 3, column 14: …` for
/// templates that are wrong, that take more steps or memory than a bound, or that refuse the
/// messages with words of their own; Error{kUnsupported} for what they ask of that is not run.
ChatPrompt render_chat(const ChatTemplate& with, std::span<const ChatMessage> messages,
                       const ChatRequest& request);

}  // namespace attnviz
