// The names of the files that a model was split into.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnviz {

/// NAME-00002-of-00003.gguf.
struct ShardName {
  std::string_view name;   // NAME
  std::size_t number = 0;  // from 1
  std::size_t count = 0;
};

inline constexpr std::string_view kGgufEnding = ".gguf";

/// Nothing for another name, or for a number that is not from 1 to the count; a view into
/// `file_name`.
std::optional<ShardName> parse_shard_name(std::string_view file_name,
                                          std::string_view ending = kGgufEnding);

std::string shard_name(std::string_view name, std::size_t number, std::size_t count,
                       std::string_view ending = kGgufEnding);

/// The names of all shards, in their order.
std::vector<std::string> shard_names(const ShardName& shard, std::string_view ending = kGgufEnding);

/// The files that are missing in the folder, the first few by name: "a, b, c and more"; empty if
/// none is.
std::string missing_files(const std::filesystem::path& folder, std::span<const std::string> names);

/// Throws Error{kMalformed} naming the missing shards if not all lie in the folder of `file`, one
/// of them.
void require_shards(const std::filesystem::path& file, const ShardName& shard,
                    std::string_view ending = kGgufEnding);

/// "model" of model.gguf and of model-00001-of-00002.gguf.
std::string name_of_shards(const std::filesystem::path& file);

}  // namespace attnviz
