// The scores of heads as documents: JSON (`attnviz.heads/1`) and comma-separated values.
#pragma once

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/heads_document.h"

namespace attnviz {

/// One line. Scores that no query is eligible for are null; of a corpus each is an object of mean,
/// standard error and number of texts.
void write_heads_json(const HeadsDocument& document, const ByteSink& sink);

/// A heading and one row a head (RFC 4180): layer, head, names with spaces between them, every
/// score, of several texts its standard error behind it, and the same weighted by transformed
/// values, then copying and what papers call it where these were asked for; what there is no score
/// for is empty.
void write_heads_csv(const HeadsDocument& document, const ByteSink& sink);

}  // namespace attnviz
