#include "attnviz/formats/json_members.h"

namespace attnviz {

std::optional<JsonNode> find_value(const JsonNode& node, std::string_view key) {
  const std::optional<JsonNode> found = node.find(key);
  return found && found->kind() == JsonKind::kNull ? std::nullopt : found;
}

bool flag_or(const JsonNode& node, std::string_view key, bool otherwise) {
  const auto value = find_value(node, key);
  return value ? value->as_bool() : otherwise;
}

std::string_view text_or(const JsonNode& node, std::string_view key, std::string_view otherwise) {
  const auto value = find_value(node, key);
  return value ? value->as_string() : otherwise;
}

std::string text_if_any(const JsonNode& node, std::string_view key) {
  const auto value = node.kind() == JsonKind::kObject ? node.find(key) : std::nullopt;
  return value && value->kind() == JsonKind::kString ? std::string(value->as_string())
                                                     : std::string();
}

}  // namespace attnviz
