#include "attnviz/model/hf_config.h"

#include <fmt/core.h>

#include <cmath>

#include "attnviz/core/error.h"

namespace attnviz {

namespace {

std::size_t checked_size(const JsonNode& node) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
  const std::uint64_t value = node.as_unsigned();
  if (value == 0 || value > kMost) {
    node.fail(fmt::format("expected a whole number from 1 to {}, found {}", kMost, value));
  }
  return static_cast<std::size_t>(value);
}

double checked_positive(const JsonNode& node) {
  const auto value = static_cast<double>(node.as_number());
  if (!(value > 0.0) || !std::isfinite(value)) {
    node.fail(fmt::format("expected a number above 0, found {}", value));
  }
  return value;
}

}  // namespace

std::optional<HfConfig> HfConfig::object(std::string_view key) const {
  const std::optional<JsonNode> found = find(key);
  if (!found) {
    return std::nullopt;
  }
  if (found->kind() != JsonKind::kObject) {
    found->fail("expected an object");
  }
  return HfConfig(*found);
}

std::size_t HfConfig::size(std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys) {
    if (const auto found = find(key)) {
      return checked_size(*found);
    }
  }
  return checked_size(node_.at(*keys.begin()));
}

std::size_t HfConfig::size_or(std::string_view key, std::size_t otherwise) const {
  return size_if_there(key).value_or(otherwise);
}

std::optional<std::size_t> HfConfig::size_if_there(std::string_view key) const {
  const std::optional<JsonNode> found = find(key);
  return found ? std::optional(checked_size(*found)) : std::nullopt;
}

double HfConfig::positive(std::string_view key) const {
  return checked_positive(node_.at(key));
}

double HfConfig::positive_or(std::string_view key, double otherwise) const {
  const std::optional<JsonNode> found = find(key);
  return found ? checked_positive(*found) : otherwise;
}

}  // namespace attnviz
