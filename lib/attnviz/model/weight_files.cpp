#include "attnviz/model/stored_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/file_kind.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/tensor_index.h"

namespace attnviz {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWeights = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";
constexpr std::string_view kEnding = ".safetensors";

// File names of PEFT and MLX. transformers treats a folder with the first as an adapter.
constexpr std::string_view kAdapters[] = {"adapter_config.json", "adapter_model.safetensors",
                                          "adapter_model.bin", "adapters.safetensors",
                                          "adapters.npz"};

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_index(const fs::path& path) {
  return path.filename().string().ends_with(".safetensors.index.json");
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    names.push_back(entries->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

// The first shard of each set in a folder.
std::vector<fs::path> first_shards(const fs::path& folder) {
  std::vector<fs::path> first;
  std::set<std::pair<std::string, std::size_t>> known;
  for (const std::string& name : names_in(folder)) {
    const auto shard = parse_shard_name(name, kEnding);
    if (shard && known.emplace(shard->name, shard->count).second) {
      first.push_back(folder / name);
    }
  }
  return first;
}

// All shards of the model that `one` belongs to.
TensorFiles open_shards(const fs::path& one, const OpenFiles& files) {
  const std::string name = one.filename().string();
  const ShardName shard = *parse_shard_name(name, kEnding);
  const fs::path folder = one.parent_path();
  require_shards(one, shard, kEnding);
  std::vector<fs::path> all;
  for (const std::string& file : shard_names(shard, kEnding)) {
    all.push_back(folder / file);
  }
  return TensorFiles::open_all(all, files);
}

TensorFiles open_file(const fs::path& path, const OpenFiles& files) {
  if (is_index(path)) {
    return TensorFiles::open_index(path, files);
  }
  if (!parse_shard_name(path.filename().string(), kEnding)) {
    return TensorFiles::open(path, files);
  }
  const fs::path index = path.parent_path() / kIndex;
  return is_there(index) ? TensorFiles::open_index(index, files) : open_shards(path, files);
}

// Written by transformers' Trainer beside the weights, with the extensions of weights.
constexpr std::string_view kTrainingStates[] = {"training_args.bin", "optimizer.bin",
                                                "optimizer.pt", "scheduler.pt", "scaler.pt"};

bool is_training_state(std::string_view name) {
  return std::ranges::find(kTrainingStates, name) != std::end(kTrainingStates) ||
         name.starts_with("rng_state");
}

// Names of files that may be weights in other formats, in a folder and its subfolders.
std::vector<std::string> weights_in(const fs::path& folder) {
  constexpr std::string_view kEndings[] = {".bin",  ".pt",   ".pth",     ".ckpt",
                                           ".onnx", ".h5",   ".keras",   ".pb",
                                           ".npz",  ".gguf", ".msgpack", ".safetensors"};
  constexpr std::size_t kMostFolders = 32;
  const auto is_weights = [&](const std::string& name) {
    return !is_training_state(name) && std::ranges::any_of(kEndings, [&](std::string_view ending) {
      return name.ends_with(ending);
    });
  };
  std::vector<std::string> weights;
  std::size_t n_folders = 0;
  for (const std::string& name : names_in(folder)) {
    std::error_code error;
    if (is_weights(name)) {
      weights.push_back(name);
    } else if (fs::is_directory(folder / name, error) && ++n_folders <= kMostFolders) {
      for (const std::string& inner : names_in(folder / name)) {
        if (is_weights(inner)) {
          weights.push_back(fmt::format("{}/{}", name, inner));
        }
      }
    }
  }
  return weights;
}

// The first few names, formatted for a message.
std::string few_of(std::vector<std::string> names) {
  constexpr std::size_t kMost = 6;
  const std::size_t n_more = names.size() - std::min(names.size(), kMost);
  names.resize(names.size() - n_more);
  for (std::string& name : names) {
    name = printable(name);
  }
  if (n_more > 0) {
    names.push_back(fmt::format("{} more", n_more));
  }
  return names.empty() ? "nothing" : joined(names, "and");
}

[[noreturn]] void fail_without_weights(const fs::path& folder) {
  const std::vector<std::string> weights = weights_in(folder);
  const std::vector<std::string> all = names_in(folder);
  const auto is_pickle = [](const std::string& name) {
    return name.ends_with(".bin") || name.ends_with(".pt");
  };
  std::string why;
  ErrorKind error_kind = ErrorKind::kIo;
  if (!weights.empty()) {
    const auto lost = std::ranges::find_if(
        weights, [&folder](const std::string& name) { return !is_there(folder / name); });
    const auto pickle = std::ranges::find_if(weights, is_pickle);
    const std::string& name = lost != weights.end()     ? *lost
                              : pickle == weights.end() ? weights.front()
                                                        : *pickle;
    const MappedFile file(folder / name);  // throws for a Git LFS pointer and a link to nothing
    if (const FileKind kind = kind_of_model_bytes(file.bytes());
        kind != FileKind::kOther && kind != FileKind::kSafetensors) {
      why = fmt::format("; {}: {}", printable(name), described_kind(kind, file.bytes()));
      error_kind = ErrorKind::kUnsupported;
    } else if (pickle != weights.end()) {
      why = "; save_pretrained() of transformers writes safetensors";
    }
  } else if (const auto state = std::ranges::find_if(all, is_training_state); state != all.end()) {
    why = fmt::format("; {} holds the state of a training, not weights", printable(*state));
  }
  throw Error(error_kind,
              fmt::format("{}: expected {} or {} in the folder, found {}{}", folder.string(),
                          kWeights, kIndex, few_of(weights.empty() ? all : weights), why));
}

// The file that represents the weights of a folder; empty if the folder has none.
fs::path weights_of(const fs::path& folder) {
  for (const std::string_view name : {kWeights, kIndex}) {
    if (is_there(folder / name)) {
      return folder / name;
    }
  }
  const std::vector<fs::path> shards = first_shards(folder);
  if (shards.size() > 1) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{}: shards of several models, {} and {}: give the first shard of one",
                    folder.string(), shards[0].filename().string(), shards[1].filename().string()));
  }
  return shards.empty() ? fs::path() : shards.front();
}

std::optional<fs::path> adapter_in(const fs::path& folder) {
  for (const std::string_view name : kAdapters) {
    if (is_there(folder / name)) {
      return folder / name;
    }
  }
  return std::nullopt;
}

[[noreturn]] void refuse_adapter(const fs::path& adapter, const fs::path& weights) {
  const std::string without =
      weights.empty() ? "" : fmt::format("; {} is the model without it", weights.string());
  throw Error(ErrorKind::kUnsupported,
              fmt::format("{}: an adapter changes the weights, and adapters are not applied: merge "
                          "it into the model (merge_and_unload() of PEFT, mlx_lm.fuse) and give "
                          "the result{}",
                          adapter.string(), without));
}

// Whether the first and the last bytes are equal. Different models differ there in some tensor, and
// comparing everything would take as long as reading both.
bool have_same_ends(std::string_view one, std::string_view other) {
  constexpr std::size_t kMost = 4096;
  return one.size() == other.size() && one.substr(0, kMost) == other.substr(0, kMost) &&
         one.substr(one.size() - std::min(one.size(), kMost)) ==
             other.substr(other.size() - std::min(other.size(), kMost));
}

bool have_same_tensors(const TensorFiles& one, const TensorFiles& other) {
  const std::vector<FoundTensor> some = one.tensors();
  return one.size() == other.size() && std::ranges::all_of(some, [&](const FoundTensor& found) {
           const StoredTensor* const same = other.find(found.tensor->name).tensor;
           return same != nullptr && same->type == found.tensor->type &&
                  std::ranges::equal(same->shape, found.tensor->shape) &&
                  have_same_ends(same->bytes, found.tensor->bytes);
         });
}

// transformers prefers model.safetensors to an index; other programs read the index's files.
void check_index_beside(const fs::path& folder, const TensorFiles& tensors, const OpenFiles& files,
                        std::vector<IgnoredKey>& ignored_keys) {
  const fs::path index = folder / kIndex;
  std::optional<TensorFiles> others;
  try {
    others = TensorFiles::open_index(index, files);
  } catch (const Error&) {
    ignored_keys.push_back(
        {std::string(kIndex), "model.safetensors is read; the files of this index cannot be"});
    return;
  }
  if (!have_same_tensors(tensors, *others)) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: two models that differ: {} and the files of {}; give the one to "
                            "read: {} or {}",
                            folder.string(), kWeights, kIndex, (folder / kWeights).string(),
                            index.string()));
  }
}

// Whether a file holds an adapter, under any name; false if it cannot be read.
bool is_adapter(const fs::path& file, const OpenFiles& files) {
  try {
    return !adapter_tensor(TensorFiles::open(file, files)).empty();
  } catch (const Error&) {
    return false;
  }
}

// Records the other safetensors files in a folder, which are not read, and refuses adapters.
void pass_over_files(const fs::path& folder, const fs::path& weights, const TensorFiles& tensors,
                     const OpenFiles& files, std::vector<IgnoredKey>& ignored_keys) {
  constexpr std::size_t kMost = 8;
  std::set<std::string> read;
  for (const FoundTensor& tensor : tensors.tensors()) {
    read.insert(fs::path(tensor.file).filename().string());
  }
  const bool has_index = weights.filename() == kWeights && is_there(folder / kIndex);
  for (std::string& name : names_in(folder)) {
    if (!name.ends_with(kEnding) || read.contains(name)) {
      continue;
    }
    if (is_adapter(folder / name, files)) {
      refuse_adapter(folder / name, weights);
    }
    if (ignored_keys.size() < kMost) {
      const bool is_copy = name.starts_with("consolidated") ||
                           (has_index && parse_shard_name(name, kEnding).has_value());
      ignored_keys.push_back({std::move(name), is_copy ? "the same weights in another form"
                                                       : "not one of the model's weight files"});
    }
  }
}

}  // namespace

std::string_view adapter_tensor(const TensorFiles& files) {
  constexpr std::string_view kParts[] = {
      ".lora_A",          ".lora_B",      ".lora_a", ".lora_b", ".lora_up", ".lora_down",
      ".lora_embedding_", ".base_layer.", ".hada_w", ".ia3_l",  ".oft_"};
  for (const FoundTensor& found : files.tensors()) {
    for (const std::string_view part : kParts) {
      if (found.tensor->name.find(part) != std::string_view::npos) {
        return found.tensor->name;
      }
    }
  }
  return {};
}

bool has_weights(const fs::path& folder) {
  return is_there(folder / "config.json") &&
         (is_there(folder / kWeights) || is_there(folder / kIndex) ||
          !first_shards(folder).empty());
}

fs::path find_weights(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const std::string name = path.filename().string();
    if (is_there(path) && std::ranges::find(kAdapters, name) != std::end(kAdapters)) {
      refuse_adapter(path, weights_of(path.parent_path()));
    }
    return path;
  }
  fs::path weights = weights_of(path);
  if (const auto adapter = adapter_in(path)) {
    refuse_adapter(*adapter, weights);
  }
  if (weights.empty()) {
    fail_without_weights(path);
  }
  return weights;
}

OpenedWeights open_weights(const fs::path& path, const fs::path& file, const OpenFiles& files) {
  OpenedWeights opened{open_file(file, files), {}};
  if (path == file) {
    if (const auto adapter = adapter_in(path.parent_path())) {
      opened.ignored_keys.push_back(
          {adapter->filename().string(),
           "an adapter is not applied to a file that is given by its own name"});
    }
    return opened;
  }
  if (file.filename() == kWeights && is_there(path / kIndex)) {
    check_index_beside(path, opened.tensors, files, opened.ignored_keys);
  }
  pass_over_files(path, file, opened.tensors, files, opened.ignored_keys);
  return opened;
}

}  // namespace attnviz
