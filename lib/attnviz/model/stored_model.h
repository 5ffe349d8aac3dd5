// Models in files: Hugging Face folders, GGUF, weights as JSON.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/core/unread.h"
#include "attnviz/formats/tensor_files.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Whether `path` looks like a Hugging Face model: a folder, a safetensors file, or the index of a
/// sharded one.
bool is_hugging_face(const std::filesystem::path& path);

/// Whether tensors that should be equal, for example in a tied model, are compared number by
/// number, which reads all of them.
enum class Copies { kCompared, kNotCompared };

/// Reads the config and the weights of a folder, or of a file with a config.json beside it, as
/// find_weights() finds them. The weights stay in their memory-mapped files; a page is read when it
/// is first used.
///
/// Throws everything that find_weights() and open_weights() throw, Error{kIo} when a file is
/// missing or cannot be read, Error{kMalformed} when its content contradicts itself, and
/// Error{kUnsupported} for another `model_type` (naming the known ones) and for weights that are
/// not floats.
Model load_hugging_face(const std::filesystem::path& path, OpenFiles files = {},
                        Copies copies = Copies::kCompared);

/// As above, from a config.json and a safetensors file that are in memory and outlive the model.
/// The caller names the model.
Model load_hugging_face(const NamedBytes& config, const NamedBytes& weights);

/// "owner/name" for models--owner--name, the form of folder names in the Hugging Face cache;
/// nullopt for other names.
std::optional<std::string> repository_name(std::string_view folder);

/// The folder that holds the model's config and tokenizer.
std::filesystem::path hugging_face_folder(const std::filesystem::path& path);

/// The built-in demo model: a small Llama, trained on generated sentences. assets/demo describes
/// its training data and its heads. The weights stay in the program's memory image.
Model demo_model();

// Models in GGUF form.

class GgufFiles;

/// Whether a file exists at `path` that begins as GGUF does or has a GGUF name.
bool is_gguf_file(const std::filesystem::path& path, OpenFiles files = {});

/// Reads metadata and weights of a file, or of all shards, any of which may be given. The weights
/// stay in their memory-mapped files, in their type; a page is read when it is first used. The
/// Model describes the changes that llama.cpp's converter makes: queries and keys of architecture
/// "llama" rotate in pairs of neighbours, and Gemma's norms hold 1 + w.
///
/// Throws Error{kIo} when a file is missing or cannot be read, Error{kMalformed} when its content
/// contradicts itself, and Error{kUnsupported} for another architecture (naming the known ones) and
/// for types of tensors that attnviz does not read.
Model load_gguf(const std::filesystem::path& path);

/// As above, from files that are already open and may be shared with other readers.
Model load_gguf(const std::shared_ptr<const GgufFiles>& files);

// The weights JSON format `attnviz.weights/1`: reading and writing a Model.

/// Throws Error{kIo} when the file cannot be read, Error{kUnsupported} when it declares another
/// kind of document, and Error{kMalformed} naming the file, the place, and the expected and found
/// values: `w.json: layers[0].heads[2].W_K: expected 16 columns, found 15 (row 3)`.
Model load_weights_json(const std::filesystem::path& path, OpenFiles files = {});

/// As above, from bytes; `name` appears in messages and is the model's name.
Model parse_weights_json(std::string_view bytes, std::string_view name);

/// Writes a model that loads back to the same bits. Throws Error{kUnsupported} for a transformer,
/// and at the first weight that is NaN or infinite, which JSON cannot represent.
void write_weights_json(const Model& model, const ByteSink& sink);

// Which files hold the weights of a Hugging Face model, and which files beside them belong to it.

/// The name of a tensor of an adapter that is not merged into the weights (LoRA, LoHa, IA3 or OFT,
/// as PEFT, MLX and diffusers name them); empty if the files contain none.
std::string_view adapter_tensor(const TensorFiles& files);

/// Whether a folder has a config.json and, beside it, model.safetensors, its index, or shards.
bool has_weights(const std::filesystem::path& folder);

struct OpenedWeights {
  TensorFiles tensors;
  std::vector<IgnoredKey> ignored_keys;  // other weight files in the folder
};

/// Returns the file that represents the weights of a folder: model.safetensors, else its index,
/// else a shard. Checks names only. A path that is not a folder is returned unchanged.
///
/// Throws Error{kIo}, or Error{kUnsupported} for a known kind of file, naming what the folder
/// contains instead. Throws Error{kUnsupported} for a folder with an adapter, which is not applied,
/// for an adapter given by name, and for a folder with shards of several models. A weights file
/// given by its own name is read without these checks of the folder.
std::filesystem::path find_weights(const std::filesystem::path& path);

/// Opens `file`, which find_weights() returned for `path`, or, for an index or a shard, all files
/// that belong to it.
///
/// Throws what TensorFiles throws, Error{kMalformed} naming missing shards, and Error{kUnsupported}
/// for a folder with two sets of weights that differ, or with an adapter under any name.
OpenedWeights open_weights(const std::filesystem::path& path, const std::filesystem::path& file,
                           const OpenFiles& files);

}  // namespace attnviz
