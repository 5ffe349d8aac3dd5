// A Hugging Face config.json, read with checks.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/formats/json_tree.h"

namespace attnviz {

/// Formats a value for a message, on one line: "4096", "\"yarn\"", "a list".
std::string value_text(const JsonNode& node);

/// Whether `is_so` is true for every name in a list. A single name counts as a list of one.
bool all_are(const JsonNode& list, const std::function<bool(std::string_view)>& is_so);

/// Compares two keys that mean the same. Throws Error{kUnsupported}, naming both, when both are
/// present and their values differ.
void require_same(const std::optional<JsonNode>& one, const std::optional<JsonNode>& other);

/// An object of settings; a null value counts as absent. Valid as long as the JsonTree. It records
/// which keys have been read, also in nested objects; copies share this record.
///
/// All members throw Error{kMalformed} `config.json: hidden_size: expected …, found …` for a value
/// of another kind or out of range.
class HfConfig {
 public:
  explicit HfConfig(JsonNode node) : HfConfig(node, std::make_shared<Notes>()) {}

  bool has(std::string_view key) const { return find(key).has_value(); }
  std::optional<JsonNode> find(std::string_view key) const;
  /// Like find(), but returns null values too.
  std::optional<JsonNode> find_or_null(std::string_view key) const;
  JsonNode at(std::string_view key) const;
  const JsonNode& node() const noexcept { return node_; }
  /// The object that contains this one.
  std::optional<HfConfig> outer() const {
    return outer_ ? std::optional(HfConfig(*outer_, notes_)) : std::nullopt;
  }
  std::optional<HfConfig> object(std::string_view key) const;
  /// The keys that have not been read so far, in the order of the file, except null values and
  /// empty strings, lists and objects. For an object that object() returned: its own keys.
  std::vector<JsonNode> unread() const;

  /// A whole number from 1 to 2^31, under the first of `keys` that is present (families use
  /// different names for the same setting). Messages name the first key. Other keys with the same
  /// value count as read.
  std::size_t size(std::initializer_list<std::string_view> keys) const;
  std::size_t size(std::string_view key) const { return size({key}); }
  std::size_t size_or(std::string_view key, std::size_t otherwise) const;
  std::optional<std::size_t> size_if_there(std::string_view key) const;
  /// A finite number greater than 0.
  double positive(std::string_view key) const;
  double positive_or(std::string_view key, double otherwise) const;
  bool flag_or(std::string_view key, bool otherwise) const {
    const std::optional<JsonNode> found = find(key);
    return found ? found->as_bool() : otherwise;
  }
  std::string_view text_or(std::string_view key, std::string_view otherwise) const {
    const std::optional<JsonNode> found = find(key);
    return found ? found->as_string() : otherwise;
  }

 private:
  struct Notes {
    std::set<std::string, std::less<>> asked;   // paths
    std::set<std::string, std::less<>> opened;  // paths of objects that object() returned
  };
  HfConfig(JsonNode node, std::shared_ptr<Notes> notes, std::optional<JsonNode> outer = {}) noexcept
      : node_(node), outer_(outer), notes_(std::move(notes)) {}
  void add_unread(const JsonNode& object, std::vector<JsonNode>& to) const;

  JsonNode node_;
  std::optional<JsonNode> outer_;
  std::shared_ptr<Notes> notes_;
};

}  // namespace attnviz
