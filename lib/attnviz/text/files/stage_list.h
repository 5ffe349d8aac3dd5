// Lists of a tokenizer's stages, as tokenizer.json nests them.
#pragma once

#include <string_view>
#include <vector>

#include "attnviz/formats/json_tree.h"

namespace attnviz {

/// The stages of a sequence, the list under `key`, which may be sequences themselves. Throws
/// Error{kMalformed} for more than 256 of them, with those within them, and for more than 16 KiB of
/// regular expressions.
std::vector<JsonNode> stages_at(const JsonNode& node, std::string_view key);

}  // namespace attnviz
