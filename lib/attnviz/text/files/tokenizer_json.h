// tokenizer.json, the file of Hugging Face's tokenizers library.
#pragma once

#include <string_view>

#include "attnviz/formats/json_tree.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"
#include "attnviz/text/tokenizers/vocabulary.h"

namespace attnviz {

/// `name` stands in front of every message. Throws Error{kMalformed} for what is not as it should
/// be, with its path, and Error{kUnsupported} for stages that there are not. Ids of special tokens
/// are told by their usual names. With `ready` the vocabulary is that, which outlives the parts,
/// and the file has null in its place.
TokenizerParts read_tokenizer_json(std::string_view bytes, std::string_view name,
                                   const Vocabulary::Tables* ready = nullptr);

/// One of "added_tokens" but for its id. Throws Error{kMalformed} at a member that is wrong.
AddedToken read_added_token(const JsonNode& node, TokenId id);

/// Sets those special ids that are not known yet and whose usual names are tokens.
void find_special_ids(TokenizerParts& parts);

}  // namespace attnviz
