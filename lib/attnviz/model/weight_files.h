// Which files hold the weights of a Hugging Face model, and which ones beside them belong to it.
#pragma once

#include <filesystem>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/core/unread.h"
#include "attnviz/formats/tensor_files.h"

namespace attnviz {

/// Whether a folder has a config.json and, beside it, model.safetensors, its index, or shards.
bool has_weights(const std::filesystem::path& folder);

struct OpenedWeights {
  TensorFiles tensors;
  std::vector<PassedOver> passed_over;  // other files of weights in the folder
};

/// Those of a folder: model.safetensors, else the files of its index, else shards that say by
/// their names that all of them are there. Or those of a file: of a shard or an index all of them.
///
/// Throws what TensorFiles throws; Error{kIo} that says what the folder has instead of weights or
/// which shards are missing; and Error{kUnsupported} for a folder with an adapter, which is not
/// applied, or with two sets of weights that differ: a file that is given by name is read without
/// looking at these.
OpenedWeights open_weights(const std::filesystem::path& path, OpenFiles& files);

}  // namespace attnviz
