// What is in a model, and the models and families that can be read, as reports.
#pragma once

#include <span>

#include "attnviz/document/model_info.h"
#include "attnviz/document/report/report.h"
#include "attnviz/model/known_families.h"

namespace attnviz {

/// Facts in words, then tables of parameters and of memory. The model must outlive the report.
/// Throws what text_memory() throws.
Report info_report(const ModelInfo& info);

/// A row for each model; then what is wrong with some, and which places were searched. The
/// document `attnviz.models/1`: {models: [{name, store, path, family, quantisation, parameters,
/// bytes, n_layers, n_heads, chat_template, problem}], stores: [{store, path, exists}]}.
Report model_list_report(const ModelList& list);

/// A row for each family: its names in files of either form, and which of its models are not read.
/// The document `attnviz.families/1`: {families: [{name, hugging_face, gguf, left_out}]}.
Report families_report(std::span<const KnownFamily> families);

}  // namespace attnviz
