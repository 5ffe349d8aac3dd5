// The interface of all model stores on this machine, and the names of models in them. A stored
// model, which opens and parses each of its files once.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/formats/gguf.h"
#include "attnviz/model/model.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz::app {

/// "llama3.2:1b", "owner/name", "hf.co/owner/name:Q4_K_M".
struct ModelName {
  std::vector<std::string> parts;  // 1 to 3: [[host,] owner,] name
  std::string tag;                 // empty: not given

  /// Without the tag.
  std::string path() const;
  std::string text() const;
};

/// Nothing if the text is not a name: parts consist of letters, digits, `_`, `-` and `.` and do not
/// begin with a dot, so that they stay inside the folder that is searched.
std::optional<ModelName> parse_model_name(std::string_view text);

/// A model in a store.
struct StoreEntry {
  std::string name;                // as -m takes it
  std::filesystem::path path;      // the model's file or folder
  std::string problem;             // why there is no path
  bool has_chat_template = false;  // kept by the store beside the file
};

/// Errors of existing folders that cannot be read: "~/models: Permission denied".
using Unread = std::set<std::string>;

struct Store {
  std::string title;           // "Ollama"
  std::filesystem::path root;  // need not exist
  /// Nothing if the store does not have the model. Throws Error for one that cannot be used.
  std::optional<std::filesystem::path> (*find)(const std::filesystem::path& root,
                                               const ModelName& name);
  /// In order. Never throws because of the store's contents; errors are added to `unread`.
  std::vector<StoreEntry> (*list)(const std::filesystem::path& root, Unread& unread);
};

/// Nothing if it is unset or empty.
std::optional<std::string> environment(const char* name);
/// $XDG_CACHE_HOME, else ~/.cache; nothing without a home.
std::optional<std::filesystem::path> cache_home();
/// Whether this user is denied access to a file or folder.
bool is_barred(const std::filesystem::path& path);
/// The beginning of a file's first line; empty if it is not a file.
std::string first_line(const std::filesystem::path& path);
/// Whether a file or folder exists and can be accessed.
bool is_there(const std::filesystem::path& path);
bool is_file(const std::filesystem::path& path);
/// "~/.ollama/models": abbreviates the home folder.
std::string short_path(const std::filesystem::path& path);
/// The sorted names in a folder, without hidden ones; none if it does not exist. If reading fails,
/// returns the names read so far and adds the error to `unread`.
std::vector<std::string> names_in(const std::filesystem::path& folder, Unread* unread = nullptr);
/// `folders` without duplicates, in order: among several names of one real folder, keeps the one
/// that is not a link, else the first; leaves out the folders `but`. A walk that enters only these
/// ends, wherever links lead.
std::vector<std::filesystem::path> distinct_folders(
    std::vector<std::filesystem::path> folders, const std::vector<std::filesystem::path>& but = {});
/// The entries of folders that are not files, without duplicates. Errors are added to `unread`.
std::vector<std::filesystem::path> folders_in(const std::vector<std::filesystem::path>& folders,
                                              Unread& unread);

enum class ModelForm { kGguf, kHuggingFace, kWeightsJson };

class StoredModel {
 public:
  /// `given`: a path or a name, as find_model() takes it. Reads no more than it needs to determine
  /// the form. Throws what find_model throws.
  explicit StoredModel(std::string given);

  /// The name as given.
  const std::string& given() const noexcept { return given_; }
  ModelForm form() const noexcept { return form_; }
  /// The files that reading may access; for a Hugging Face model, everything in its folder.
  std::vector<std::filesystem::path> files() const;

  /// Throws what load_gguf, load_hugging_face, which takes `copies`, and load_weights_json throw.
  Model load(Copies copies = Copies::kCompared);
  /// The tokenizer of a whole model, in its GGUF file or its folder; does not need the model to be
  /// loaded. Throws what load_tokenizer throws.
  std::unique_ptr<ModelTokenizer> load_tokenizer();
  /// The tokenizer of the decoder's text if the model has a separate one (Marian), else null.
  /// Throws as load_tokenizer does.
  std::unique_ptr<ModelTokenizer> load_target_tokenizer() const;
  /// Whether load_tokenizer() threw `error` because a readable tokenizer is missing, although the
  /// model can be read.
  bool lacks_tokenizer(const Error& error) const;
  /// The metadata of a loaded GGUF file, null for other forms; lives as long as the object or a
  /// copy.
  const Gguf* gguf() const noexcept { return gguf_ == nullptr ? nullptr : &gguf_->first(); }

 private:
  std::string given_;
  std::filesystem::path path_;
  OpenFiles files_;
  ModelForm form_;
  std::shared_ptr<const GgufFiles> gguf_;
};

}  // namespace attnviz::app
