// Chats as a text to look at: messages from JSON, rendered by the model's own template.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "attnviz/text/chat.h"
#include "attnviz/text/tokenizer.h"
#include "options/options.h"

namespace attnviz::app {

/// A list of {"role": …, "content": …}, or an object whose only member "messages" is one. Content
/// is a text, null, which is none to templates of Jinja, or a list of
/// {"type": "text", "text": …}, which are joined by nothing. `where` stands in front of messages.
/// Throws Error{kMalformed}, and Error{kUnsupported} for what would change a prompt and is not
/// rendered: pictures, calls of tools and whatever else a message has.
std::vector<ChatMessage> messages_in(const nlohmann::json& json, const std::string& where);

/// A text is what the user says.
std::vector<ChatMessage> messages_of(
    const std::variant<std::string, std::vector<TokenId>, std::vector<ChatMessage>>& content);

/// The messages as the tokenizer's chat template has them, with names of special tokens as these
/// tokens. It begins with BOS once at most: where the template writes none and
/// ChatTemplate::tokenizer_adds_bos, or --bos, says so, the tokenizer puts it there.
///
/// Throws Error{kUsage} when there is no template, naming what was looked for, and what
/// render_chat() throws.
TokenizedText tokenize_chat(const Tokenizer& tokenizer, std::vector<ChatMessage> messages,
                            const InputOptions& options);

}  // namespace attnviz::app
