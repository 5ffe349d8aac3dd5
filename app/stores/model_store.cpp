#include "stores/model_store.h"

#include <fmt/format.h>

#include <system_error>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/suggest.h"
#include "options/options.h"
#include "stores/gguf_choice.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

bool looks_like_file(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".json" || extension == ".safetensors" || extension == ".gguf";
}

// Other tags of the same model, else a name that may be meant.
std::string similar_names(const ModelName& name, const std::vector<Store>& stores) {
  std::vector<std::string> tags;
  std::vector<std::string> all = {kDemo};
  for (const Store& store : stores) {
    for (const StoreEntry& entry : store.list(store.root)) {
      if (entry.name.starts_with(name.path() + ":")) {
        tags.push_back(entry.name);
      }
      all.push_back(entry.name);
    }
  }
  return tags.empty()
             ? did_you_mean(name.text(), all)
             : fmt::format("; there {} {}", tags.size() == 1 ? "is" : "are", joined(tags, "and"));
}

[[noreturn]] void fail(const ModelName& name, const std::vector<Store>& stores) {
  std::string places;
  for (const Store& store : stores) {
    places +=
        fmt::format("{}{} ({}{})", places.empty() ? "" : ", ", store.title, short_path(store.root),
                    is_barred(store.root) ? ", which you may not read" : "");
  }
  const bool is_owned = name.parts.size() > 1;
  throw Error(
      ErrorKind::kIo,
      fmt::format("model {}: no such file or folder, and no model of that name{}. Looked "
                  "in {}. attnviz downloads nothing; these do: ollama pull {}{}",
                  attnviz::quoted(name.text()), similar_names(name, stores), places, name.text(),
                  name.parts.size() > 2 ? ""
                  : is_owned            ? fmt::format(", lms get {0}, hf download {0}", name.path())
                                        : fmt::format(", hf download {}", name.path())));
}

}  // namespace

std::vector<Store> model_stores() {
  std::vector<Store> stores = ollama_stores();
  for (const auto& more : {lm_studio_stores(), llama_cpp_stores(), hugging_face_stores()}) {
    stores.insert(stores.end(), more.begin(), more.end());
  }
  return stores;
}

std::string short_path(const fs::path& path) {
  const std::string text = path.string();
  const auto home = environment("HOME");
  return home && text.starts_with(*home + "/") ? "~" + text.substr(home->size()) : text;
}

fs::path find_model(const fs::path& given) {
  std::error_code ignored;
  if (fs::is_directory(given, ignored) && !has_safetensors(given)) {
    const ModelName name{{given.string()}, {}};
    return choose_gguf(gguf_files_in(given), name).value_or(given);
  }
  const auto name = parse_model_name(given.string());
  if (is_there(given) || looks_like_file(given) || !name) {
    return given;
  }
  const std::vector<Store> stores = model_stores();
  for (const Store& store : stores) {
    if (auto found = store.find(store.root, *name)) {
      return *std::move(found);
    }
  }
  fail(*name, stores);
}

}  // namespace attnviz::app
