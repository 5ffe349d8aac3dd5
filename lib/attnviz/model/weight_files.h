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

/// The file that stands for the weights of a folder: model.safetensors, else its index, else a
/// shard; looks at names alone. Another path is its own.
///
/// Throws Error{kIo} that says what the folder has instead, and Error{kUnsupported} for a folder
/// with an adapter, which is not applied, or with shards of several models. A file that is given by
/// its own name is read without looking at these.
std::filesystem::path find_weights(const std::filesystem::path& path);

/// The weights of a path, for which find_weights() gave `file`; of an index or a shard those of all
/// files that belong to it.
///
/// Throws what TensorFiles throws, Error{kIo} that names missing shards, and Error{kUnsupported}
/// for a folder with two sets of weights that differ.
OpenedWeights open_weights(const std::filesystem::path& path, const std::filesystem::path& file,
                           const OpenFiles& files);

}  // namespace attnviz
