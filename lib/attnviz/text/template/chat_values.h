// What templates are given of a chat: messages in the form that a template reads, and tools.
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

/// How a template of Jinja gets the content of a message.
enum class ContentForm : std::uint8_t {
  kGiven,   // a text or a list of parts, as the message has it
  kParts,   // a text as a list of one part
  kJoined,  // a list of parts as one text
};

/// A text of a chat: of a message, or of the tools.
struct ChatPlace {
  std::optional<std::size_t> message;  // nothing: of the tools
  std::string part;  // "content", "tool_calls[0].function.name", "[2].function.name"
};

/// Stand in a chat for its texts, and are all digits: what a template writes of them is found in
/// what it writes, whatever it does to letters and white space.
class Marks {
 public:
  /// The text for a place.
  std::string next(ChatPlace place);
  /// The places that do not stand in `text`. Those in a list as Python prints it do not count: a
  /// template that prints a list was not made for one.
  std::vector<ChatPlace> missing_in(std::string_view text) const;

 private:
  std::vector<ChatPlace> places_;
};

/// Whether its content is a list.
bool has_parts(const ChatMessage& message);
/// The same message with marks for its texts and the names of the functions that it calls; blank
/// texts stay. `place` is that of the message.
ChatMessage marked(const ChatMessage& message, std::size_t place, Marks& marks);
/// A list of tools with marks for their names.
Value marked_tools(const Value& tools, Marks& marks);

/// All keys of a message.
Value jinja_message(const ChatMessage& message, std::size_t place, ContentForm form);

/// What Ollama makes of a message and of tools: the fields that it knows, by their names in JSON,
/// in its order. Throws Error{kMalformed} for arguments of a call that are not an object, and for
/// fields that are not of Ollama's kind.
Value go_message(const ChatMessage& message, std::size_t place);
Value go_tools(const Value& tools);

}  // namespace attnviz::templates
