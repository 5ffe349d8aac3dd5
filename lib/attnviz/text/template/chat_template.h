// What a chat becomes before a model reads it: its messages, through the model's own template.
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
  bool add_generation_prompt = true;  // what begins the answer; Go templates always have it
  std::tm now = {};                   // local time, of templates that say the date
  std::shared_ptr<const templates::Value> tools = {};  // as Chat has them
};

/// The local time.
std::tm current_time();

struct ChatPrompt {
  std::string text;
  std::string where;  // of the template that was used
  /// What belongs to none is the template's own: the token that begins texts, a system prompt that
  /// nobody gave, what begins the answer.
  std::vector<ChatTurn> turns;
  /// What the template leaves out of the prompt, regardless of the words: texts of messages, and
  /// names of tools and of called functions.
  std::vector<templates::ChatPlace> left_out = {};
};

/// Renders the messages, with the template called tool_use if there is one and tools are given, as
/// transformers chooses. What a loop over the messages writes belongs to the message it is at; a
/// message that stands outside of such loops is found by its text.
///
/// A Jinja template gets all keys of a message. Where it accepts content only as a list of parts,
/// or only as one text, content is converted; runs with other texts find this out. Ollama's
/// templates get texts and the fields that Ollama knows.
///
/// Throws Error{kUsage} without messages, without a template for them, naming those that there are,
/// and for a role of more than 256 bytes; Error{kMalformed}
/// `where: line 3, column 14: …` for templates that are wrong, that take more steps or memory than
/// a bound, or that refuse the messages with words of their own; Error{kUnsupported} for what they
/// ask of that is not run.
ChatPrompt render_chat(const ChatTemplate& among, std::span<const ChatMessage> messages,
                       const ChatRequest& request);

}  // namespace attnviz
