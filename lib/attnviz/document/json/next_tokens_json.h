// What a model wrote, and what it holds probable, in documents.
#pragma once

#include "attnviz/document/next_tokens.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

/// As members "generated" and "predictions" of the object that is open.
void write_continuation_member(JsonWriter& json, const Continuation& continuation);
void write_predictions_member(JsonWriter& json, const Predictions& predictions);

}  // namespace attnviz
