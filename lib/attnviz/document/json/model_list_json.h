// The JSON document `attnviz.models/1`.
#pragma once

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/model_list.h"

namespace attnviz {

/// {schema, models: [{name, store, path, family, quantisation, parameters, bytes, n_layers,
/// n_heads, problem}], stores: [{store, path, exists}]}; what is not known is null.
void write_model_list_json(const ModelList& list, const ByteSink& sink);

}  // namespace attnviz
