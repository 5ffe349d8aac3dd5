// Folders of GGUF files: LM Studio's and llama.cpp's.
#include "stores/model_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/tensor_index.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".gguf";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Whether a part of a file's name is a quantisation: Q4_K_M, IQ2_XS, F16, MXFP4.
bool is_quantisation(std::string_view part) {
  const std::string name = ascii_lower(part);
  for (const char* exact : {"f16", "bf16", "f32"}) {
    if (name == exact) {
      return true;
    }
  }
  for (const std::string_view begin : {"q", "iq", "tq", "mxfp"}) {
    if (name.starts_with(begin) && name.size() > begin.size() && is_digit(name[begin.size()])) {
      return true;
    }
  }
  return false;
}

// The last part of a stem that is a quantisation; empty: none.
std::string quantisation_in(std::string_view stem) {
  while (!stem.empty()) {
    const std::size_t mark = stem.find_last_of("-.");
    const std::string_view part = mark == std::string_view::npos ? stem : stem.substr(mark + 1);
    if (is_quantisation(part)) {
      return std::string(part);
    }
    stem = stem.substr(0, mark == std::string_view::npos ? 0 : mark);
  }
  return {};
}

}  // namespace

std::vector<GgufChoice> gguf_files_directly_in(const fs::path& folder, Unread* unread) {
  std::vector<GgufChoice> files;
  for (const std::string& name : names_in(folder, unread)) {
    if (!name.ends_with(kExtension) || ascii_lower(name).find("mmproj") != std::string::npos ||
        !is_file(folder / name)) {
      continue;
    }
    const std::optional<ShardName> shard = parse_shard_name(name);
    if (shard && shard->number != 1) {
      continue;
    }
    std::string_view stem = shard ? shard->name : std::string_view(name);
    stem.remove_suffix(shard ? 0 : kExtension.size());
    files.push_back({folder / name, std::string(stem)});
  }
  return files;
}

void shorten_tags(std::vector<GgufChoice>& files) {
  std::vector<std::string> short_tags;
  short_tags.reserve(files.size());
  std::map<std::string, std::size_t> counts;
  for (const GgufChoice& file : files) {
    short_tags.push_back(quantisation_in(file.tag));
    ++counts[short_tags.back()];
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!short_tags[i].empty() && counts[short_tags[i]] == 1) {
      files[i].tag = short_tags[i];
    }
  }
}

std::vector<std::vector<GgufChoice>> gguf_files_in_each(const std::vector<fs::path>& folders,
                                                        Unread* unread) {
  std::vector<std::vector<GgufChoice>> files;
  std::vector<fs::path> inner;
  std::map<std::string, std::size_t> places;  // index of an inner folder's parent
  for (const fs::path& folder : folders) {
    for (const std::string& name : names_in(folder)) {
      std::error_code ignored;
      if (fs::is_directory(folder / name, ignored)) {
        inner.push_back(folder / name);
        places.emplace(inner.back().string(), files.size());
      }
    }
    files.push_back(gguf_files_directly_in(folder, unread));
  }
  for (const fs::path& folder : distinct_folders(std::move(inner), folders)) {
    std::ranges::move(gguf_files_directly_in(folder, unread),
                      std::back_inserter(files[places.at(folder.string())]));
  }
  std::ranges::for_each(files, shorten_tags);
  return files;
}

std::vector<GgufChoice> gguf_files_in(const fs::path& folder) {
  return gguf_files_in_each({folder}).front();
}

std::optional<fs::path> choose_gguf(const std::vector<GgufChoice>& files, const ModelName& name) {
  const bool is_any = name.tag.empty() || name.tag == "latest";
  if (is_any && files.size() == 1) {
    return files.front().path;
  }
  const std::string wanted = ascii_lower(is_any ? "Q4_K_M" : name.tag);
  const auto found = std::ranges::find_if(
      files, [&](const GgufChoice& file) { return ascii_lower(file.tag) == wanted; });
  if (found != files.end()) {
    return found->path;
  }
  if (is_any && !files.empty()) {
    std::vector<std::string> names;
    names.reserve(files.size());
    for (const GgufChoice& file : files) {
      names.push_back(is_there(name.path()) ? file.path.string() : name.path() + ":" + file.tag);
    }
    throw Error(ErrorKind::kUsage,
                fmt::format("model {}: found several files, and none is Q4_K_M; give one of {}",
                            in_quotes(name.text()), joined(names, "and")));
  }
  return std::nullopt;
}

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
  const std::vector<fs::path> repositories = folders_in(folders_in({root}, unread), unread);
  std::vector<std::vector<GgufChoice>> files = gguf_files_in_each(repositories, &unread);
  for (std::size_t i = 0; i < repositories.size(); ++i) {
    const std::string publisher = repositories[i].parent_path().filename();
    const std::string repository = repositories[i].filename();
    for (GgufChoice& file : files[i]) {
      entries.push_back(
          {fmt::format("{}/{}:{}", publisher, repository, file.tag), std::move(file.path), {}});
    }
  }
  return entries;
}

struct Repository {
  std::string owner;
  std::string name;

  // The prefix of its file names.
  std::string prefix() const { return fmt::format("{}_{}_", owner, name); }
};

// The repositories with a manifest in llama.cpp's cache: "manifest=owner=name=tag.json".
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

// Files by the longest repository prefix of their names: one repository's name may begin with
// another's.
std::map<std::string, std::vector<GgufChoice>> files_by_prefix(
    const std::vector<Repository>& repositories, std::vector<GgufChoice> files) {
  std::map<std::string, std::vector<GgufChoice>> by_prefix;
  for (const Repository& repository : repositories) {
    by_prefix[repository.prefix()];
  }
  for (GgufChoice& file : files) {
    std::string begin = file.tag.substr(0, file.tag.rfind('_') + 1);  // prefixes end with _
    while (!begin.empty() && !by_prefix.contains(begin)) {
      begin.pop_back();
      begin.resize(begin.rfind('_') + 1);
    }
    if (!begin.empty()) {
      file.tag.erase(0, begin.size());
      by_prefix[begin].push_back(std::move(file));
    }
  }
  for (auto& [prefix, own] : by_prefix) {
    shorten_tags(own);
  }
  return by_prefix;
}

std::optional<fs::path> find_llama_cpp(const fs::path& root, const ModelName& name) {
  std::vector<GgufChoice> files = gguf_files_directly_in(root);
  if (name.parts.size() == 1 && name.tag.empty()) {
    const auto found = std::ranges::find(files, name.parts[0], &GgufChoice::tag);
    return found == files.end() ? std::nullopt : std::optional(found->path);
  }
  const std::vector<Repository> repositories = repositories_in(names_in(root));
  const auto found = std::ranges::find_if(repositories, [&](const Repository& repository) {
    return name.parts == std::vector{repository.owner, repository.name};
  });
  return found == repositories.end()
             ? std::nullopt
             : choose_gguf(files_by_prefix(repositories, std::move(files))[found->prefix()], name);
}

std::vector<StoreEntry> list_llama_cpp(const fs::path& root, Unread& unread) {
  std::map<fs::path, StoreEntry> entries;
  const std::vector<Repository> repositories = repositories_in(names_in(root, &unread));
  std::vector<GgufChoice> files = gguf_files_directly_in(root);
  for (const GgufChoice& file : files) {
    entries[file.path] = {file.tag, file.path, {}};
  }
  auto by_prefix = files_by_prefix(repositories, std::move(files));
  for (const Repository& repository : repositories) {
    // If several manifests share a prefix, the first one gets its files.
    for (const GgufChoice& file : std::exchange(by_prefix[repository.prefix()], {})) {
      entries[file.path].name =
          fmt::format("{}/{}:{}", repository.owner, repository.name, file.tag);
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
    const fs::path root = (fs::path(*cache) / "").parent_path();  // drops a trailing slash
    return {{"llama.cpp", root, find_llama_cpp, list_llama_cpp}};
  }
  const auto cache = cache_home();
  return cache ? std::vector<Store>{{"llama.cpp", *cache / "llama.cpp", find_llama_cpp,
                                     list_llama_cpp}}
               : std::vector<Store>();
}

}  // namespace attnviz::app
