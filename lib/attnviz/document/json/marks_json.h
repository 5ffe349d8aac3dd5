// The member "marks" of documents: which tokens are no plain words of the text.
#pragma once

#include <cstddef>

#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/json_writer.h"
#include "attnviz/text/token_marks.h"

namespace attnviz {

/// The member `marks` of an object that is open in `json`: {"special": [0], "added": [0]}; nothing
/// when no token has any.
void write_marks_member(JsonWriter& json, const TokenMarks& marks);

/// That member's value. Throws Error{kMalformed} for what are no indices below `n_tokens`.
TokenMarks read_marks(const JsonNode& node, std::size_t n_tokens);

}  // namespace attnviz
