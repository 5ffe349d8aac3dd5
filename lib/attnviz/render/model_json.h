// What every JSON document says of the model and of how it was run.
#pragma once

#include "attnviz/attention/engine.h"
#include "attnviz/formats/json_writer.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// The member `model` of an object that is open in `json`: its name and sizes, and what of it is
/// random for this text.
void write_model_member(JsonWriter& json, const Model& model, const TokenizedText& text);

/// The members `mask` and `temperature`, and `scale`, `dropout` and `dropout_seed` where they are
/// not as usual.
void write_request_members(JsonWriter& json, const Model& model, const AttentionRequest& request);

}  // namespace attnviz
