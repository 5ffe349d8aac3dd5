// The cache of Hugging Face's tools: the files of each repository in snapshots. Ollama's store:
// manifests by name, which list blobs by their digests.
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/model/stored_model.h"
#include "options/advice.h"
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

// One snapshot for each repository, found through the repository's folder.
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

// The reason why a snapshot without its own model, such as an adapter's, is unsupported; empty if
// it is not one of these.
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

namespace {

namespace fs = std::filesystem;

constexpr const char* kHost = "registry.ollama.ai";
constexpr const char* kNamespace = "library";
constexpr const char* kTag = "latest";

// The blob of a layer.
fs::path blob_of(const fs::path& root, const JsonNode& layer) {
  constexpr std::string_view kPrefix = "sha256:";
  constexpr std::size_t kDigits = 64;
  const JsonNode node = layer.at("digest");
  const std::string_view digest = node.as_string();
  const bool is_digest =
      digest.starts_with(kPrefix) && digest.size() == kPrefix.size() + kDigits &&
      digest.find_first_not_of("0123456789abcdefABCDEF", kPrefix.size()) == std::string_view::npos;
  if (!is_digest) {
    node.fail(
        fmt::format("expected sha256: and 64 hexadecimal digits, found {}", in_quotes(digest)));
  }
  return root / "blobs" / fmt::format("sha256-{}", digest.substr(kPrefix.size()));
}

// The value of a key in the blob of a manifest's configuration; empty if there is none.
std::string configured(const fs::path& root, const JsonNode& manifest, std::string_view key) {
  const auto config = manifest.find("config");
  if (!config || config->kind() != JsonKind::kObject) {
    return {};
  }
  const fs::path path = blob_of(root, *config);
  if (!is_file(path)) {
    return {};
  }
  const MappedFile file(path);
  return optional_string(JsonTree::parse(file.bytes(), path.string()).root(), key);
}

std::vector<JsonNode> layers_of(const JsonNode& manifest) {
  const auto list = manifest.kind() == JsonKind::kObject ? manifest.find("layers") : std::nullopt;
  return list && list->kind() == JsonKind::kList ? list->as_list("a list of layers")
                                                 : std::vector<JsonNode>();
}

// Refuses a layer that Ollama applies to the weights, because attnviz does not.
[[noreturn]] void refuse_layer(const fs::path& manifest, std::string_view what,
                               std::string_view digest, const fs::path& model) {
  throw AdviceError(
      ErrorKind::kUnsupported,
      {fmt::format(
           "{}: the model has {} ({}), which changes its weights and is not applied: merge it into "
           "the weights and create a model from the result, or use the model without it",
           manifest.string(), what, digest),
       {fmt::format("attnviz -m {} \"The cat sat\"", shell_quoted(model))}});
}

fs::path model_of(const fs::path& root, const fs::path& path) {
  const MappedFile file(path);
  const JsonTree tree = JsonTree::parse(file.bytes(), path.string());
  const JsonNode manifest = tree.root();
  bool has_tensors = false;
  std::optional<fs::path> model;
  std::string_view what;  // the layer that is not applied
  std::string digest;
  for (const JsonNode& layer : layers_of(manifest)) {
    const std::string type = optional_string(layer, "mediaType");
    has_tensors = has_tensors || type == "application/vnd.ollama.image.tensor";
    if (type == "application/vnd.ollama.image.adapter") {
      what = "an adapter";
      digest = optional_string(layer, "digest");
    }
    if (type != "application/vnd.ollama.image.model") {
      continue;
    }
    fs::path blob = blob_of(root, layer);
    if (!is_file(blob)) {
      throw Error(
          ErrorKind::kIo,
          fmt::format(
              "{}: its blob {} is missing, so the download is incomplete; pull the model again",
              path.string(), blob.string()));
    }
    if (model && *model != blob) {
      what = "a second file of weights";
      digest = optional_string(layer, "digest");
    }
    model = model ? model : std::move(blob);
  }
  if (model) {
    if (!what.empty()) {
      refuse_layer(path, what, digest, *model);
    }
    return *model;
  }
  if (has_tensors) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format(
            "{}: the model has one blob for each tensor; attnviz reads models in one GGUF file",
            path.string()));
  }
  // The host of a model that has no weights on this machine.
  const std::string host =
      manifest.kind() == JsonKind::kObject ? configured(root, manifest, "remote_host") : "";
  throw Error(
      host.empty() ? ErrorKind::kMalformed : ErrorKind::kUnsupported,
      fmt::format("{}: expected a layer with a model, found none{}", path.string(),
                  host.empty() ? "" : fmt::format("; it runs remotely at {}", in_quotes(host))));
}

// Whether a manifest stands for this file; false for a broken one.
bool is_of(const fs::path& root, const fs::path& manifest, const fs::path& model) {
  try {
    return model_of(root, manifest) == model;
  } catch (const Error&) {
    return false;
  }
}

// The manifest of a name, if it exists.
std::optional<fs::path> manifest_of(const fs::path& root, const ModelName& name) {
  std::vector<std::string> parts = name.parts;
  if (parts.size() == 1) {
    parts.insert(parts.begin(), kNamespace);
  }
  if (parts.size() == 2) {
    parts.insert(parts.begin(), kHost);
  }
  fs::path path = root / "manifests";
  for (const std::string& part : parts) {
    path /= part;
  }
  path /= name.tag.empty() ? kTag : name.tag;
  return is_file(path) ? std::optional(path) : std::nullopt;
}

std::optional<fs::path> find_ollama(const fs::path& root, const ModelName& name) {
  const auto manifest = manifest_of(root, name);
  return manifest ? std::optional(model_of(root, *manifest)) : std::nullopt;
}

// Example messages that a model's author has put before all chats.
std::vector<ChatMessage> examples_in(const fs::path& blob) {
  const MappedFile file(blob);
  const JsonTree tree = JsonTree::parse(file.bytes(), blob.string());
  std::vector<ChatMessage> messages;
  for (const JsonNode& one : tree.root().as_list("a list of messages")) {
    messages.push_back(
        {std::string(one.at("role").as_string()), std::string(one.at("content").as_string())});
  }
  return messages;
}

// The texts that end an answer, from the parameters of a model.
std::vector<std::string> stops_in(const fs::path& blob) {
  const MappedFile file(blob);
  const JsonTree tree = JsonTree::parse(file.bytes(), blob.string());
  std::vector<std::string> stops;
  if (const auto list = find_value(tree.root(), "stop")) {
    for (const JsonNode& one : list->as_list("a list of texts")) {
      stops.emplace_back(one.as_string());
    }
  }
  return stops;
}

std::string text_in(const fs::path& blob) {
  constexpr std::size_t kLongest = std::size_t{1} << 24;
  const MappedFile file(blob);
  if (file.bytes().size() > kLongest) {
    throw Error(ErrorKind::kUnsupported, fmt::format("{}: a text of more than {} MiB in a model",
                                                     blob.string(), kLongest >> 20));
  }
  return std::string(file.bytes());
}

// The blobs of a model's chat template, by kind; nothing without a template, or if Ollama renders
// the model's chats without it.
using ChatBlobs = std::map<std::string, fs::path, std::less<>>;
std::optional<ChatBlobs> chat_blobs_in(const fs::path& root, const fs::path& path) {
  const MappedFile file(path);
  const JsonTree tree = JsonTree::parse(file.bytes(), path.string());
  const JsonNode manifest = tree.root();
  ChatBlobs blobs;
  for (const JsonNode& layer : layers_of(manifest)) {
    for (const char* const kind : {"template", "system", "messages", "params"}) {
      if (optional_string(layer, "mediaType") ==
          fmt::format("application/vnd.ollama.image.{}", kind)) {
        blobs.try_emplace(kind, blob_of(root, layer));
      }
    }
  }
  const bool is_rendered =
      blobs.contains("template") && configured(root, manifest, "renderer").empty();
  return is_rendered ? std::optional(std::move(blobs)) : std::nullopt;
}

std::optional<ChatTemplate> chat_template_in(const fs::path& root, const fs::path& path) {
  const auto blobs = chat_blobs_in(root, path);
  if (!blobs) {
    return std::nullopt;
  }
  const auto blob = [&blobs](std::string_view kind) -> std::optional<fs::path> {
    const auto found = blobs->find(kind);
    return found != blobs->end() ? std::optional(found->second) : std::nullopt;
  };
  const auto source = blob("template");
  ChatTemplate chat;
  chat.source = text_in(*source);
  chat.language = TemplateLanguage::kGo;
  chat.where = source->string();
  chat.tokenizer_adds_bos = true;
  if (const auto system = blob("system")) {
    chat.first.push_back({"system", text_in(*system)});
  }
  if (const auto examples = blob("messages")) {
    std::ranges::move(examples_in(*examples), std::back_inserter(chat.first));
  }
  if (const auto parameters = blob("params")) {
    chat.stops = stops_in(*parameters);
  }
  return chat;
}

std::string short_name(const std::string& host, const std::string& owner, const std::string& model,
                       const std::string& tag) {
  std::string name = model + ":" + tag;
  if (host != kHost) {
    return host + "/" + owner + "/" + name;
  }
  return owner == kNamespace ? name : owner + "/" + name;
}

std::vector<StoreEntry> list_ollama(const fs::path& root, Unread& unread) {
  std::vector<StoreEntry> entries;
  const std::vector<fs::path> owners = folders_in(folders_in({root / "manifests"}, unread), unread);
  for (const fs::path& model : folders_in(owners, unread)) {
    const fs::path owner = model.parent_path();
    for (const std::string& tag : names_in(model, &unread)) {
      const fs::path path = model / tag;
      if (!is_file(path)) {
        continue;
      }
      StoreEntry entry{
          short_name(owner.parent_path().filename(), owner.filename(), model.filename(), tag),
          {},
          {}};
      try {
        entry.path = model_of(root, path);
        entry.has_chat_template = chat_blobs_in(root, path).has_value();
      } catch (const Error& error) {
        entry.problem = error.what();
      }
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

}  // namespace

std::optional<ChatTemplate> ollama_chat_template(const std::string& name, const fs::path& model) {
  const auto parsed = parse_model_name(name);
  if (!parsed) {
    return std::nullopt;
  }
  for (const Store& store : ollama_stores()) {
    const auto manifest = manifest_of(store.root, *parsed);
    if (manifest && is_of(store.root, *manifest, model)) {
      return chat_template_in(store.root, *manifest);
    }
  }
  return std::nullopt;
}

std::vector<Store> ollama_stores() {
  const auto store = [](const fs::path& root) {
    return Store{"Ollama", root, find_ollama, list_ollama};
  };
  if (const auto root = environment("OLLAMA_MODELS")) {
    return {store(*root)};
  }
  std::vector<Store> stores;
  if (const auto home = environment("HOME")) {
    stores.push_back(store(fs::path(*home) / ".ollama" / "models"));
  }
  stores.push_back(store("/usr/share/ollama/.ollama/models"));
  return stores;
}

}  // namespace attnviz::app
