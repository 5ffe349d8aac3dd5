// Models as files have them: Hugging Face folders, GGUF, weights as JSON.
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

// A model in GGUF form.

class GgufFiles;

/// Whether there is a file at `path` that begins as GGUF does, or is named so.
bool is_gguf_file(const std::filesystem::path& path, OpenFiles files = {});

/// Reads metadata and weights of a file, or of all of several, of which any may be given. The
/// weights stay in their files, mapped, and in their type; a page is read when it is used. What
/// llama.cpp's converter changes is told to the Model: queries and keys of architecture "llama"
/// turn in pairs of neighbours, Gemma's norms hold 1 + w.
///
/// Throws Error{kIo} when a file is missing or cannot be read, Error{kMalformed} when what is in it
/// contradicts itself, and Error{kUnsupported} for another architecture (naming the known ones) and
/// for types of tensors that attnviz does not read.
Model load_gguf(const std::filesystem::path& path);

/// The same of files that are open already, and that others may look at, too.
Model load_gguf(const std::shared_ptr<const GgufFiles>& files);

// The weights JSON format `attnviz.weights/1`: reading it as a Model, writing a Model as it.

/// Throws Error{kIo} when the file cannot be read, Error{kUnsupported} when it says to be another
/// kind of document, and Error{kMalformed} that names file, place, expected and found:
/// `w.json: layers[0].heads[2].W_K: expected 16 columns, found 15 (row 3)`.
Model load_weights_json(const std::filesystem::path& path, OpenFiles files = {});

/// The same from bytes; `name` stands in messages and is the model's name.
Model parse_weights_json(std::string_view bytes, std::string_view name);

/// Writes a model that loads back to the same bits. Throws Error{kUnsupported} for a
/// transformer, and at the first weight that is NaN or infinite, which JSON cannot say.
void write_weights_json(const Model& model, const ByteSink& sink);

// Which files hold the weights of a Hugging Face model, and which ones beside them belong to it.

/// The name of a tensor of an adapter that is not merged into the weights (LoRA, LoHa, IA3 or OFT,
/// as PEFT, MLX and diffusers name them); empty if there is none.
std::string_view adapter_tensor(const TensorFiles& files);

/// Whether a folder has a config.json and, beside it, model.safetensors, its index, or shards.
bool has_weights(const std::filesystem::path& folder);

struct OpenedWeights {
  TensorFiles tensors;
  std::vector<IgnoredKey> ignored_keys;  // other weight files in the folder
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
