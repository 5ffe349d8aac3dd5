#include "commands/commands.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attnviz/core/demo_files.h"
#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/gguf.h"
#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/safetensors.h"
#include "attnviz/formats/tensor_index.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/report/model_info.h"
#include "attnviz/report/reports/reports.h"
#include "attnviz/terminal/views.h"
#include "options/advice.h"
#include "stores/model_store.h"
#include "stores/store.h"
#include "system/diagnostics.h"
#include "system/output_file.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

// The type that takes the most bytes.
template <class Tensors>
std::string_view most_common_type(const Tensors& tensors) {
  std::map<StoredType, std::size_t> bytes;
  for (const StoredTensor* tensor : tensors) {
    bytes[tensor->type] += tensor->bytes.size();
  }
  const auto most =
      std::ranges::max_element(bytes, {}, [](const auto& entry) { return entry.second; });
  return most == bytes.end() ? std::string_view() : stored_type_name(most->first);
}

std::uint64_t bytes_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file, error);
  return error ? 0 : bytes;
}

// Sizes of models that are split into several files. A folder may hold thousands, so it is read
// once.
class ShardSizes {
 public:
  // The total size of the files that this file's model is split into.
  std::uint64_t bytes_of_all(const fs::path& file) {
    const std::string name = file.filename().string();
    const std::optional<ShardName> shard = parse_shard_name(name);
    return shard ? in(file.parent_path())[key(*shard)] : bytes_of(file);
  }

 private:
  using Sizes = std::map<std::pair<std::string, std::size_t>, std::uint64_t>;

  static std::pair<std::string, std::size_t> key(const ShardName& shard) {
    return {std::string(shard.name), shard.count};
  }
  Sizes& in(const fs::path& folder) {
    const auto [entry, is_new] = folders_.try_emplace(folder.string());
    if (is_new) {
      for (const std::string& name : names_in(folder)) {
        if (const std::optional<ShardName> shard = parse_shard_name(name)) {
          entry->second[key(*shard)] += bytes_of(folder / name);
        }
      }
    }
    return entry->second;
  }

  std::map<std::string, Sizes> folders_;
};

// Returns whether loading leaves the weights mapped, instead of converting them in memory.
bool summarize_gguf(const fs::path& path, ShardSizes& sizes, ListedModel& model) {
  model.bytes = sizes.bytes_of_all(path);
  const MappedFile file(path);
  const Gguf gguf(file.bytes(), path.string());
  const GgufMetadata metadata(gguf);
  model.family = metadata.text_or("general.architecture", "");
  model.chat_template = metadata.has("tokenizer.chat_template");
  const auto type = metadata.id("general.file_type");
  model.quantisation = type ? gguf_file_type_name(*type) : "";
  if (model.quantisation.empty()) {
    std::vector<const StoredTensor*> tensors;
    for (const StoredTensor& tensor : gguf.tensors()) {
      tensors.push_back(&tensor);
    }
    model.quantisation = most_common_type(tensors);
  }
  if (model.bytes == bytes_of(path)) {  // all tensors are in this file
    std::uint64_t parameters = 0;
    for (const StoredTensor& tensor : gguf.tensors()) {
      parameters += tensor.n_numbers();
    }
    model.parameters = parameters;
  }
  const std::string layers = model.family + ".block_count";
  const std::string heads = model.family + ".attention.head_count";
  if (metadata.has(layers)) {
    model.n_layers = metadata.size(layers);
  }
  // Models whose layers differ have a list of counts instead.
  if (metadata.has(heads)) {
    model.n_heads = gguf.find(heads)->as_unsigned();
  }
  return !gguf.is_big_endian();
}

bool has_chat_template(const fs::path& folder) {
  if (is_file(folder / "chat_template.jinja") || is_file(folder / "chat_template.json")) {
    return true;
  }
  const fs::path path = folder / "tokenizer_config.json";
  if (!is_file(path)) {
    return false;
  }
  const MappedFile file(path);
  const JsonTree tree = JsonTree::parse(file.bytes(), path.string());
  return find_value(tree.root(), "chat_template").has_value();
}

// The first of `keys` that is a whole number; for a vision model, that of its text part.
std::optional<std::uint64_t> count_in(const JsonNode& config,
                                      std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (const auto value = config.find(key); value && value->kind() == JsonKind::kNumber) {
      return value->as_unsigned();
    }
  }
  const auto text = config.find("text_config");
  return text && text->kind() == JsonKind::kObject ? count_in(*text, keys) : std::nullopt;
}

// Sets the type and the size of the weight files; nothing if they cannot be opened, because loading
// reports why.
void summarize_weights(const fs::path& folder, ListedModel& model) {
  try {
    const OpenedWeights opened = open_weights(folder, find_weights(folder), {});
    std::vector<const StoredTensor*> tensors;
    std::set<std::string_view> files;
    for (const FoundTensor& found : opened.tensors.tensors()) {
      tensors.push_back(found.tensor);
      files.insert(found.file);
    }
    std::uint64_t bytes = 0;
    for (const std::string_view file : files) {
      bytes += bytes_of(file);
    }
    model.quantisation = most_common_type(tensors);
    model.bytes = bytes;
  } catch (const Error&) {
  }
}

// Ignores a config.json that cannot be read: loading reports why.
void summarize_config(const fs::path& path, ListedModel& model) {
  try {
    const MappedFile file(path);
    const JsonTree tree = JsonTree::parse(file.bytes(), path.string());
    const JsonNode config = tree.root();
    model.family = optional_string(config, "model_type");
    model.n_layers = count_in(config, {"num_hidden_layers", "n_layer", "n_layers"});
    model.n_heads = count_in(config, {"num_attention_heads", "n_head", "n_heads"});
  } catch (const Error&) {
  }
}

// As summarize_gguf(), for a folder.
bool summarize_folder(const fs::path& path, ListedModel& model) {
  summarize_weights(path, model);
  summarize_config(path / "config.json", model);
  return model.quantisation != stored_type_name(StoredType::kF64) || model.family.empty();
}

// The number of heads of each layer that has any; nothing if layers differ.
std::optional<std::uint64_t> heads_of_a_layer(const Model& model) {
  const std::size_t most = model.n_heads();
  const bool differ = std::ranges::any_of(model.layers, [most](const LayerWeights& layer) {
    return !layer.heads.empty() && layer.heads.size() != most;
  });
  return differ ? std::nullopt : std::optional<std::uint64_t>(most);
}

void add_sizes(const Model& loaded, ListedModel& model) {
  model.n_layers = loaded.n_layers();
  model.n_heads = heads_of_a_layer(loaded);
  model.parameters =
      model.parameters ? model.parameters : count_parameters(model_shape(loaded)).total;
}

// For small handwritten models.
void summarize_weights_json(const fs::path& path, ListedModel& model) {
  add_sizes(load_weights_json(path, {}), model);
  model.bytes = bytes_of(path);
  model.family = "handmade";
  model.quantisation = "JSON";
}

// Fills in what the GGUF file, JSON weights or Hugging Face folder `path` says about the model. If
// loading it throws, the error becomes the model's problem.
void summarize_model(const fs::path& path, ShardSizes& sizes, ListedModel& model) {
  try {
    if (path.extension() == ".json") {
      return summarize_weights_json(path, model);
    }
    const bool is_folder = !is_file(path);
    if (is_folder ? summarize_folder(path, model) : summarize_gguf(path, sizes, model)) {
      add_sizes(StoredModel(path.string()).load(Copies::kNotCompared), model);
    }
    if (is_folder) {
      model.chat_template = has_chat_template(path);
    }
  } catch (const Error& error) {
    model.problem = error.what();
  }
}

void warn_unread(const Verbosity& verbosity, const Unread& unread) {
  constexpr std::size_t kMost = 5;
  std::size_t n_named = 0;
  for (const std::string& folder : unread) {
    if (n_named == kMost) {
      return inform(verbosity, fmt::format("no model of {} is listed, either",
                                           counted(unread.size() - n_named, "more folder")));
    }
    inform(verbosity, fmt::format("{}; models in it are not listed", folder));
    ++n_named;
  }
}

// The embedded model, which is always available.
ListedModel demo_entry() {
  const Model model = demo_model();
  ListedModel entry;
  entry.name = kDemo;
  entry.store = "attnviz";
  entry.family = model.config.family;
  entry.bytes = kDemoWeights.size();
  entry.quantisation = stored_type_name(model.stored.used.front().type);
  add_sizes(model, entry);
  return entry;
}

}  // namespace

void run(const ModelsOptions& options) {
  Phases phases(options.verbosity);
  Unread unread;
  if (options.names) {  // for completion: fast, so no file is opened
    std::string names = std::string(kDemo) + "\n";
    for (const Store& store : model_stores()) {
      for (const StoreEntry& entry : store.list(store.root, unread)) {
        // Names with control characters cannot be typed, and one with a line end would look like
        // two.
        const bool can_be_typed = printable_line(entry.name) == entry.name;
        names += entry.problem.empty() && can_be_typed ? entry.name + "\n" : "";
      }
    }
    return write_to_stdout(names);
  }
  ModelList list;
  ShardSizes sizes;
  list.models.push_back(demo_entry());
  for (const Store& store : model_stores()) {
    const bool barred = is_barred(store.root);
    list.places.push_back({store.title, short_path(store.root), is_there(store.root), barred});
    if (barred) {
      continue;  // the list reports it
    }
    for (StoreEntry& entry : store.list(store.root, unread)) {
      ListedModel model;
      model.name = std::move(entry.name);
      model.store = store.title;
      model.path = entry.path.string();
      model.problem = std::move(entry.problem);
      if (model.problem.empty()) {
        summarize_model(entry.path, sizes, model);
        if (model.chat_template == false && entry.has_chat_template) {
          model.chat_template = true;
        }
      }
      list.models.push_back(std::move(model));
    }
  }
  phases.done("look");
  warn_unread(options.verbosity, unread);
  write_report(model_list_report(list), options.json, stdout_drawing(options.style, options.color),
               write_to_stdout);
  phases.done("print");
}

}  // namespace attnviz::app
