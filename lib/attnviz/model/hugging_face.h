// Models as Hugging Face's tools write them: a folder with a config.json beside safetensors.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "attnviz/core/mapped_file.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Whether `path` looks like one: a folder, or a file of safetensors or an index of such.
bool is_hugging_face(const std::filesystem::path& path);

/// Whether tensors that should be equal, such as those of a tied model, are compared number by
/// number, which reads all of them.
enum class Copies { kCompared, kNotCompared };

/// Reads the config and the weights of a folder, or of a file whose config.json lies beside it, as
/// find_weights() finds them. The weights stay in their files, mapped; a page is read when it is
/// used.
///
/// Throws what find_weights() and open_weights() do, Error{kIo} when a file is missing or cannot be
/// read, Error{kMalformed} when what is in it contradicts itself, and Error{kUnsupported} for
/// another `model_type` (naming the known ones) and for weights that are not floats.
Model load_hugging_face(const std::filesystem::path& path, OpenFiles files = {},
                        Copies copies = Copies::kCompared);

/// The same from a config.json and a file of safetensors that are in memory already, and outlive
/// the model; the caller names it.
Model load_hugging_face(const NamedBytes& config, const NamedBytes& weights);

/// "owner/name" of models--owner--name, as folders are called in the Hugging Face cache; nothing of
/// other names.
std::optional<std::string> repository_name(std::string_view folder);

/// The folder that holds the model's config and tokenizer.
std::filesystem::path hugging_face_folder(const std::filesystem::path& path);

/// The model in the box: a small Llama, trained on generated sentences, that is part of the
/// library. assets/demo says what it was trained on and what its heads do. Its weights stay where
/// the program was loaded to.
Model demo_model();

}  // namespace attnviz
