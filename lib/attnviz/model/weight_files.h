// Which files hold the weights of a Hugging Face model, and which ones beside them belong to it.
#pragma once

#include <filesystem>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/core/unread.h"
#include "attnviz/formats/tensor_files.h"

namespace attnviz {

/// The name of a tensor of an adapter that is not merged into the weights (LoRA, LoHa, IA3 or OFT,
/// as PEFT, MLX and diffusers name them); empty if there is none.
std::string_view adapter_tensor(const TensorFiles& files);

/// Whether a folder has a config.json and, beside it, model.safetensors, its index, or shards.
bool has_weights(const std::filesystem::path& folder);

struct OpenedWeights {
  TensorFiles tensors;
  std::vector<PassedOver> passed_over;  // other weight files in the folder
};

/// The file that stands for the weights of a folder: model.safetensors, else its index, else a
/// shard; only looks at names. Returns a path that is not a folder as it is.
///
/// Throws Error{kIo}, or Error{kUnsupported} for a known kind of file, that says what the folder
/// has instead; and Error{kUnsupported} for a folder with an adapter, which is not applied, for an
/// adapter by its own name, and for a folder with shards of several models. A file of weights that
/// is given by its own name is read without looking at these.
std::filesystem::path find_weights(const std::filesystem::path& path);

/// Opens `file`, which find_weights() gave for `path`; for an index or a shard, all files that
/// belong to it.
///
/// Throws what TensorFiles throws, Error{kMalformed} that names missing shards, and
/// Error{kUnsupported} for a folder with two sets of weights that differ, or with an adapter under
/// any name.
OpenedWeights open_weights(const std::filesystem::path& path, const std::filesystem::path& file,
                           const OpenFiles& files);

}  // namespace attnviz
