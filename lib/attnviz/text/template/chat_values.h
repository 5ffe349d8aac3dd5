// The parts of a chat as templates get them: messages in the form that a template reads, and tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/chat.h"
#include "attnviz/text/template/value.h"

namespace attnviz::templates {

/// How a Jinja template gets the content of a message.
enum class ContentForm : std::uint8_t {
  kGiven,   // a text or a list of parts, as the message has it
  kParts,   // a text as a list of one part
  kJoined,  // a list of parts as one text
};

/// A text in a chat: of a message, or of the tools.
struct ChatPlace {
  std::optional<std::size_t> message;  // nothing: of the tools
  std::string part;       // "content", "tool_calls[0].function.name", "[2].function.name"
  std::string text = {};  // without the white space around it; empty: content in blank parts
};

/// Numbers that replace the texts of a chat: they are found in the output of a template that trims
/// texts or changes their case, too.
class Marks {
 public:
  /// The mark for a place.
  std::string next(ChatPlace place);
  /// The places whose marks are missing in `text`. A mark in a list as Python prints it does not
  /// count: a template that prints a list was not made for one.
  std::vector<ChatPlace> missing_in(std::string_view text) const;
  const std::vector<ChatPlace>& places() const noexcept { return places_; }

 private:
  std::vector<ChatPlace> places_;
};

/// A member of a mapping; null if there is none, and for other values.
Value* member(const Value& object, std::string_view name);

/// Whether its content is a list.
bool has_parts(const ChatMessage& message);
/// The same message with marks for its texts and the names of the functions that it calls. Blank
/// texts stay as they are; where all parts are blank, one mark shows how the template takes them.
/// `place` is the index of the message.
ChatMessage marked(const ChatMessage& message, std::size_t place, Marks& marks);
/// A list of tools with marks for their names.
Value marked_tools(const Value& tools, Marks& marks);

/// A message with all of its keys; `place` is its index.
Value jinja_message(const ChatMessage& message, std::size_t place, ContentForm form);

/// A message and tools as Ollama gives them to templates: the fields that it knows, by their names
/// in JSON, in its order. Throws Error{kMalformed} for arguments of a call that are not an object,
/// and for fields that are not of Ollama's kind.
Value go_message(const ChatMessage& message, std::size_t place);
Value go_tools(const Value& tools);

}  // namespace attnviz::templates
