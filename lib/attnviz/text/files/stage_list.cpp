#include "attnviz/text/files/stage_list.h"

#include <fmt/core.h>

#include <cstddef>

namespace attnviz {

namespace {

// Each stage goes through the whole text, and each decoder through every piece.
constexpr std::size_t kMostStages = 256;

// To compile a pattern of a few bytes may take a millisecond and a hundred kilobytes.
constexpr std::size_t kMostPatternBytes = std::size_t{1} << 14;

struct StageCount {
  std::size_t n_stages = 1;
  std::size_t n_pattern_bytes = 0;
};

// Stages of a sequence and of those within it.
StageCount count_stages(const JsonNode& node, std::string_view key) {
  StageCount count;
  if (node.kind() != JsonKind::kObject) {
    return count;
  }
  if (const auto pattern = node.find("pattern"); pattern && pattern->kind() == JsonKind::kObject) {
    count.n_pattern_bytes = text_if_any(*pattern, "Regex").size();
  }
  const auto stages = node.find(key);
  if (stages && stages->kind() == JsonKind::kList) {
    for (const JsonNode& stage : stages->as_list("a list of stages")) {
      const auto [n_stages, n_pattern_bytes] = count_stages(stage, key);
      count.n_stages += n_stages;
      count.n_pattern_bytes += n_pattern_bytes;
    }
  }
  return count;
}

}  // namespace

std::vector<JsonNode> stages_at(const JsonNode& node, std::string_view key) {
  const JsonNode stages = node.at(key);
  const auto [n_all, n_pattern_bytes] = count_stages(node, key);
  if (const std::size_t count = n_all - 1; count > kMostStages) {
    stages.fail(fmt::format("expected at most {} stages, found {}", kMostStages, count));
  }
  if (n_pattern_bytes > kMostPatternBytes) {
    stages.fail(fmt::format("expected at most {} bytes of regular expressions, found {}",
                            kMostPatternBytes, n_pattern_bytes));
  }
  return stages.as_list("a list of stages");
}

}  // namespace attnviz
