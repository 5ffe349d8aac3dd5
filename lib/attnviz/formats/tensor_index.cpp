#include "attnviz/formats/tensor_index.h"

#include <fmt/core.h>

#include <system_error>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/gguf.h"

namespace attnviz {

void TensorIndex::add(const StoredTensor& tensor, std::string_view file) {
  const auto [place, is_new] = tensors_.emplace(tensor.name, FoundTensor{&tensor, file});
  if (!is_new) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: {}: also in {}", file,
                                                   shown_name(tensor.name), place->second.file));
  }
}

FoundTensor TensorIndex::find(std::string_view name) const noexcept {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? FoundTensor{} : found->second;
}

std::vector<FoundTensor> TensorIndex::all() const {
  std::vector<FoundTensor> all;
  all.reserve(tensors_.size());
  for (const auto& [name, tensor] : tensors_) {
    all.push_back(tensor);
  }
  return all;
}

bool is_turned(StoredType type, std::endian file, std::endian machine) noexcept {
  if (is_quantised(type)) {
    return file != std::endian::little;
  }
  return file != machine && stored_block(type).bytes > 1;
}

const StoredTensor& NativeTensors::of(const StoredTensor& tensor, std::endian file) {
  if (!is_turned(tensor.type, file)) {
    return tensor;
  }
  Turned& turned = turned_.emplace_back(Turned{turned_bytes(tensor), tensor});
  turned.tensor.bytes = {turned.bytes.data(), turned.bytes.size()};
  return turned.tensor;
}

namespace {

// Removes five digits from the end of `text`.
std::optional<std::size_t> take_number(std::string_view& text) {
  constexpr std::size_t kDigits = 5;
  if (text.size() < kDigits) {
    return std::nullopt;
  }
  const std::string_view digits = text.substr(text.size() - kDigits);
  text.remove_suffix(kDigits);
  return parse_number<std::size_t>(digits);
}

bool take(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) {
    return false;
  }
  text.remove_suffix(end.size());
  return true;
}

}  // namespace

std::optional<ShardName> parse_shard_name(std::string_view text, std::string_view ending) {
  if (!take(text, ending)) {
    return std::nullopt;
  }
  const std::optional<std::size_t> count = take_number(text);
  if (!count || !take(text, "-of-")) {
    return std::nullopt;
  }
  const std::optional<std::size_t> number = take_number(text);
  if (!number || *number == 0 || *number > *count || !take(text, "-")) {
    return std::nullopt;
  }
  return ShardName{text, *number, *count};
}

std::string shard_name(std::string_view name, std::size_t number, std::size_t count,
                       std::string_view ending) {
  return fmt::format("{}-{:05}-of-{:05}{}", name, number, count, ending);
}

std::vector<std::string> shard_names(const ShardName& shard, std::string_view ending) {
  std::vector<std::string> names;
  for (std::size_t number = 1; number <= shard.count; ++number) {
    names.push_back(shard_name(shard.name, number, shard.count, ending));
  }
  return names;
}

std::string missing_files(const std::filesystem::path& folder, std::span<const std::string> names) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    std::error_code error;
    if (!std::filesystem::exists(folder / name, error)) {
      missing.push_back(missing.size() < kMostNamed ? shown_name(name) : "more");
    }
    if (missing.size() > kMostNamed) {  // a file may claim very many
      break;
    }
  }
  return missing.empty() ? std::string() : joined(missing, "and");
}

void require_shards(const std::filesystem::path& file, const ShardName& shard,
                    std::string_view ending) {
  if (const std::string missing = missing_files(file.parent_path(), shard_names(shard, ending));
      !missing.empty()) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: one of {} shards of a model: expected all of them in its folder, "
                            "missing: {}",
                            file.string(), shard.count, missing));
  }
}

std::string name_of_shards(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  const std::optional<ShardName> shard = parse_shard_name(name);
  return shard ? std::string(shard->name) : file.stem().string();
}

}  // namespace attnviz
