// The cache of Hugging Face's tools: the files of each repository in snapshots.
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/hugging_face.h"
#include "attnviz/model/weight_files.h"
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

}  // namespace

std::optional<fs::path> snapshot(const fs::path& repository, Unread* unread) {
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

namespace {

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
  if (name.tag.empty() && has_weights(*found)) {
    return found;
  }
  if (auto file = choose_gguf(gguf_files_in(*found), name)) {
    return file;
  }
  return name.tag.empty() ? found : std::nullopt;
}

// Of each repository one, by way of the repository's folder.
std::vector<fs::path> snapshots_in(const fs::path& root, Unread& unread) {
  std::vector<fs::path> repositories;
  for (const std::string& folder : names_in(root, &unread)) {
    if (repository_name(folder)) {
      repositories.push_back(root / folder);
    }
  }
  repositories = distinct_folders(std::move(repositories));
  std::vector<fs::path> folders;
  folders.reserve(repositories.size());
  for (const fs::path& repository : repositories) {
    folders.push_back(repository / "snapshots");
  }
  std::vector<fs::path> snapshots;
  for (const fs::path& folder : distinct_folders(std::move(folders))) {
    if (auto found = snapshot(folder.parent_path(), &unread)) {
      snapshots.push_back(*std::move(found));
    }
  }
  return distinct_folders(std::move(snapshots));
}

// Why a snapshot without a model of its own, such as an adapter's, is not read; empty if it does
// not look like one.
std::string refusal(const fs::path& folder) {
  try {
    find_weights(folder);
  } catch (const Error& error) {
    return error.kind() == ErrorKind::kUnsupported ? error.what() : std::string();
  }
  return {};
}

std::vector<StoreEntry> list_cache(const fs::path& root, Unread& unread) {
  std::vector<StoreEntry> entries;
  const std::vector<fs::path> snapshots = snapshots_in(root, unread);
  std::vector<std::vector<GgufChoice>> files = gguf_files_in_each(snapshots, &unread);
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    const fs::path& found = snapshots[i];
    const std::string folder = found.parent_path().parent_path().filename();
    const std::string name = repository_name(folder).value_or(folder);
    if (has_weights(found) || (files[i].empty() && is_there(found / "config.json"))) {
      entries.push_back({name, found, {}});
    } else if (std::string problem = files[i].empty() ? refusal(found) : ""; !problem.empty()) {
      entries.push_back({name, found, std::move(problem)});
    }
    for (GgufChoice& file : files[i]) {
      entries.push_back({name + ":" + file.tag, std::move(file.path), {}});
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
