// Queries, keys and values of heads, from which a page computes their attention step by step.
#pragma once

#include <span>

#include "attnviz/analysis/inspection.h"
#include "attnviz/formats/json_writer.h"
#include "attnviz/html/blobs.h"

namespace attnviz {

/// The object of `followed`, at least one head, whose matrices go to `blobs`.
void write_page_steps(std::span<const Inspection> followed, JsonWriter& json, Blobs& blobs);

}  // namespace attnviz
