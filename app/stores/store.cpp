#include "stores/store.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/file_kind.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/tensor_index.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "stores/model_store.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAllowed =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

bool is_part(std::string_view part) {
  return !part.empty() && part.front() != '.' &&
         part.find_first_not_of(kAllowed) == std::string_view::npos;
}

// The path with links resolved; the path itself if it does not lead to a folder.
std::string real_path(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {  // canonical() detects cyclic links only slowly
    return path.string();
  }
  const fs::path real = fs::canonical(path, error);
  return error ? path.string() : real.string();
}

bool is_link(const fs::path& path) {
  std::error_code ignored;
  return fs::is_symlink(path, ignored);
}

}  // namespace

std::string ModelName::path() const {
  return joined_by(parts, "/");
}

std::string ModelName::text() const {
  return tag.empty() ? path() : path() + ":" + tag;
}

std::optional<ModelName> parse_model_name(std::string_view text) {
  constexpr std::size_t kMostParts = 3;
  ModelName name;
  const std::size_t slash = text.rfind('/');
  const std::size_t colon = text.find(':', slash == std::string_view::npos ? 0 : slash);
  if (colon != std::string_view::npos) {
    name.tag = text.substr(colon + 1);
    text = text.substr(0, colon);
    if (!is_part(name.tag)) {
      return std::nullopt;
    }
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    name.parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  for (std::size_t i = 0; i < name.parts.size(); ++i) {
    std::string part = name.parts[i];
    if (i == 0 && name.parts.size() == kMostParts) {  // a host may have a port
      std::ranges::replace(part, ':', '.');
    }
    if (!is_part(part)) {
      return std::nullopt;
    }
  }
  return name.parts.size() <= kMostParts ? std::optional(std::move(name)) : std::nullopt;
}

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

std::optional<fs::path> cache_home() {
  if (const auto cache = environment("XDG_CACHE_HOME")) {
    return *cache;
  }
  const auto home = environment("HOME");
  return home ? std::optional(fs::path(*home) / ".cache") : std::nullopt;
}

bool is_barred(const fs::path& path) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  if (error == std::errc::permission_denied) {
    return true;
  }
  if (is_folder) {
    const fs::directory_iterator entries(path, error);
  }
  return error == std::errc::permission_denied;
}

std::string first_line(const fs::path& path) {
  constexpr std::size_t kMost = 256;
  if (!is_file(path)) {
    return {};
  }
  try {
    const MappedFile file(path);
    const std::string_view line = file.bytes().substr(0, kMost);
    return std::string(line.substr(0, line.find_first_of("\r\n")));
  } catch (const Error&) {
    return {};
  }
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::string short_path(const fs::path& path) {
  const std::string text = path.string();
  const auto home = environment("HOME");
  return home && text.starts_with(*home + "/") ? "~" + text.substr(home->size()) : text;
}

std::vector<std::string> names_in(const fs::path& folder, Unread* unread) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  while (!error && entries != fs::directory_iterator()) {
    std::string name = entries->path().filename().string();
    if (!name.starts_with('.')) {
      names.push_back(std::move(name));
    }
    entries.increment(error);
  }
  if (unread != nullptr && error && error != std::errc::no_such_file_or_directory &&
      error != std::errc::not_a_directory) {
    unread->insert(fmt::format("{}: {}", short_path(folder), error.message()));
  }
  std::ranges::sort(names);
  return names;
}

std::vector<fs::path> distinct_folders(std::vector<fs::path> folders,
                                       const std::vector<fs::path>& but) {
  std::map<std::string, std::size_t> chosen;  // by the real folder
  for (const fs::path& folder : but) {
    chosen.emplace(real_path(folder), folders.size());
  }
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const auto [entry, is_new] = chosen.emplace(real_path(folders[i]), i);
    std::size_t& first = entry->second;
    if (!is_new && first < folders.size() && is_link(folders[first]) && !is_link(folders[i])) {
      first = i;
    }
  }
  std::vector<std::size_t> places;
  for (const auto& [real, place] : chosen) {
    if (place < folders.size()) {
      places.push_back(place);
    }
  }
  std::ranges::sort(places);
  std::vector<fs::path> distinct;
  distinct.reserve(places.size());
  for (const std::size_t place : places) {
    distinct.push_back(std::move(folders[place]));
  }
  return distinct;
}

std::vector<fs::path> folders_in(const std::vector<fs::path>& folders, Unread& unread) {
  std::vector<fs::path> found;
  for (const fs::path& folder : folders) {
    for (const std::string& name : names_in(folder, &unread)) {
      if (!is_file(folder / name)) {
        found.push_back(folder / name);
      }
    }
  }
  return distinct_folders(std::move(found));
}

namespace {

namespace fs = std::filesystem;

// Refuses an existing file that cannot be JSON. A pipe is left to its reader.
void refuse_other_kinds(const fs::path& path, OpenFiles files) {
  if (!is_file(path)) {
    return;
  }
  const MappedFile file = files.open(path);
  const std::string_view bytes = file.bytes();
  const FileKind kind = kind_of_model_bytes(bytes);
  if (described_kind(kind, bytes) != name_of(kind)) {  // the description includes advice
    refuse_other_kind(bytes, path.string());
  }
  if (kind != FileKind::kOther || bytes.starts_with('<')) {
    throw AdviceError(ErrorKind::kMalformed,
                      no_model(kind == FileKind::kOther ? FileKind::kPage : kind, path));
  }
}

ModelForm form_of(const fs::path& path, const OpenFiles& files) {
  if (is_gguf_file(path, files)) {
    return ModelForm::kGguf;
  }
  if (is_hugging_face(path)) {
    return ModelForm::kHuggingFace;
  }
  refuse_other_kinds(path, files);
  return ModelForm::kWeightsJson;
}

}  // namespace

StoredModel::StoredModel(std::string given)
    : given_(std::move(given)), path_(find_model(given_)), form_(form_of(path_, files_)) {}

std::vector<fs::path> StoredModel::files() const {
  std::vector<fs::path> files = {path_};
  if (form_ == ModelForm::kHuggingFace) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(hugging_face_folder(path_), ignored)) {
      files.push_back(entry.path());
    }
  }
  const std::string name = path_.filename().string();
  if (const auto shard = parse_shard_name(name); shard && form_ == ModelForm::kGguf) {
    for (std::size_t number = 1; number <= shard->count; ++number) {
      files.push_back(path_.parent_path() / shard_name(shard->name, number, shard->count));
    }
  }
  return files;
}

Model StoredModel::load(Copies copies) {
  switch (form_) {
    case ModelForm::kHuggingFace:
      return load_hugging_face(path_, files_, copies);
    case ModelForm::kWeightsJson:
      return load_weights_json(path_, files_);
    case ModelForm::kGguf:
      break;
  }
  gguf_ = std::make_shared<const GgufFiles>(path_, files_);
  Model model = load_gguf(gguf_);
  if (path_ != given_) {
    model.set_name(given_, model.config.family);  // some stores name files by digest
  }
  return model;
}

std::unique_ptr<ModelTokenizer> StoredModel::load_tokenizer() {
  if (form_ != ModelForm::kGguf) {
    return attnviz::load_tokenizer(hugging_face_folder(path_));
  }
  auto tokenizer = gguf_ != nullptr ? attnviz::load_tokenizer(gguf_->first())
                                    : attnviz::load_tokenizer(path_, files_);
  if (auto chat = path_ == given_ ? std::nullopt : ollama_chat_template(given_, path_)) {
    if (const auto bos = tokenizer->special_ids().bos) {
      chat->bos_token = tokenizer->piece(*bos);
    }
    tokenizer->set_chat_template(*std::move(chat));
  }
  return tokenizer;
}

std::unique_ptr<ModelTokenizer> StoredModel::load_target_tokenizer() const {
  const fs::path folder =
      form_ == ModelForm::kHuggingFace ? hugging_face_folder(path_) : fs::path();
  const fs::path own = folder / "target.spm";
  const bool is_used = !folder.empty() && is_file(own) && !is_file(folder / "tokenizer.json");
  return is_used ? attnviz::load_tokenizer(own) : nullptr;
}

bool StoredModel::lacks_tokenizer(const Error& error) const {
  return error.kind() == ErrorKind::kIo ||
         (form_ == ModelForm::kGguf && error.kind() == ErrorKind::kUnsupported);
}

}  // namespace attnviz::app
