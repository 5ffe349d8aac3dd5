// What every JSON document says of the model and of how it was run.
#pragma once

#include "attnviz/formats/json_writer.h"
#include "attnviz/render/run_facts.h"

namespace attnviz {

/// The member `model` of an object that is open in `json`: its name and sizes, and what of it is
/// random for this text.
void write_model_member(JsonWriter& json, const ModelFacts& facts);

/// The members `mask` (when known) and `temperature`, and `scale`, `dropout` and `dropout_seed`
/// where they are not as usual.
void write_run_members(JsonWriter& json, const RunFacts& facts);

}  // namespace attnviz
