#include "attnviz/model/hf_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

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

// Of few names; else only what it is.
std::string list_text(const JsonNode& node) {
  constexpr std::size_t kMost = 3;
  const std::vector<JsonNode> items = node.as_list("a list");
  std::string text;
  for (const JsonNode& item : items) {
    if (items.size() > kMost || item.kind() != JsonKind::kString) {
      return "a list";
    }
    text += (text.empty() ? "" : ", ") + quoted(item.as_string());
  }
  return "[" + text + "]";
}

}  // namespace

std::string value_text(const JsonNode& node) {
  switch (node.kind()) {
    case JsonKind::kBool:
      return node.as_bool() ? "true" : "false";
    case JsonKind::kNumber:
      return fmt::format("{}", node.as_number());
    case JsonKind::kString:
      return quoted(node.as_string());
    case JsonKind::kObject:
      return "an object";
    case JsonKind::kNull:
      return "null";
    case JsonKind::kList:
      return list_text(node);
    default:
      return "a list";
  }
}

bool all_are(const JsonNode& list, const std::function<bool(std::string_view)>& is_so) {
  if (list.kind() == JsonKind::kString) {
    return is_so(list.as_string());
  }
  return list.kind() == JsonKind::kList &&
         std::ranges::all_of(list.as_list("a list of names"), [&](const JsonNode& one) {
           return one.kind() == JsonKind::kString && is_so(one.as_string());
         });
}

void require_same(const std::optional<JsonNode>& one, const std::optional<JsonNode>& other) {
  if (!one || !other || value_text(*one) == value_text(*other)) {
    return;
  }
  throw Error(ErrorKind::kUnsupported,
              fmt::format("{}{} contradicts {}, which is {}", one->where(), value_text(*one),
                          other->path(), value_text(*other)));
}

std::optional<JsonNode> HfConfig::find_or_null(std::string_view key) const {
  const std::optional<JsonNode> found = node_.find(key);
  if (found) {
    notes_->asked.insert(found->path());
  }
  return found;
}

std::optional<JsonNode> HfConfig::find(std::string_view key) const {
  const std::optional<JsonNode> found = find_or_null(key);
  return found && found->kind() != JsonKind::kNull ? found : std::nullopt;
}

JsonNode HfConfig::at(std::string_view key) const {
  find_or_null(key);
  return node_.at(key);
}

void HfConfig::add_unread(const JsonNode& object, std::vector<JsonNode>& to) const {
  for (const JsonNode& member : object.as_object()) {
    const std::string path = member.path();
    const bool is_empty = member.kind() == JsonKind::kNull ||
                          (member.kind() == JsonKind::kString && member.as_string().empty()) ||
                          (member.kind() == JsonKind::kNumbers && member.as_numbers().empty()) ||
                          (member.kind() == JsonKind::kObject && member.as_object().empty());
    if (notes_->opened.contains(path)) {
      add_unread(member, to);
    } else if (!notes_->asked.contains(path) && !is_empty) {
      to.push_back(member);
    }
  }
}

std::vector<JsonNode> HfConfig::unread() const {
  std::vector<JsonNode> found;
  add_unread(node_, found);
  return found;
}

std::optional<HfConfig> HfConfig::object(std::string_view key) const {
  const std::optional<JsonNode> found = find(key);
  if (!found) {
    return std::nullopt;
  }
  if (found->kind() != JsonKind::kObject) {
    found->fail("expected an object");
  }
  notes_->opened.insert(found->path());
  return HfConfig(*found, notes_, node_);
}

std::size_t HfConfig::size(std::initializer_list<std::string_view> keys) const {
  std::optional<std::size_t> size;
  for (const std::string_view key : keys) {
    const std::optional<JsonNode> there = find_value(node_, key);
    if (there && checked_size(*there) == size.value_or(checked_size(*there))) {
      size = checked_size(*find(key));
    }
  }
  return size ? *size : checked_size(at(*keys.begin()));
}

std::size_t HfConfig::size_or(std::string_view key, std::size_t otherwise) const {
  return size_if_there(key).value_or(otherwise);
}

std::optional<std::size_t> HfConfig::size_if_there(std::string_view key) const {
  const std::optional<JsonNode> found = find(key);
  return found ? std::optional(checked_size(*found)) : std::nullopt;
}

double HfConfig::positive(std::string_view key) const {
  return checked_positive(at(key));
}

double HfConfig::positive_or(std::string_view key, double otherwise) const {
  const std::optional<JsonNode> found = find(key);
  return found ? checked_positive(*found) : otherwise;
}

}  // namespace attnviz
