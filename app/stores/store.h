// What every store of models on this machine offers, and the names by which it is asked. A model
// that lies on this machine: what of it is read is opened and parsed once.
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
  std::string tag;                 // empty: not said

  /// Without the tag.
  std::string path() const;
  std::string text() const;
};

/// Nothing when it is no name: parts are letters, digits, `_`, `-` and `.`, and do not begin with a
/// dot, so that they stay below the folder that they are looked for in.
std::optional<ModelName> parse_model_name(std::string_view text);

/// A model that a store has.
struct StoreEntry {
  std::string name;                // as -m takes it
  std::filesystem::path path;      // what it stands for: a file or a folder
  std::string problem;             // why there is no path
  bool has_chat_template = false;  // that the store keeps beside the file
};

/// What is wrong with folders that are there and cannot be read: "~/models: Permission denied".
using Unread = std::set<std::string>;

struct Store {
  std::string title;           // "Ollama"
  std::filesystem::path root;  // which need not be there
  /// Nothing when the store has no such model. Throws Error for one that cannot be used.
  std::optional<std::filesystem::path> (*find)(const std::filesystem::path& root,
                                               const ModelName& name);
  /// In order. Never throws for what lies in the store; what cannot be read is added to `unread`.
  std::vector<StoreEntry> (*list)(const std::filesystem::path& root, Unread& unread);
};

/// Nothing when it is not set, or empty.
std::optional<std::string> environment(const char* name);
/// $XDG_CACHE_HOME, else ~/.cache; nothing without a home.
std::optional<std::filesystem::path> cache_home();
/// Whether the way to a file or folder is barred to this user.
bool is_barred(const std::filesystem::path& path);
/// The beginning of a file's first line; empty for what is no file.
std::string first_line(const std::filesystem::path& path);
/// Whether a file or folder is there, and can be looked at.
bool is_there(const std::filesystem::path& path);
bool is_file(const std::filesystem::path& path);
/// "~/.ollama/models": with the home folder written short.
std::string short_path(const std::filesystem::path& path);
/// The names in a folder in order, without hidden ones; none when there is no such folder. When it
/// cannot be read, those that could, and it is added to `unread`.
std::vector<std::string> names_in(const std::filesystem::path& folder, Unread* unread = nullptr);
/// Of several names of one real folder the one that is no link, else the first; none of the folders
/// `but`. In order. A walk that looks into these alone ends, wherever links lead.
std::vector<std::filesystem::path> distinct_folders(
    std::vector<std::filesystem::path> folders, const std::vector<std::filesystem::path>& but = {});
/// What lies in folders and is no file, distinct. What cannot be read is added to `unread`.
std::vector<std::filesystem::path> folders_in(const std::vector<std::filesystem::path>& folders,
                                              Unread& unread);

enum class ModelForm { kGguf, kHuggingFace, kWeightsJson };

class StoredModel {
 public:
  /// `given`: a path or a name as find_model() takes it. Looks at no more than is needed to tell
  /// the form. Throws what find_model throws.
  explicit StoredModel(std::string given);

  /// As it was asked for.
  const std::string& given() const noexcept { return given_; }
  ModelForm form() const noexcept { return form_; }
  /// What reading it may look at; of a Hugging Face model all that lies in its folder.
  std::vector<std::filesystem::path> files() const;

  /// Throws what load_gguf, load_hugging_face, which takes `copies`, and load_weights_json throw.
  Model load(Copies copies = Copies::kCompared);
  /// The tokenizer that comes with a whole model, in its GGUF file or in its folder; needs no
  /// model. Throws what load_tokenizer throws.
  std::unique_ptr<ModelTokenizer> load_tokenizer();
  /// That of the text which a decoder reads, where it has one of its own: Marian. Else null. Throws
  /// as load_tokenizer does.
  std::unique_ptr<ModelTokenizer> load_target_tokenizer() const;
  /// Whether load_tokenizer() threw `error` since there is none that can be read, while the model
  /// can be.
  bool lacks_tokenizer(const Error& error) const;
  /// The metadata of a GGUF file whose model has been loaded, null of others; lives as long as the
  /// object, or a copy.
  const Gguf* gguf() const noexcept { return gguf_ == nullptr ? nullptr : &gguf_->first(); }

 private:
  std::string given_;
  std::filesystem::path path_;
  OpenFiles files_;
  ModelForm form_;
  std::shared_ptr<const GgufFiles> gguf_;
};

}  // namespace attnviz::app
