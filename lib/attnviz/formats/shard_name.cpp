#include "attnviz/formats/shard_name.h"

#include <fmt/core.h>

#include <charconv>
#include <system_error>

namespace attnviz {

namespace {

// Takes five digits from the end of `text`.
std::optional<std::size_t> take_number(std::string_view& text) {
  constexpr std::size_t kDigits = 5;
  if (text.size() < kDigits) {
    return std::nullopt;
  }
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(end - kDigits, end, number);
  if (error != std::errc() || stop != end) {
    return std::nullopt;
  }
  text.remove_suffix(kDigits);
  return number;
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
