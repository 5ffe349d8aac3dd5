#include "stores/model_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/file_kind.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/model/stored_model.h"
#include "options/advice.h"
#include "options/options.h"
#include "stores/model_source.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

bool looks_like_weights(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".json" || extension == ".safetensors" || extension == ".gguf";
}

// The first part of well-known model names; a size, a version or a tag follows.
constexpr std::string_view kFamilies[] = {
    "gpt2",       "gpt-2",      "distilgpt2", "gpt-neo",   "gpt-j",   "gpt-oss",  "bert",
    "distilbert", "roberta",    "albert",     "electra",   "t5",      "flan-t5",  "bart",
    "llama",      "meta-llama", "codellama",  "tinyllama", "mistral", "mixtral",  "qwen",
    "qwen1",      "qwen2",      "qwen3",      "phi",       "gemma",   "smollm",   "smollm2",
    "smollm3",    "falcon",     "opt",        "bloom",     "pythia",  "deepseek", "starcoder",
    "starcoder2", "stablelm",   "olmo",       "granite",   "vicuna",  "glm",      "minicpm",
    "hunyuan",    "tinystories"};

// "gpt2-medium", "llama3.2:1b", "meta-llama/Llama-3.2-1B". Without a digit or an owner, the name
// may be an everyday word.
bool is_well_known(const std::string& word, bool beside_sentence) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t slash = word.rfind('/');
  const std::string name = ascii_lower(word.substr(slash == std::string::npos ? 0 : slash + 1));
  const bool is_family = std::ranges::any_of(kFamilies, [&](std::string_view family) {
    return name.starts_with(family) &&
           (name.size() == family.size() ||
            std::string_view(".:-0123456789").find(name[family.size()]) != std::string_view::npos);
  });
  return is_family && (beside_sentence || slash != std::string::npos ||
                       name.find_first_of(kDigits) != std::string::npos);
}

// Other tags of the same model, else a similar name.
std::string similar_names(const ModelName& name, const std::vector<Store>& stores) {
  std::vector<std::string> tags;
  std::vector<std::string> all = {kDemo};
  Unread ignored;
  for (const Store& store : stores) {
    for (const StoreEntry& entry : store.list(store.root, ignored)) {
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
    if (store.title == kSampleStore) {
      continue;  // their prefix identifies them
    }
    places +=
        fmt::format("{}{} ({}{})", places.empty() ? "" : ", ", store.title, short_path(store.root),
                    is_barred(store.root) ? ", which you may not read" : "");
  }
  const bool is_owned = name.parts.size() > 1;
  throw Error(ErrorKind::kIo,
              fmt::format("model {}: there is no file, folder or model with this name{}. Looked in "
                          "{}. attnviz downloads nothing; these programs do: ollama pull {}{}",
                          in_quotes(name.text()), similar_names(name, stores), places, name.text(),
                          name.parts.size() > 2 ? ""
                          : is_owned ? fmt::format(", lms get {0}, hf download {0}", name.path())
                                     : fmt::format(", hf download {}", name.path())));
}

// Splits "checkpoint-500" into "checkpoint-" and 500.
std::pair<std::string, double> counted_name(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const auto number = parse_number<double>(std::string_view(name).substr(digits));
  return {name.substr(0, digits), number.value_or(-1.0)};
}

// For a folder one level too high (of checkpoints or models): throws an error that lists the models
// in it, numbered ones in descending order. Returns if there are none.
void name_models_in(const fs::path& folder) {
  constexpr std::size_t kMost = 5;
  std::vector<fs::path> models;
  for (const std::string& name : names_in(folder)) {
    if (has_weights(folder / name)) {
      models.push_back(folder / name);
    }
  }
  if (models.empty()) {
    return;
  }
  std::ranges::stable_sort(models, [](const fs::path& a, const fs::path& b) {
    const auto [name_of_a, number_of_a] = counted_name(a);
    const auto [name_of_b, number_of_b] = counted_name(b);
    return name_of_a != name_of_b ? name_of_a < name_of_b : number_of_a > number_of_b;
  });
  const std::size_t n_more = models.size() - std::min(models.size(), kMost);
  models.resize(models.size() - n_more);
  std::vector<std::string> lines;
  lines.reserve(models.size());
  for (const fs::path& model : models) {
    lines.push_back("-m " + shell_quoted(model));
  }
  throw AdviceError(
      ErrorKind::kUsage,
      {fmt::format("{}: the folder itself contains no model; give one of its subfolders{}:",
                   folder.string(),
                   n_more == 0 ? "" : fmt::format(" ({} more contain one)", n_more)),
       std::move(lines)});
}

// The model in a folder without weights of its own.
fs::path model_in(const fs::path& given) {
  const auto current = snapshot(given);
  fs::path folder = current.value_or(given);
  if (has_weights(folder)) {
    return folder;
  }
  if (auto file = choose_gguf(gguf_files_in(folder), {{given.string()}, {}})) {
    return *std::move(file);
  }
  name_models_in(folder);
  return folder;
}

}  // namespace

std::vector<Store> model_stores() {
  std::vector<Store> stores = ollama_stores();
  for (const auto& more : {lm_studio_stores(), llama_cpp_stores(), hugging_face_stores()}) {
    stores.insert(stores.end(), more.begin(), more.end());
  }
  stores.push_back(sample_store());
  return stores;
}

Advice no_model(FileKind kind, const fs::path& path, std::string_view but) {
  const std::string described = described_kind(kind, {});
  if (described != name_of(kind)) {
    return {fmt::format("{}: {}{}", path.string(), but, described)};
  }
  const std::string begin =
      fmt::format("{}: is {}{}, not a model; ", path.string(), but, name_of(kind));
  if (kind == FileKind::kNumPy) {
    return {begin + "to draw the attention in it:", {"attnviz render " + shell_quoted(path)}};
  }
  return {begin + "attnviz models lists the models on this machine"};
}

bool names_model(const std::string& word, bool beside_sentence) {
  const auto name = parse_model_name(word);
  if (word == kDemo || (name && is_well_known(word, beside_sentence))) {
    return true;
  }
  if (is_there(word)) {
    std::error_code ignored;
    const bool is_folder = fs::is_directory(word, ignored);
    return is_folder ? has_weights(word) || !gguf_files_in(word).empty()
                     : is_file(word) && looks_like_weights(word);
  }
  if (!name) {
    return false;
  }
  const std::vector<Store> stores = model_stores();
  return std::ranges::any_of(stores, [&name](const Store& store) {
    try {
      return store.find(store.root, *name).has_value();
    } catch (const Error&) {
      return true;  // it exists, but cannot be used
    }
  });
}

fs::path find_model(const fs::path& given) {
  if (auto sample = sample_path(given)) {
    return *std::move(sample);
  }
  std::error_code ignored;
  if (fs::is_directory(given, ignored) && !has_weights(given)) {
    return model_in(given);
  }
  if (const FileKind kind = kind_of_name(given); !is_there(given) && kind != FileKind::kOther) {
    throw AdviceError(ErrorKind::kIo, no_model(kind, given, "file not found; its name "));
  }
  const auto name = parse_model_name(given.string());
  if (is_there(given) || looks_like_weights(given) || !name) {
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
