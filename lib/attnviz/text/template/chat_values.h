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

/// The form in which a Jinja template gets the content of a message.
enum class ContentForm : std::uint8_t {
  kGiven,   // a text or a list of parts, as the message has it
  kParts,   // a text as a list of one part
  kJoined,  // a list of parts as one text
};

/// A text in a chat: of a message, or of the tools.
struct ChatPlace {
  std::optional<std::size_t> message;  // nothing: of the tools
  std::string part;       // "content", "tool_calls[0].function.name", "[2].function.name"
  std::string text = {};  // without surrounding white space; empty: content in blank parts
};

/// Numbers that replace the texts of a chat. They are also recognised in the output of a template
/// that trims texts or changes their case.
class Marks {
 public:
  /// The mark for a place.
  std::string next(ChatPlace place);
  /// The places whose marks are missing in `text`. A mark inside a printed Python list does not
  /// count: a template that prints a list was not made for one.
  std::vector<ChatPlace> missing_in(std::string_view text) const;
  const std::vector<ChatPlace>& places() const noexcept { return places_; }

 private:
  std::vector<ChatPlace> places_;
};

/// A member of a mapping; null if it is missing, and for other values.
Value* member(const Value& object, std::string_view name);

/// Whether the content is a list.
bool has_parts(const ChatMessage& message);
/// The same message with marks for its texts and for the names of the functions that it calls.
/// Blank texts stay; if all parts are blank, one mark shows how the template treats them. `place`
/// is the index of the message.
ChatMessage marked(const ChatMessage& message, std::size_t place, Marks& marks);
/// A list of tools with marks for their names.
Value marked_tools(const Value& tools, Marks& marks);

/// A message with all its keys; `place` is its index.
Value jinja_message(const ChatMessage& message, std::size_t place, ContentForm form);

/// A message and tools as Ollama gives them to templates: the fields that it knows, by their JSON
/// names, in its order. Throws Error{kMalformed} if the arguments of a call are not an object, and
/// for fields of another kind than Ollama's.
Value go_message(const ChatMessage& message, std::size_t place);
Value go_tools(const Value& tools);

}  // namespace attnviz::templates
