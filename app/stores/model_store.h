// Models by name, in the folders where other programs keep their downloads.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "attnviz/core/file_kind.h"
#include "attnviz/text/chat.h"
#include "options/advice.h"
#include "stores/store.h"

namespace attnviz::app {

/// $OLLAMA_MODELS; else the user's store, then that of the system service.
///
/// A name is `[[host/]namespace/]model[:tag]`; the defaults are registry.ollama.ai, library and
/// latest. Its file is the layer of the manifest that holds a model. Errors: kMalformed for an
/// invalid manifest, kIo for a missing blob, kUnsupported for models without GGUF.
std::vector<Store> ollama_stores();

/// The chat template that Ollama keeps for the model `name` in the file `model`, with system
/// message, examples and stop texts from the manifest's layers. Nothing if the name stands for
/// another file, if it has no template layer, or if Ollama renders that model's chats without the
/// template. Throws Error{kIo}, and Error{kMalformed} for an invalid manifest.
std::optional<ChatTemplate> ollama_chat_template(const std::string& name,
                                                 const std::filesystem::path& model);

/// ~/.lmstudio/models and, for older versions, ~/.cache/lm-studio/models:
/// publisher/repository/files. Names are `publisher/repository[:TAG]`, as choose_gguf() takes them.
std::vector<Store> lm_studio_stores();

/// $LLAMA_CACHE, else llama.cpp in cache_home(): `owner_repository_file.gguf` in one folder. Names
/// are `owner/repository[:TAG]` for repositories that have a manifest there, or a file name without
/// its extension.
std::vector<Store> llama_cpp_stores();

/// $HF_HUB_CACHE, else $HF_HOME/hub, else ~/.cache/huggingface/hub. `[owner/]name` stands for the
/// newest snapshot if it holds a config.json, `[owner/]name[:TAG]` for a GGUF file in it. hf.co/
/// and huggingface.co/ are optional prefixes.
std::vector<Store> hugging_face_stores();

/// The current snapshot in the folder of a repository in that cache: the one that refs/main names,
/// else the most recently written one. Nothing for other folders.
std::optional<std::filesystem::path> snapshot(const std::filesystem::path& repository,
                                              Unread* unread = nullptr);

/// All stores in the order in which names are looked up: Ollama, LM Studio, llama.cpp, Hugging
/// Face, the program's own samples.
std::vector<Store> model_stores();

/// The file of "sample:NAME"; `given` if it exists, looks like a file, or is not a name. A folder
/// of GGUF files without safetensors stands for its only file, or for Q4_K_M; a repository's folder
/// in Hugging Face's cache stands for its snapshot. Any other name stands for the model of that
/// name in the first store that has one. Nothing is ever downloaded.
///
/// Throws what the store throws; Error{kUsage} that lists the models below a folder without a model
/// of its own; and Error{kIo} that says where it looked, which names are similar, and which
/// commands download the model.
std::filesystem::path find_model(const std::filesystem::path& given);

/// "cat.png: a picture, no model; …", with the line that takes a file of this kind, if there is
/// one.
Advice no_model(FileKind kind, const std::filesystem::path& path, std::string_view but = {});

/// Whether a word names a model: one that is embedded or found on this machine, a model file or
/// folder, or a well-known one. Names that are also everyday words ("mistral") count only if
/// `beside_sentence`, where the word cannot be the text.
bool names_model(const std::string& word, bool beside_sentence);

// The choice among several GGUF files by the name of their quantisation.

/// A file, and the name that distinguishes it from the model's other files.
struct GgufChoice {
  std::filesystem::path path;
  std::string tag;  // "Q4_K_M"; the stem if it has no unique quantisation
};

/// The GGUF files directly in a folder, in order, tagged with their stems. The first shard stands
/// for all; projectors (mmproj-…) are left out. Folders that cannot be read are added to `unread`.
std::vector<GgufChoice> gguf_files_directly_in(const std::filesystem::path& folder,
                                               Unread* unread = nullptr);

/// The files in each of some distinct folders and in their subfolders. Folders that several links
/// lead to are read once.
std::vector<std::vector<GgufChoice>> gguf_files_in_each(
    const std::vector<std::filesystem::path>& folders, Unread* unread = nullptr);
/// As above, for one folder.
std::vector<GgufChoice> gguf_files_in(const std::filesystem::path& folder);

/// Shortens each tag to its quantisation, if no other file has the same one.
void shorten_tags(std::vector<GgufChoice>& files);

/// The file that `name` asks for with its tag, ignoring case. Without a tag, or with "latest": the
/// only file, or Q4_K_M; if it is neither, throws Error{kUsage} that lists the files. Nothing if
/// there is no match.
std::optional<std::filesystem::path> choose_gguf(const std::vector<GgufChoice>& files,
                                                 const ModelName& name);

}  // namespace attnviz::app
