#include "gguf_folders.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "gguf_choice.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

std::optional<fs::path> find_lm_studio(const fs::path& root, const ModelName& name) {
  if (name.parts.size() != 2) {
    return std::nullopt;
  }
  return choose_gguf(gguf_files_in(root / name.parts[0] / name.parts[1]), name);
}

std::vector<StoreEntry> list_lm_studio(const fs::path& root) {
  std::vector<StoreEntry> entries;
  for (const std::string& publisher : names_in(root)) {
    for (const std::string& repository : names_in(root / publisher)) {
      for (GgufChoice& file : gguf_files_in(root / publisher / repository)) {
        entries.push_back(
            {publisher + "/" + repository + ":" + file.tag, std::move(file.path), {}});
      }
    }
  }
  return entries;
}

// "owner_repository_" of a file in llama.cpp's cache, by the manifest beside it; empty: there is
// none, and only the file's whole name tells it.
std::optional<std::pair<std::string, std::string>> repository_of(
    const std::vector<std::string>& names, std::string_view file) {
  constexpr std::string_view kManifest = "manifest=";
  for (const std::string_view name : names) {
    if (!name.starts_with(kManifest)) {
      continue;
    }
    const std::size_t owner = kManifest.size();
    const std::size_t repository = name.find('=', owner);
    const std::size_t end =
        repository == std::string_view::npos ? repository : name.find('=', repository + 1);
    if (end == std::string_view::npos) {
      continue;
    }
    std::string path(name.substr(owner, end - owner));
    path[repository - owner] = '_';
    if (file.starts_with(path + "_")) {
      return std::pair(std::string(name.substr(owner, repository - owner)),
                       std::string(name.substr(repository + 1, end - repository - 1)));
    }
  }
  return std::nullopt;
}

std::optional<fs::path> find_llama_cpp(const fs::path& root, const ModelName& name) {
  if (name.parts.size() == 1 && name.tag.empty()) {
    const fs::path file = root / (name.parts[0] + ".gguf");
    return is_file(file) ? std::optional(file) : std::nullopt;
  }
  if (name.parts.size() != 2) {
    return std::nullopt;
  }
  return choose_gguf(gguf_files_in(root, name.parts[0] + "_" + name.parts[1] + "_"), name);
}

std::vector<StoreEntry> list_llama_cpp(const fs::path& root) {
  std::vector<StoreEntry> entries;
  const std::vector<std::string> names = names_in(root);
  for (const GgufChoice& file : gguf_files_in(root)) {
    StoreEntry entry{file.path.stem().string(), file.path, {}};
    if (file.path.parent_path() != root) {
      continue;
    }
    if (const auto repository = repository_of(names, file.path.filename().string())) {
      const auto& [owner, name] = *repository;
      for (const GgufChoice& sibling : gguf_files_in(root, owner + "_" + name + "_")) {
        if (sibling.path == file.path) {
          entry.name = owner + "/" + name + ":" + sibling.tag;
        }
      }
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

fs::path home() {
  return environment("HOME").value_or("");
}

}  // namespace

std::vector<Store> lm_studio_stores() {
  std::vector<Store> stores;
  for (const char* folder : {".lmstudio/models", ".cache/lm-studio/models"}) {
    stores.push_back({"LM Studio", home() / folder, find_lm_studio, list_lm_studio});
  }
  return stores;
}

std::vector<Store> llama_cpp_stores() {
  const auto cache = environment("LLAMA_CACHE");
  return {{"llama.cpp", cache ? fs::path(*cache) : home() / ".cache" / "llama.cpp", find_llama_cpp,
           list_llama_cpp}};
}

}  // namespace attnviz::app
