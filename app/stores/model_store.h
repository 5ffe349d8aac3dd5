// Models by name, in the places where other programs keep what they download.
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

/// $OLLAMA_MODELS; else the user's own store, then that of the system's service.
///
/// A name is `[[host/]namespace/]model[:tag]`; what is not said is registry.ollama.ai, library and
/// latest. Its file is the layer of the manifest that holds a model. Errors: kMalformed for a
/// manifest that is none, kIo for a blob that is not there, kUnsupported for models without GGUF.
std::vector<Store> ollama_stores();

/// The chat template that Ollama keeps for the model of a name whose file is `model`, with a system
/// message, examples and texts that end answers: layers of the manifest. Nothing where the name
/// stands for another file or there is no such layer, and where Ollama itself renders that model's
/// chats without a template. Throws Error{kIo}, and Error{kMalformed} for a manifest that is none.
std::optional<ChatTemplate> ollama_chat_template(const std::string& name,
                                                 const std::filesystem::path& model);

/// ~/.lmstudio/models and, of older versions, ~/.cache/lm-studio/models:
/// publisher/repository/files. Names are `publisher/repository[:TAG]`, as choose_gguf() takes them.
std::vector<Store> lm_studio_stores();

/// $LLAMA_CACHE, else llama.cpp in cache_home(): `owner_repository_file.gguf` in one folder. Names
/// are `owner/repository[:TAG]` of repositories that have a manifest there, or a file's without its
/// extension.
std::vector<Store> llama_cpp_stores();

/// $HF_HUB_CACHE, else $HF_HOME/hub, else ~/.cache/huggingface/hub. Names are `[owner/]name`: the
/// newest snapshot, when it holds a config.json; `[owner/]name[:TAG]`: a GGUF file of it. hf.co/
/// and huggingface.co/ may stand in front.
std::vector<Store> hugging_face_stores();

/// The snapshot of a repository's folder in that cache: the one that refs/main names, or else the
/// one written last. Nothing for other folders.
std::optional<std::filesystem::path> snapshot(const std::filesystem::path& repository,
                                              Unread* unread = nullptr);

/// All of them, in the order in which names are looked for: Ollama, LM Studio, llama.cpp, Hugging
/// Face, the program's own samples.
std::vector<Store> model_stores();

/// The file of "sample:NAME"; `given` if it exists, looks like a file, or is not a name. A folder
/// of GGUF files without safetensors stands for its only one, or for Q4_K_M; a repository's folder
/// in Hugging Face's cache stands for its snapshot. Otherwise the model of the first store that has
/// one of that name. Nothing is ever downloaded.
///
/// Throws what the store throws; Error{kUsage} that lists the models in a folder that has none
/// itself; and Error{kIo} that says where it looked, which names are similar, and which commands
/// download the model.
std::filesystem::path find_model(const std::filesystem::path& given);

/// "cat.png: a picture, no model; …": with the line that takes a file of this kind, where one does.
Advice no_model(FileKind kind, const std::filesystem::path& path, std::string_view but = {});

/// Whether a word names a model: one that is embedded or found on this machine, a file or folder of
/// one, or one that many people know. Names that are words of a language, too ("mistral"), count
/// `beside_sentence` alone, where nothing else can be meant.
bool names_model(const std::string& word, bool beside_sentence);

// One of several GGUF files, by the name of its quantisation.

/// A file, and the name that files of one model differ in.
struct GgufChoice {
  std::filesystem::path path;
  std::string tag;  // "Q4_K_M"; where there is none, or where it is not the only one, the stem
};

/// Those in a folder itself, in order, with their stems: of shards the first, and no projectors
/// (mmproj-…). What cannot be read is added to `unread`.
std::vector<GgufChoice> gguf_files_directly_in(const std::filesystem::path& folder,
                                               Unread* unread = nullptr);

/// Those in each of some distinct folders and in the folders in it. What several links lead to is
/// looked into once.
std::vector<std::vector<GgufChoice>> gguf_files_in_each(
    const std::vector<std::filesystem::path>& folders, Unread* unread = nullptr);
/// The same of one folder.
std::vector<GgufChoice> gguf_files_in(const std::filesystem::path& folder);

/// Makes of each tag the quantisation in it, where no other file has the same.
void shorten_tags(std::vector<GgufChoice>& files);

/// The file that `name` asks for with its tag, whatever the case. Without a tag, or with "latest":
/// the only one, or Q4_K_M; throws Error{kUsage} that names them when it is neither. Nothing when
/// there is none.
std::optional<std::filesystem::path> choose_gguf(const std::vector<GgufChoice>& files,
                                                 const ModelName& name);

}  // namespace attnviz::app
