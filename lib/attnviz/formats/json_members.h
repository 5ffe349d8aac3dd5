// Members of JSON objects that may be left out.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "attnviz/formats/json_tree.h"

namespace attnviz {

/// The member, when it is there and not null. These throw what JsonNode's functions throw.
std::optional<JsonNode> find_value(const JsonNode& node, std::string_view key);
bool flag_or(const JsonNode& node, std::string_view key, bool otherwise);
std::string_view text_or(const JsonNode& node, std::string_view key, std::string_view otherwise);
/// What an object says under a key; empty when it is none, or when that is no text.
std::string text_if_any(const JsonNode& node, std::string_view key);

/// The value as a bool, a whole number, a float or a string.
template <class T>
T value_of(const JsonNode& node) {
  if constexpr (std::same_as<T, bool>) {
    return node.as_bool();
  } else if constexpr (std::unsigned_integral<T>) {
    return static_cast<T>(node.as_unsigned());
  } else if constexpr (std::same_as<T, float>) {
    return node.as_number();
  } else {
    static_assert(std::same_as<T, std::string>);
    return std::string(node.as_string());
  }
}

/// Sets `value` to the member, where there is one; null is one, of a kind that is not expected.
template <class T>
void read_if_there(const JsonNode& node, std::string_view key, T& value) {
  if (const auto found = node.find(key)) {
    value = value_of<T>(*found);
  }
}
template <class T>
void read_if_there(const JsonNode& node, std::string_view key, std::optional<T>& value) {
  if (const auto found = node.find(key)) {
    value = value_of<T>(*found);
  }
}

}  // namespace attnviz
