// Chats as a text to look at, rendered by the model's own template. JSON that is read whole: lines,
// messages, ids.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attnviz/text/chat.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizer.h"
#include "options/options.h"

namespace attnviz::app {

/// A text is what the user says.
Chat chat_of(const std::variant<std::string, std::vector<TokenId>, Chat>& content);

/// The messages as the tokenizer's chat template has them, with names of special tokens as these
/// tokens. It begins with BOS once at most: where the template writes none and
/// ChatTemplate::tokenizer_adds_bos, or --bos, says so, the tokenizer puts it there.
///
/// Throws Error{kUsage} when there is no template, naming what was looked for; what render_chat()
/// throws; and Error{kUnsupported} naming what the template leaves out of the prompt.
TokenizedText tokenize_chat(const Tokenizer& tokenizer, Chat chat, const InputOptions& options);

/// `where` stands in front of a message. Throws Error{kMalformed} for what is no JSON, or lies more
/// than 64 lists and objects deep.
nlohmann::json parsed_json(std::string_view text, const std::string& where);

/// Throws Error{kMalformed} for what is no array of at least one token id.
std::vector<TokenId> ids_in(const nlohmann::json& list, const std::string& where);

}  // namespace attnviz::app
