#include "attnviz/formats/shard_name.h"

#include <fmt/core.h>

#include "attnviz/core/parse_number.h"

namespace attnviz {

namespace {

// Takes five digits from the end of `text`.
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

std::optional<ShardName> parse_shard_name(std::string_view text) {
  if (!take(text, ".gguf")) {
    return std::nullopt;
  }
  const std::optional<std::size_t> count = take_number(text);
  if (!count || !take(text, "-of-")) {
    return std::nullopt;
  }
  const std::optional<std::size_t> number = take_number(text);
  if (!number || !take(text, "-")) {
    return std::nullopt;
  }
  return ShardName{text, *number, *count};
}

std::string shard_name(std::string_view name, std::size_t number, std::size_t count) {
  return fmt::format("{}-{:05}-of-{:05}.gguf", name, number, count);
}

std::string name_of_shards(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  const std::optional<ShardName> shard = parse_shard_name(name);
  return shard ? std::string(shard->name) : file.stem().string();
}

}  // namespace attnviz
