// The names of the files that a model was split into.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace attnviz {

/// NAME-00002-of-00003.gguf.
struct ShardName {
  std::string_view name;   // NAME
  std::size_t number = 0;  // from 1
  std::size_t count = 0;
};

inline constexpr std::string_view kGgufEnding = ".gguf";

/// Nothing for another name; a view into `file_name`.
std::optional<ShardName> parse_shard_name(std::string_view file_name,
                                          std::string_view ending = kGgufEnding);

std::string shard_name(std::string_view name, std::size_t number, std::size_t count,
                       std::string_view ending = kGgufEnding);

/// The shards of a model that are missing in the folder, the first few by name: "a, b, c and more";
/// empty if none is.
std::string missing_shards(const std::filesystem::path& folder, const ShardName& shard,
                           std::string_view ending = kGgufEnding);

/// "model" of model.gguf and of model-00001-of-00002.gguf.
std::string name_of_shards(const std::filesystem::path& file);

}  // namespace attnviz
