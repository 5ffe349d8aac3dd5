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
  kBroken,   // a list that began as numbers or rows and continued as something else
  kList,     // any other list
  kObject,
};

/// A value in a JsonTree; valid as long as the tree.
///
/// The `as_…` functions throw Error{kMalformed} `w.json: layers[0].W_O: expected …, found …` when
/// the value is of another kind.
class JsonNode {
 public:
  JsonNode(const JsonTreeData& data, std::size_t index) noexcept : data_(&data), index_(index) {}

  JsonKind kind() const noexcept;
  /// Its place, as in `layers[0].heads[2].W_K`; empty for the document itself.
  std::string path() const;
  /// Its name, if it is a member of an object.
  std::string_view key() const noexcept;

  bool as_bool() const;
  std::uint64_t as_unsigned() const;
  float as_number() const;
  std::string_view as_string() const;
  /// Consecutive lists of numbers in the file lie back to back in memory.
  std::span<const float> as_numbers() const;
  /// [rows, cols], dense, at least 1 × 1.
  ConstMatrix as_matrix() const;
  /// The items of a list of lists of numbers, of any lengths.
  std::vector<std::span<const float>> as_number_lists() const;
  /// The items of a list of values that are not numbers; `what` names it: "a list of layers".
  std::vector<JsonNode> as_list(std::string_view what) const;
  /// The members of an object, in the order of the file.
  std::vector<JsonNode> as_object() const;

  /// The member `key` of an object, if present.
  std::optional<JsonNode> find(std::string_view key) const;
  /// As find(); throws Error{kMalformed} when it is missing.
  JsonNode at(std::string_view key) const;
  /// Throws Error{kMalformed} with did-you-mean at a member that is not in `known`.
  void expect_keys(std::span<const std::string> known) const;

  /// The beginning of messages about this value: "w.json: layers[0].W_O: ".
  std::string where() const;
  /// Throws Error{kMalformed} naming the place.
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  [[noreturn]] void fail_kind(std::string_view expected) const;

  const JsonTreeData* data_;
  std::size_t index_;
};

/// How to read null and -Infinity in a list of numbers. -Infinity is not JSON, but Python writes
/// it.
enum class JsonNulls : bool { kNoNumbers, kMinusInfinity };

/// Owns the tree. Movable; nodes and matrices stay valid until it is destroyed.
class JsonTree {
 public:
  using Forget = std::function<void(std::string_view bytes)>;

  /// Reads a whole document. Every message begins with `name`.
  ///
  /// Throws Error{kMalformed}, with line and column or with a path, for anything but RFC 8259 JSON
  /// in UTF-8 (a byte order mark is skipped), for numbers that do not fit a 32-bit float, for
  /// duplicate keys, for nesting deeper than 64 and for more than 4 million values besides rows of
  /// numbers. Needs little more memory than the floats. Calls `forget` with bytes that only an
  /// error message would read again, so that a mapped file need not stay in memory.
  static JsonTree parse(std::string_view bytes, std::string_view name, const Forget& forget = {},
                        JsonNulls nulls = JsonNulls::kNoNumbers);

  JsonNode root() const noexcept;
  /// Whether a null or a -Infinity became minus infinity.
  bool has_nulls_in_lists() const noexcept;
  /// Owns the memory of the numbers: keeps matrices valid beyond the tree.
  std::shared_ptr<const void> numbers() const noexcept;

 private:
  explicit JsonTree(std::shared_ptr<const JsonTreeData> data) noexcept : data_(std::move(data)) {}

  std::shared_ptr<const JsonTreeData> data_;
};

/// An optional member; null counts as missing. These throw what JsonNode's functions throw.
std::optional<JsonNode> find_value(const JsonNode& node, std::string_view key);
bool flag_or(const JsonNode& node, std::string_view key, bool otherwise);
std::string_view text_or(const JsonNode& node, std::string_view key, std::string_view otherwise);
/// The string under a key of an object; empty for a node of another kind, and for a member that is
/// missing or of another kind.
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

/// Sets `value` to the member, if present; a null member is an error.
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

/// Parses the string of a node. Errors of our parsers for words describe the problem; the place in
/// the file is put in front, and replaces `key` if the message begins with it.
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

/// Sets `value` to the result of `parse` for the member, if present.
template <class T, class Parse>
void read_optional(const JsonNode& node, std::string_view key, T& value, const Parse& parse) {
  if (const auto found = node.find(key)) {
    value = parsed(*found, parse, key);
  }
}

/// The items of a list, none if the member is missing; `what` names the list in messages.
std::vector<JsonNode> list_at(const JsonNode& node, std::string_view key, std::string_view what);
/// As above, for a list of strings.
std::vector<std::string> strings_at(const JsonNode& node, std::string_view key,
                                    std::string_view what);

/// Whole numbers from 0 to kMostIndex, the range in which floats distinguish all of them.
inline constexpr std::uint32_t kMostIndex = 16'777'215;
std::vector<std::size_t> read_indices(const JsonNode& node);
/// Lists of these, of any lengths.
std::vector<std::vector<std::size_t>> read_index_lists(const JsonNode& node);

// The memory layout of a JsonTree: flat records, one pool of floats and one of characters.

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
  TextRange text;                 // kString: the value; kBroken: the problem
};

struct JsonTreeData {
  std::string name;
  std::string text;
  std::vector<JsonRecord> records;
  std::shared_ptr<std::vector<float>> floats = std::make_shared<std::vector<float>>();
  std::size_t n_nulls = 0;  // how many of the floats were nulls, now minus infinity
  /// For kBroken records that consist of lists of numbers: the length of each list.
  std::map<std::size_t, std::vector<std::size_t>> lengths;

  std::string_view view(TextRange range) const noexcept {
    return std::string_view(text).substr(range.begin, range.size);
  }
  /// "a matrix of numbers", for messages.
  static std::string_view kind_name(const JsonRecord& record) noexcept;
  std::string path(std::size_t index) const;
};

}  // namespace attnviz
