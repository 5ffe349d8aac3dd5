// How a JsonTree lies in memory: flat records, one pool of floats and one of characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/json_tree.h"

namespace attnviz {

inline constexpr std::size_t kNoRecord = static_cast<std::size_t>(-1);

/// A piece of JsonTreeData::text.
struct TextRange {
  std::size_t begin = 0;
  std::size_t size = 0;
};

struct JsonRecord {
  JsonKind kind = JsonKind::kNull;
  bool flag = false;    // kBool; kNumber: `integer` holds it exactly
  float number = 0.0f;  // kNumber
  std::size_t parent = kNoRecord;
  std::size_t position = 0;       // among the parent's items
  std::size_t next = kNoRecord;   // the next item of the same parent
  std::size_t first = kNoRecord;  // kList, kObject: the first item
  std::size_t count = 0;          // kList, kObject: items; kRows: rows
  std::size_t cols = 0;           // kNumbers, kRows
  std::size_t begin = 0;          // kNumbers, kRows: the first of count * cols floats
  std::uint64_t integer = 0;      // kNumber
  TextRange key;                  // of a member of an object
  TextRange text;                 // kString: the value; kBroken: what is wrong
};

struct JsonTreeData {
  std::string name;
  std::string text;
  std::vector<JsonRecord> records;
  std::shared_ptr<std::vector<float>> floats = std::make_shared<std::vector<float>>();
  std::size_t n_nulls = 0;  // among the floats, as minus infinity
  /// Of kBroken records that are lists of numbers throughout: how long each is.
  std::map<std::size_t, std::vector<std::size_t>> lengths;

  std::string_view view(TextRange range) const noexcept {
    return std::string_view(text).substr(range.begin, range.size);
  }
  /// "a matrix of numbers", for messages.
  static std::string_view kind_name(const JsonRecord& record) noexcept;
  std::string path(std::size_t index) const;
};

}  // namespace attnviz
