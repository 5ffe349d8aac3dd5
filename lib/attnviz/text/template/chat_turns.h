// Which stretch of a prompt is the turn of which message.
#pragma once

#include <span>
#include <vector>

#include "attnviz/text/chat.h"
#include "attnviz/text/template/chat_template.h"
#include "attnviz/text/template/jinja_run.h"

namespace attnviz::templates {

/// In the order of the prompt, without the token that begins it: as the template's loops say, and
/// of other messages where their text stands. Throws Error{kMalformed} naming the template where
/// that takes too many steps.
std::vector<ChatTurn> chat_turns(const Written& written, const ChatTemplate& with,
                                 std::span<const ChatMessage> messages);

}  // namespace attnviz::templates
