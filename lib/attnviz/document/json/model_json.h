// What every JSON document says of the model and of how it was run.
#pragma once

#include <vector>

#include "attnviz/document/run_facts.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

/// The member `model` of an object that is open in `json`: its name and sizes, and what of it is
/// random for this text.
void write_model_member(JsonWriter& json, const ModelFacts& facts);

/// The members `mask` (when known) and `temperature`, and `scale`, `dropout`, `dropout_seed` and
/// `layer_facts` where they are not as usual.
void write_run_members(JsonWriter& json, const RunFacts& facts);

/// The member `layer_facts` of a document, which may lack it. Throws Error{kMalformed} saying
/// where.
std::vector<LayerFacts> read_layer_facts(const JsonNode& root);

}  // namespace attnviz
