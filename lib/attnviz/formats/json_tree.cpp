#include "attnviz/formats/json_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "attnviz/core/choices.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/json_reader.h"

namespace attnviz {

namespace {

bool is_plain_key(std::string_view key) noexcept {
  constexpr std::size_t kLongest = 60;
  return !key.empty() && key.size() <= kLongest && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

std::string_view JsonTreeData::kind_name(const JsonRecord& record) noexcept {
  switch (record.kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBool:
      return record.flag ? "true" : "false";
    case JsonKind::kNumber:
      return "a number";
    case JsonKind::kString:
      return "a string";
    case JsonKind::kNumbers:
      return record.cols == 0 ? "an empty list" : "a list of numbers";
    case JsonKind::kRows:
      return "a matrix of numbers";
    case JsonKind::kBroken:
    case JsonKind::kList:
      return "a list";
    case JsonKind::kObject:
      return "an object";
  }
  return "";
}

std::string JsonTreeData::path(std::size_t index) const {
  std::vector<std::size_t> chain;
  for (std::size_t i = index; records[i].parent != kNoRecord; i = records[i].parent) {
    chain.push_back(i);
  }
  std::string path;
  for (auto i = chain.rbegin(); i != chain.rend(); ++i) {
    const JsonRecord& record = records[*i];
    if (records[record.parent].kind != JsonKind::kObject) {
      path += fmt::format("[{}]", record.position);
    } else if (const std::string_view key = view(record.key); is_plain_key(key)) {
      path += path.empty() ? "" : ".";
      path += key;
    } else {
      path += fmt::format("[{}]", in_quotes(key));
    }
  }
  constexpr std::size_t kMostColumns = 400;  // keeps messages readable
  return path.size() > kMostColumns ? fit_width(path, kMostColumns) : path;
}

JsonKind JsonNode::kind() const noexcept {
  return data_->records[index_].kind;
}

std::string JsonNode::path() const {
  return data_->path(index_);
}

std::string_view JsonNode::key() const noexcept {
  return data_->view(data_->records[index_].key);
}

std::string JsonNode::where() const {
  const std::string place = path();
  return place.empty() ? data_->name + ": " : fmt::format("{}: {}: ", data_->name, place);
}

void JsonNode::fail(const std::string& problem) const {
  throw Error(ErrorKind::kMalformed, where() + problem);
}

void JsonNode::fail_kind(std::string_view expected) const {
  const JsonRecord& record = data_->records[index_];
  if (record.kind == JsonKind::kBroken) {
    fail(std::string(data_->view(record.text)));
  }
  fail(fmt::format("expected {}, found {}", expected, JsonTreeData::kind_name(record)));
}

bool JsonNode::as_bool() const {
  if (kind() != JsonKind::kBool) {
    fail_kind("true or false");
  }
  return data_->records[index_].flag;
}

std::uint64_t JsonNode::as_unsigned() const {
  const JsonRecord& record = data_->records[index_];
  if (record.kind != JsonKind::kNumber) {
    fail_kind("a whole number");
  }
  if (!record.flag) {
    std::string found;
    if (record.number < 0.0f) {
      found = fmt::format("{}", record.number);
    } else {
      append_json_number(found, record.number);  // "4.0", not "4": the point is the error
    }
    fail("expected a whole number from 0 to 2^64 - 1, found " + found);
  }
  return record.integer;
}

float JsonNode::as_number() const {
  if (kind() != JsonKind::kNumber) {
    fail_kind("a number");
  }
  return data_->records[index_].number;
}

std::string_view JsonNode::as_string() const {
  if (kind() != JsonKind::kString) {
    fail_kind("a string");
  }
  return data_->view(data_->records[index_].text);
}

std::span<const float> JsonNode::as_numbers() const {
  const JsonRecord& record = data_->records[index_];
  if (record.kind != JsonKind::kNumbers) {
    fail_kind("a list of numbers");
  }
  return {data_->floats->data() + record.begin, record.cols};
}

ConstMatrix JsonNode::as_matrix() const {
  const JsonRecord& record = data_->records[index_];
  if (record.kind == JsonKind::kRows) {
    if (record.cols == 0) {
      fail("expected at least 1 column, found empty rows");
    }
    return {data_->floats->data() + record.begin, record.count, record.cols, record.cols};
  }
  // The first row may be the broken one.
  if (record.kind == JsonKind::kList && data_->records[record.first].kind == JsonKind::kBroken) {
    JsonNode(*data_, record.first).fail_kind("a row of numbers");
  }
  fail_kind("a matrix of numbers");
}

std::vector<std::span<const float>> JsonNode::as_number_lists() const {
  const JsonRecord& record = data_->records[index_];
  std::vector<std::size_t> lengths;
  if (record.kind == JsonKind::kRows) {
    lengths.assign(record.count, record.cols);
  } else if (const auto ragged = data_->lengths.find(index_); ragged != data_->lengths.end()) {
    lengths = ragged->second;
  } else if (record.kind != JsonKind::kNumbers || record.cols > 0) {
    fail(fmt::format("expected a list of lists of numbers, found {}",
                     JsonTreeData::kind_name(record)));
  }
  std::vector<std::span<const float>> lists;
  lists.reserve(lengths.size());
  std::size_t begin = record.begin;
  for (const std::size_t length : lengths) {
    lists.emplace_back(data_->floats->data() + begin, length);
    begin += length;
  }
  return lists;
}

std::vector<JsonNode> JsonNode::as_list(std::string_view what) const {
  const JsonRecord& record = data_->records[index_];
  const bool is_empty = record.kind == JsonKind::kNumbers && record.cols == 0;
  if (record.kind != JsonKind::kList && !is_empty) {
    fail_kind(what);
  }
  std::vector<JsonNode> items;
  for (std::size_t i = record.first; i != kNoRecord; i = data_->records[i].next) {
    items.emplace_back(*data_, i);
  }
  return items;
}

std::vector<JsonNode> JsonNode::as_object() const {
  const JsonRecord& record = data_->records[index_];
  if (record.kind != JsonKind::kObject) {
    fail_kind("an object");
  }
  std::vector<JsonNode> members;
  members.reserve(record.count);
  for (std::size_t i = record.first; i != kNoRecord; i = data_->records[i].next) {
    members.emplace_back(*data_, i);
  }
  return members;
}

std::optional<JsonNode> JsonNode::find(std::string_view key) const {
  const JsonRecord& record = data_->records[index_];
  if (record.kind != JsonKind::kObject) {
    fail_kind("an object");
  }
  for (std::size_t i = record.first; i != kNoRecord; i = data_->records[i].next) {
    if (data_->view(data_->records[i].key) == key) {
      return JsonNode(*data_, i);
    }
  }
  return std::nullopt;
}

JsonNode JsonNode::at(std::string_view key) const {
  const auto member = find(key);
  if (!member) {
    fail(fmt::format("missing key \"{}\"", key));
  }
  return *member;
}

void JsonNode::expect_keys(std::span<const std::string> known) const {
  for (const JsonNode& member : as_object()) {
    if (std::find(known.begin(), known.end(), member.key()) == known.end()) {
      fail(fmt::format("unknown key {}{}", in_quotes(member.key()),
                       did_you_mean(member.key(), known)));
    }
  }
}

JsonNode JsonTree::root() const noexcept {
  return {*data_, 0};
}

bool JsonTree::has_nulls_in_lists() const noexcept {
  return data_->n_nulls > 0;
}

std::shared_ptr<const void> JsonTree::numbers() const noexcept {
  return data_->floats;
}

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

std::string optional_string(const JsonNode& node, std::string_view key) {
  const auto value = node.kind() == JsonKind::kObject ? node.find(key) : std::nullopt;
  return value && value->kind() == JsonKind::kString ? std::string(value->as_string())
                                                     : std::string();
}

std::vector<JsonNode> list_at(const JsonNode& node, std::string_view key, std::string_view what) {
  const auto found = node.find(key);
  return found ? found->as_list(what) : std::vector<JsonNode>();
}

std::vector<std::string> strings_at(const JsonNode& node, std::string_view key,
                                    std::string_view what) {
  std::vector<std::string> list;
  for (const JsonNode& item : list_at(node, key, what)) {
    list.emplace_back(item.as_string());
  }
  return list;
}

namespace {

std::vector<std::size_t> indices_of(std::span<const float> numbers, const JsonNode& node) {
  std::vector<std::size_t> list;
  list.reserve(numbers.size());
  for (const float number : numbers) {
    if (!(number >= 0.0f && number <= static_cast<float>(kMostIndex)) ||
        number != std::floor(number)) {
      node.fail(fmt::format("expected indices from 0, found {}", number));
    }
    list.push_back(static_cast<std::size_t>(number));
  }
  return list;
}

}  // namespace

std::vector<std::size_t> read_indices(const JsonNode& node) {
  return indices_of(node.as_numbers(), node);
}

std::vector<std::vector<std::size_t>> read_index_lists(const JsonNode& node) {
  std::vector<std::vector<std::size_t>> lists;
  for (const std::span<const float> numbers : node.as_number_lists()) {
    lists.push_back(indices_of(numbers, node));
  }
  return lists;
}

}  // namespace attnviz
