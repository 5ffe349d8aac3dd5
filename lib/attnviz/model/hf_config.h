// A Hugging Face config.json, read with checks.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "attnviz/formats/json_tree.h"

namespace attnviz {

/// An object of settings; null is as good as absent. Valid as long as the JsonTree.
///
/// All throw Error{kMalformed} `config.json: hidden_size: expected …, found …` for a value of
/// another kind or out of range.
class HfConfig {
 public:
  explicit HfConfig(JsonNode node) noexcept : node_(node) {}

  bool has(std::string_view key) const { return find(key).has_value(); }
  std::optional<JsonNode> find(std::string_view key) const { return find_value(node_, key); }
  const JsonNode& node() const noexcept { return node_; }
  std::optional<HfConfig> object(std::string_view key) const;

  /// A whole number from 1 to 2^31. The first of `keys` that is there: families name one thing
  /// differently; messages name the first.
  std::size_t size(std::initializer_list<std::string_view> keys) const;
  std::size_t size(std::string_view key) const { return size({key}); }
  std::size_t size_or(std::string_view key, std::size_t otherwise) const;
  std::optional<std::size_t> size_if_there(std::string_view key) const;
  /// Greater than 0 and finite.
  double positive(std::string_view key) const;
  double positive_or(std::string_view key, double otherwise) const;
  bool flag_or(std::string_view key, bool otherwise) const {
    return attnviz::flag_or(node_, key, otherwise);
  }
  std::string_view text_or(std::string_view key, std::string_view otherwise) const {
    return attnviz::text_or(node_, key, otherwise);
  }

 private:
  JsonNode node_;
};

}  // namespace attnviz
