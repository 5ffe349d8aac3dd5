// From a chat to the text that a model reads: messages pass through the model's own template.
#pragma once

#include <cstddef>
#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attnviz/text/chat.h"
#include "attnviz/text/template/chat_values.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

struct ChatRequest {
  bool add_generation_prompt = true;  // the beginning of the answer; Go templates always add it
  std::tm now = {};                   // local time, for templates that state the date
  std::shared_ptr<const templates::Value> tools = {};  // as in Chat
};

/// The local time.
std::tm current_time();

struct ChatPrompt {
  std::string text;
  std::string where;  // of the template that was used
  /// The rest is the template's own: the token that begins texts, a default system prompt, the
  /// beginning of the answer.
  std::vector<ChatTurn> turns;
  /// What the template leaves out of the prompt regardless of its words: texts of messages, and
  /// names of tools and of called functions.
  std::vector<templates::ChatPlace> left_out = {};
};

/// Renders the messages, with the template called tool_use if it exists and tools are given, as
/// transformers does. The output of a loop over the messages belongs to the current message; a
/// message written outside these loops is located by its text.
///
/// A Jinja template gets all keys of a message. If it accepts content only as a list of parts, or
/// only as one text, content is converted; test runs with other texts detect this. Ollama's
/// templates get texts and the fields that Ollama knows.
///
/// Throws Error{kUsage} without messages, without a suitable template (naming the available ones),
/// and for a role of more than 256 bytes; Error{kMalformed} `where: line 3, column 14: …` for
/// templates that are invalid, exceed the limit of steps or memory, or refuse the messages with a
/// message of their own; Error{kUnsupported} for features that attnviz does not run.
ChatPrompt render_chat(const ChatTemplate& among, std::span<const ChatMessage> messages,
                       const ChatRequest& request);

}  // namespace attnviz
