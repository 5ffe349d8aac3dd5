// A JSON document read into a small tree that keeps numbers as flat floats.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

struct JsonTreeData;

enum class JsonKind : std::uint8_t {
  kNull,
  kBool,
  kNumber,
  kString,
  kNumbers,  // a list of numbers, or an empty list
  kRows,     // a list of number lists of one length
  kBroken,   // a list that began as numbers or rows and did not stay that way
  kList,     // any other list
  kObject,
};

/// A value in a JsonTree, and valid as long as the tree.
///
/// The `as_…` functions throw Error{kMalformed} `w.json: layers[0].W_O: expected …, found …` when
/// the value is something else.
class JsonNode {
 public:
  JsonNode(const JsonTreeData& data, std::size_t index) noexcept : data_(&data), index_(index) {}

  JsonKind kind() const noexcept;
  /// Where it is, as in `layers[0].heads[2].W_K`; empty for the document itself.
  std::string path() const;
  /// Its name when it is a member of an object.
  std::string_view key() const noexcept;

  bool as_bool() const;
  std::uint64_t as_unsigned() const;
  float as_number() const;
  std::string_view as_string() const;
  /// Lists of numbers that follow one another in the file lie back to back in memory.
  std::span<const float> as_numbers() const;
  /// [rows, cols], dense, at least 1 × 1.
  ConstMatrix as_matrix() const;
  /// The items of a list of lists of numbers, of whatever lengths.
  std::vector<std::span<const float>> as_number_lists() const;
  /// The items of a list of values that are not numbers; `what` names it: "a list of layers".
  std::vector<JsonNode> as_list(std::string_view what) const;
  /// The members of an object, in the order of the file.
  std::vector<JsonNode> as_object() const;

  /// The member `key` of an object, when there.
  std::optional<JsonNode> find(std::string_view key) const;
  /// The same; throws Error{kMalformed} when it is not there.
  JsonNode at(std::string_view key) const;
  /// Throws Error{kMalformed} with did-you-mean at a member that `known` does not name.
  void expect_keys(std::span<const std::string> known) const;

  /// "w.json: layers[0].W_O: " in front of what a message says about this value.
  std::string where() const;
  /// Throws Error{kMalformed} that says where.
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  [[noreturn]] void fail_kind(std::string_view expected) const;

  const JsonTreeData* data_;
  std::size_t index_;
};

/// What null and -Infinity, which is no JSON but what Python writes, are in a list of numbers.
enum class JsonNulls : bool { kNoNumbers, kMinusInfinity };

/// Owns the tree. Movable; nodes and matrices stay valid until it is destroyed.
class JsonTree {
 public:
  using Forget = std::function<void(std::string_view bytes)>;

  /// Reads a whole document. `name` stands in front of every message.
  ///
  /// Throws Error{kMalformed}, with line and column or with a path, for whatever is not RFC 8259
  /// JSON in UTF-8 (a byte order mark is skipped), for numbers that do not fit a 32-bit float,
  /// for duplicate keys, for nesting deeper than 64 and for more than 4 million values besides
  /// rows of numbers. Needs little more memory than the floats.
  /// `forget` is told of bytes that only a message about an error would look at again, so that a
  /// mapped file need not stay in memory.
  static JsonTree parse(std::string_view bytes, std::string_view name, const Forget& forget = {},
                        JsonNulls nulls = JsonNulls::kNoNumbers);

  JsonNode root() const noexcept;
  /// Whether a null or a -Infinity became minus infinity.
  bool has_nulls_in_lists() const noexcept;
  /// What the numbers live in: keeps matrices valid beyond the tree.
  std::shared_ptr<const void> numbers() const noexcept;

 private:
  explicit JsonTree(std::shared_ptr<const JsonTreeData> data) noexcept : data_(std::move(data)) {}

  std::shared_ptr<const JsonTreeData> data_;
};

/// A member that may be left out: when it is there and not null. These throw what JsonNode's
/// functions throw.
std::optional<JsonNode> find_value(const JsonNode& node, std::string_view key);
bool flag_or(const JsonNode& node, std::string_view key, bool otherwise);
std::string_view text_or(const JsonNode& node, std::string_view key, std::string_view otherwise);
/// What an object says under a key; empty when it is none, or when that is no text.
std::string optional_string(const JsonNode& node, std::string_view key);

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
void read_optional(const JsonNode& node, std::string_view key, T& value) {
  if (const auto found = node.find(key)) {
    value = value_of<T>(*found);
  }
}
template <class T>
void read_optional(const JsonNode& node, std::string_view key, std::optional<T>& value) {
  if (const auto found = node.find(key)) {
    value = value_of<T>(*found);
  }
}

/// Errors of our parsers for words say what is wrong; the file's place goes in front, in place of
/// `key` where they name it, too.
template <class Parse>
auto parsed(const JsonNode& node, const Parse& parse, std::string_view key = {}) {
  try {
    return parse(node.as_string());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kUsage) {
      const std::string_view message = error.what();
      const bool is_named = !key.empty() && message.starts_with(std::string(key) + ": ");
      node.fail(std::string(message.substr(is_named ? key.size() + 2 : 0)));
    }
    throw;
  }
}

/// Sets `value` to what `parse` makes of the member, where there is one.
template <class T, class Parse>
void read_optional(const JsonNode& node, std::string_view key, T& value, const Parse& parse) {
  if (const auto found = node.find(key)) {
    value = parsed(*found, parse, key);
  }
}

/// The items of a list, none where there is no such member; `what` it is a list of, for the
/// message.
std::vector<JsonNode> list_at(const JsonNode& node, std::string_view key, std::string_view what);
/// The same of strings.
std::vector<std::string> strings_at(const JsonNode& node, std::string_view key,
                                    std::string_view what);

/// Whole numbers from 0 to kMostIndex: those that a float tells apart.
inline constexpr std::uint32_t kMostIndex = 16'777'215;
std::vector<std::size_t> read_indices(const JsonNode& node);
/// Lists of them, of whatever lengths.
std::vector<std::vector<std::size_t>> read_index_lists(const JsonNode& node);

// How a JsonTree lies in memory: flat records, one pool of floats and one of characters.

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
