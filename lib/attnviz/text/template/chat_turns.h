// Which part of a prompt is the turn of which message.
#pragma once

#include <span>
#include <vector>

#include "attnviz/text/chat.h"
#include "attnviz/text/template/chat_template.h"
#include "attnviz/text/template/jinja.h"

namespace attnviz::templates {

/// The turns in the order of the prompt, without the token that begins it. They come from the
/// template's loops and, for other messages, from the position of their text. Throws
/// Error{kMalformed} naming the template if that takes too many steps.
std::vector<ChatTurn> chat_turns(const Written& written, const ChatTemplate& with,
                                 std::span<const ChatMessage> messages);

}  // namespace attnviz::templates
