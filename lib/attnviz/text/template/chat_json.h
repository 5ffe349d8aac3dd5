// Reads chats from JSON, including everything in a message that templates may use.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "attnviz/text/chat.h"

namespace attnviz {

/// A list of messages, {"role": …, "content": …} with any other members, or an object with
/// "messages" and optionally "tools". Content is a text, null or a list of parts {"type": "text",
/// "text": …}; a message that calls tools may have none.
///
/// Error messages begin with `where`. Throws Error{kMalformed}, and Error{kUnsupported} for content
/// that is not text, such as images, and for other members of the object.
Chat read_chat(std::string_view json, const std::string& where);

/// A list of tools, each an object. Throws Error{kMalformed} as read_chat() does.
std::shared_ptr<const templates::Value> read_tools(std::string_view json, const std::string& where);

}  // namespace attnviz
