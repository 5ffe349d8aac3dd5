// The cache of Hugging Face's tools: the files of each repository in snapshots.
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "attnviz/model/hugging_face.h"
#include "stores/gguf_choice.h"
#include "stores/model_store.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

std::optional<fs::path> cache_folder() {
  if (const auto cache = environment("HF_HUB_CACHE")) {
    return *cache;
  }
  if (const auto home = environment("HF_HOME")) {
    return fs::path(*home) / "hub";
  }
  const auto cache = cache_home();
  return cache ? std::optional(*cache / "huggingface" / "hub") : std::nullopt;
}

// The snapshot that refs/main names, or the one that was written last.
std::optional<fs::path> snapshot(const fs::path& repository, Unread* unread = nullptr) {
  const std::string revision = first_line(repository / "refs" / "main");
  if (!revision.empty()) {
    const auto name = parse_model_name(revision);
    if (name && name->parts.size() == 1 && is_there(repository / "snapshots" / revision)) {
      return repository / "snapshots" / revision;
    }
  }
  std::optional<fs::path> newest;
  fs::file_time_type newest_time;
  for (const std::string& name : names_in(repository / "snapshots", unread)) {
    const fs::path path = repository / "snapshots" / name;
    std::error_code ignored;
    const fs::file_time_type time = fs::last_write_time(path, ignored);
    if (!newest || time > newest_time) {
      newest = path;
      newest_time = time;
    }
  }
  return newest;
}

std::optional<fs::path> find_in_cache(const fs::path& root, const ModelName& name) {
  std::vector<std::string> parts = name.parts;
  if (parts.size() == 3 && (parts[0] == "hf.co" || parts[0] == "huggingface.co")) {
    parts.erase(parts.begin());
  }
  if (parts.size() > 2) {
    return std::nullopt;
  }
  std::string folder = "models--" + parts.front();
  if (parts.size() == 2) {
    folder += "--" + parts.back();
  }
  std::optional<fs::path> found = snapshot(root / folder);
  if (!found) {
    return std::nullopt;
  }
  if (name.tag.empty() && has_safetensors(*found)) {
    return found;
  }
  if (auto file = choose_gguf(gguf_files_in(*found), name)) {
    return file;
  }
  return name.tag.empty() ? found : std::nullopt;
}

std::vector<StoreEntry> list_cache(const fs::path& root, Unread& unread) {
  std::vector<StoreEntry> entries;
  for (const std::string& folder : names_in(root, &unread)) {
    const auto name = repository_name(folder);
    const auto found = name ? snapshot(root / folder, &unread) : std::nullopt;
    if (!found) {
      continue;
    }
    std::vector<GgufChoice> files = gguf_files_in(*found, {}, &unread);
    if (has_safetensors(*found) || (files.empty() && is_there(*found / "config.json"))) {
      entries.push_back({*name, *found, {}});
    }
    for (GgufChoice& file : files) {
      entries.push_back({*name + ":" + file.tag, std::move(file.path), {}});
    }
  }
  return entries;
}

}  // namespace

std::vector<Store> hugging_face_stores() {
  const auto cache = cache_folder();
  return cache ? std::vector<Store>{{"Hugging Face", *cache, find_in_cache, list_cache}}
               : std::vector<Store>();
}

}  // namespace attnviz::app
