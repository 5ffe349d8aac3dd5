// What a listing tells of a model, from the head of its files.
#pragma once

#include <filesystem>

#include "attnviz/document/model_list.h"

namespace attnviz::app {

/// Sets what `path`, a GGUF file or a Hugging Face folder, says of the model; on errors its
/// problem.
void summarize_model(const std::filesystem::path& path, ListedModel& model);

}  // namespace attnviz::app
