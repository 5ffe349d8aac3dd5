#include "attnviz/formats/tensor_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/tensor_index.h"

namespace attnviz {

namespace {

namespace fs = std::filesystem;

// The file of each tensor.
using WeightMap = std::map<std::string, std::string, std::less<>>;

// Rejects paths: a name that leads out of the folder would let a downloaded model read any file.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

WeightMap read_weight_map(std::string_view bytes, std::string_view file) {
  const JsonTree index = JsonTree::parse(bytes, file);
  const JsonNode weight_map = index.root().at("weight_map");
  WeightMap files;
  for (const JsonNode& shard : weight_map.as_object()) {
    const std::string_view name = shard.as_string();
    if (!is_plain_name(name)) {
      shard.fail(
          fmt::format("expected the name of a file in the same folder, found {}", in_quotes(name)));
    }
    files.emplace(shard.key(), name);
  }
  if (files.empty()) {
    weight_map.fail("no tensors");
  }
  return files;
}

void check_presence(const fs::path& index, const std::set<std::string>& shards) {
  const std::vector<std::string> names(shards.begin(), shards.end());
  if (const std::string missing = missing_files(index.parent_path(), names); !missing.empty()) {
    throw Error(ErrorKind::kIo,
                fmt::format("{}: expected the {} that it names, missing: {}; the download is "
                            "incomplete, or the index belongs to other files",
                            index.string(), counted(names.size(), "file"), missing));
  }
}

}  // namespace

TensorFiles::File::File(const fs::path& path, OpenFiles& files)
    : name(path.string()), mapped(files.open(path)), tensors(mapped->bytes(), name) {}

TensorFiles::File::File(const NamedBytes& file) : name(file.name), tensors(file.bytes, name) {}

void TensorFiles::add(std::unique_ptr<const File> file) {
  for (const StoredTensor* tensor : file->tensors.tensors()) {
    const StoredTensor& native = native_.of(*tensor, std::endian::little);
    if (&native != tensor && file->mapped) {
      file->mapped->forget(tensor->bytes);
    }
    tensors_.add(native, file->name);
  }
  files_.push_back(std::move(file));
}

FoundTensor TensorFiles::find(std::string_view name) const {
  return wrapper_.empty() ? tensors_.find(name) : tensors_.find(wrapper_ + std::string(name));
}

void TensorFiles::find_wrapper() {
  constexpr std::size_t kMostInOneAnother = 4;
  const std::vector<FoundTensor> all = tensors_.all();
  for (std::size_t i = 0; i < kMostInOneAnother && !all.empty(); ++i) {
    for (const std::string_view one : {"_orig_mod.", "module.", "base_model.model."}) {
      if (std::ranges::all_of(all, [&](const FoundTensor& found) {
            const std::string_view name = found.tensor->name;
            return name.size() > wrapper_.size() && name.substr(wrapper_.size()).starts_with(one);
          })) {
        wrapper_ += one;
      }
    }
  }
}

TensorFiles TensorFiles::open(const fs::path& file, OpenFiles files) {
  return open_all({file}, std::move(files));
}

TensorFiles TensorFiles::open_all(const std::vector<fs::path>& shards, OpenFiles files) {
  TensorFiles tensors;
  tensors.name_ = shards.front().string();
  for (const fs::path& shard : shards) {
    tensors.add(std::make_unique<const File>(shard, files));
  }
  tensors.find_wrapper();
  return tensors;
}

TensorFiles TensorFiles::in_memory(const NamedBytes& file) {
  TensorFiles files;
  files.name_ = file.name;
  files.add(std::make_unique<const File>(file));
  files.find_wrapper();
  return files;
}

TensorFiles TensorFiles::open_index(const fs::path& index, OpenFiles files) {
  TensorFiles tensors;
  tensors.name_ = index.string();
  const MappedFile bytes = files.open(index);
  const WeightMap weight_map = read_weight_map(bytes.bytes(), tensors.name_);
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : weight_map) {
    shards.insert(shard);
  }
  check_presence(index, shards);
  for (const std::string& shard : shards) {
    tensors.add(std::make_unique<const File>(index.parent_path() / shard, files));
  }
  for (const auto& [tensor, shard] : weight_map) {
    const FoundTensor found = tensors.find(tensor);
    if (!found || fs::path(found.file).filename() != shard) {
      throw Error(ErrorKind::kMalformed, fmt::format("{}: weight_map: {}: not in {}", tensors.name_,
                                                     printable(tensor), shard));
    }
  }
  tensors.find_wrapper();
  return tensors;
}

TensorFiles TensorFiles::of_gguf(std::shared_ptr<const GgufFiles> files) {
  TensorFiles tensors;
  tensors.name_ = files->first().file();
  tensors.tensors_ = files->tensors();
  tensors.gguf_ = std::move(files);
  return tensors;
}

}  // namespace attnviz
