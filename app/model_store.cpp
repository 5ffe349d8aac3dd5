#include "model_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

fs::path cache_folder() {
  if (const auto cache = environment("HF_HUB_CACHE")) {
    return *cache;
  }
  if (const auto home = environment("HF_HOME")) {
    return fs::path(*home) / "hub";
  }
  const fs::path cache =
      environment("XDG_CACHE_HOME").value_or(environment("HOME").value_or("") + "/.cache");
  return cache / "huggingface" / "hub";
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// A repository is named "name" or "owner/name", without anything that leads elsewhere.
bool is_model_name(const std::string& name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
  return !name.empty() && name.find_first_not_of(kAllowed) == std::string::npos &&
         name.find("..") == std::string::npos && name.front() != '/' && name.front() != '.' &&
         name.back() != '/' && std::count(name.begin(), name.end(), '/') <= 1;
}

// The snapshot that refs/main names, or the one that was written last.
std::optional<fs::path> snapshot(const fs::path& repository) {
  std::ifstream ref(repository / "refs" / "main");
  std::string revision;
  if (std::getline(ref, revision) && is_model_name(revision) &&
      is_there(repository / "snapshots" / revision)) {
    return repository / "snapshots" / revision;
  }
  std::optional<fs::path> newest;
  std::error_code error;
  fs::file_time_type newest_time;
  for (const fs::directory_entry& entry : fs::directory_iterator(repository / "snapshots", error)) {
    std::error_code ignored;
    const fs::file_time_type time = entry.last_write_time(ignored);
    if (!newest || time > newest_time) {
      newest = entry.path();
      newest_time = time;
    }
  }
  return newest;
}

}  // namespace

fs::path find_model(const fs::path& given) {
  const std::string name = given.string();
  const std::string extension = given.extension().string();
  if (is_there(given) || extension == ".json" || extension == ".safetensors" ||
      !is_model_name(name)) {
    return given;
  }
  std::string folder = "models--" + name;
  if (const std::size_t slash = folder.find('/'); slash != std::string::npos) {
    folder.replace(slash, 1, "--");
  }
  const fs::path repository = cache_folder() / folder;
  if (const auto found = snapshot(repository)) {
    return *found;
  }
  throw Error(
      ErrorKind::kIo,
      fmt::format("model {}: no such file or folder, and not in the Hugging Face cache ({}). "
                  "attnviz downloads nothing; this does: hf download {}",
                  attnviz::quoted(name), repository.string(), name));
}

}  // namespace attnviz::app
