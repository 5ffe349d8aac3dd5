// JSON that is read whole: lines, messages, ids.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/tokenized_text.h"

namespace attnviz::app {

/// `where` stands in front of a message. Throws Error{kMalformed} for what is no JSON, or lies more
/// than 64 lists and objects deep.
nlohmann::json parsed_json(std::string_view text, const std::string& where);

/// Throws Error{kMalformed} for what is no array of at least one token id.
std::vector<TokenId> ids_in(const nlohmann::json& list, const std::string& where);

}  // namespace attnviz::app
