// Two texts or models compared, as documents: JSON (`attnviz.diff/1`) and comma-separated values.
#pragma once

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/diff_document.h"

namespace attnviz {

/// One line. Queries and keys are tokens of A.
void write_diff_json(const DiffDocument& document, const ByteSink& sink);

/// A heading and one row a head (RFC 4180).
void write_diff_csv(const DiffDocument& document, const ByteSink& sink);

}  // namespace attnviz
