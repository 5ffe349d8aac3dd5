// Folders of GGUF files: LM Studio's and llama.cpp's.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "attnviz/formats/shard_name.h"
#include "stores/gguf_choice.h"
#include "stores/model_store.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

std::optional<fs::path> find_lm_studio(const fs::path& root, const ModelName& name) {
  if (name.parts.size() != 2) {
    return std::nullopt;
  }
  return choose_gguf(gguf_files_in(root / name.parts[0] / name.parts[1]), name);
}

std::vector<StoreEntry> list_lm_studio(const fs::path& root, Unread& unread) {
  std::vector<StoreEntry> entries;
  for (const std::string& publisher : names_in(root, &unread)) {
    for (const std::string& repository : names_in(root / publisher, &unread)) {
      for (GgufChoice& file : gguf_files_in(root / publisher / repository, {}, &unread)) {
        entries.push_back(
            {fmt::format("{}/{}:{}", publisher, repository, file.tag), std::move(file.path), {}});
      }
    }
  }
  return entries;
}

struct Repository {
  std::string owner;
  std::string name;

  // What its files' names begin with.
  std::string prefix() const { return fmt::format("{}_{}_", owner, name); }
};

// The repositories that llama.cpp's cache has manifests of: "manifest=owner=name=tag.json".
std::vector<Repository> repositories_in(const std::vector<std::string>& names) {
  constexpr std::string_view kManifest = "manifest=";
  std::vector<Repository> found;
  for (const std::string_view name : names) {
    const std::size_t owner = kManifest.size();
    const std::size_t repository = name.starts_with(kManifest) ? name.find('=', owner) : name.npos;
    const std::size_t end =
        repository == std::string_view::npos ? repository : name.find('=', repository + 1);
    if (end != std::string_view::npos) {
      found.push_back({std::string(name.substr(owner, repository - owner)),
                       std::string(name.substr(repository + 1, end - repository - 1))});
    }
  }
  return found;
}

// Its files, which another repository whose name goes on behind this one's may not claim.
std::vector<GgufChoice> files_of(const fs::path& root, const Repository& repository,
                                 const std::vector<Repository>& all) {
  const std::string prefix = repository.prefix();
  std::vector<GgufChoice> files = gguf_files_in(root, prefix);
  std::erase_if(files, [&](const GgufChoice& file) {
    return std::ranges::any_of(all, [&](const Repository& other) {
      return other.prefix().size() > prefix.size() &&
             file.path.filename().string().starts_with(other.prefix());
    });
  });
  return files;
}

std::optional<fs::path> find_llama_cpp(const fs::path& root, const ModelName& name) {
  if (name.parts.size() == 1 && name.tag.empty()) {
    const std::vector<GgufChoice> files = gguf_files_in(root);
    const auto found = std::ranges::find_if(files, [&](const GgufChoice& file) {
      return file.path.parent_path() == root && name_of_shards(file.path) == name.parts[0];
    });
    return found == files.end() ? std::nullopt : std::optional(found->path);
  }
  const std::vector<Repository> repositories = repositories_in(names_in(root));
  const auto found = std::ranges::find_if(repositories, [&](const Repository& repository) {
    return name.parts == std::vector{repository.owner, repository.name};
  });
  return found == repositories.end() ? std::nullopt
                                     : choose_gguf(files_of(root, *found, repositories), name);
}

std::vector<StoreEntry> list_llama_cpp(const fs::path& root, Unread& unread) {
  std::map<fs::path, StoreEntry> entries;  // by file, as several manifests may tell of one
  const std::vector<Repository> repositories = repositories_in(names_in(root, &unread));
  for (const Repository& repository : repositories) {
    for (GgufChoice& file : files_of(root, repository, repositories)) {
      StoreEntry entry{
          fmt::format("{}/{}:{}", repository.owner, repository.name, file.tag), file.path, {}};
      entries.emplace(std::move(file.path), std::move(entry));
    }
  }
  for (GgufChoice& file : gguf_files_in(root, {}, &unread)) {
    if (file.path.parent_path() == root) {  // others lie in folders
      StoreEntry entry{name_of_shards(file.path), file.path, {}};
      entries.emplace(std::move(file.path), std::move(entry));
    }
  }
  std::vector<StoreEntry> list;
  list.reserve(entries.size());
  for (auto& [path, entry] : entries) {
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

std::vector<Store> lm_studio_stores() {
  std::vector<Store> stores;
  const auto home = environment("HOME");
  if (!home) {
    return stores;
  }
  for (const char* folder : {".lmstudio/models", ".cache/lm-studio/models"}) {
    stores.push_back({"LM Studio", fs::path(*home) / folder, find_lm_studio, list_lm_studio});
  }
  return stores;
}

std::vector<Store> llama_cpp_stores() {
  if (const auto cache = environment("LLAMA_CACHE")) {
    const fs::path root = (fs::path(*cache) / "").parent_path();  // without a slash at its end
    return {{"llama.cpp", root, find_llama_cpp, list_llama_cpp}};
  }
  const auto cache = cache_home();
  return cache ? std::vector<Store>{{"llama.cpp", *cache / "llama.cpp", find_llama_cpp,
                                     list_llama_cpp}}
               : std::vector<Store>();
}

}  // namespace attnviz::app
