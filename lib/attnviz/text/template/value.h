// The values that chat templates compute with: Python's, as in Jinja, which include Go's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/text/template/budget.h"

namespace attnviz::templates {

class Value;

/// Arguments of a call: positional and named ones.
struct Arguments {
  std::vector<Value> values;
  std::vector<std::pair<std::string, Value>> named;

  /// The argument with this name, or at `place`; null if it is missing.
  const Value* find(std::size_t place, std::string_view name) const noexcept;
};

/// A generator is the result of most filters: true even if empty, without a length, and used up by
/// one iteration.
enum class ListKind { kList, kTuple, kRange, kGenerator };

struct List {
  std::vector<Value> items;
  ListKind kind = ListKind::kList;
};

/// Members of a Go struct have their fields' JSON names: tool_calls.
enum class MapKind { kDict, kNamespace, kLoop, kStruct };

/// A mapping that keeps its keys in the order of insertion.
struct Map {
  struct Member;
  std::vector<Member> members;
  std::optional<std::size_t> message;  // its index, if it is a message
  MapKind kind = MapKind::kDict;

  /// Null if it is missing.
  const Value* find(std::string_view key, Budget& budget) const;
  void set(std::string_view key, Value value, Budget& budget);
  /// Adds a key that does not exist yet.
  void add(std::string_view key, Value value);
  /// Keys of any kind. Only texts and whole numbers are accepted; setting others throws.
  const Value* find_key(const Value& key, Budget& budget) const;
  void set_key(const Value& key, Value value, Budget& budget);

 private:
  const Member* member(std::string_view key, std::optional<std::int64_t> number,
                       Budget& budget) const;
};

using Function = std::function<Value(const Arguments& arguments)>;

struct Undefined {
  explicit Undefined(std::string of) : name(std::make_shared<const std::string>(std::move(of))) {}
  std::shared_ptr<const std::string> name;  // of the missing value
};

/// Copies share lists and maps. The last owner frees nested ones one after the other, without
/// recursion.
class Value {
 public:
  Value() noexcept = default;  // None, nil
  Value(const Value&) = default;
  Value(Value&&) noexcept = default;
  Value& operator=(const Value&) = default;
  Value& operator=(Value&&) noexcept = default;
  ~Value() {
    if (list() != nullptr || generator() != nullptr || map() != nullptr) {
      free_in_turn();
    }
  }
  Value(Undefined undefined) : data_(std::move(undefined)) {}
  Value(bool flag) noexcept : data_(flag) {}
  Value(std::int64_t number) noexcept : data_(number) {}
  Value(double number) noexcept : data_(number) {}
  Value(std::string text) : data_(std::make_shared<const std::string>(std::move(text))) {}
  Value(std::string_view text) : Value(std::string(text)) {}
  Value(const char* text) : Value(std::string(text)) {}
  Value(std::shared_ptr<List> list) noexcept : data_(std::move(list)) {}
  Value(std::shared_ptr<Map> map) noexcept : data_(std::move(map)) {}
  Value(std::shared_ptr<const Function> function) noexcept : data_(std::move(function)) {}

  bool is_none() const noexcept { return std::holds_alternative<std::monostate>(data_); }
  const Undefined* undefined() const noexcept { return std::get_if<Undefined>(&data_); }
  std::optional<bool> flag() const noexcept { return plain<bool>(); }
  std::optional<std::int64_t> integer() const noexcept { return plain<std::int64_t>(); }
  std::optional<double> real() const noexcept { return plain<double>(); }
  /// A number of any kind; booleans count as 0 and 1.
  std::optional<double> number() const noexcept;
  const std::string* text() const noexcept;
  List* list() const noexcept;       // null for a generator
  List* generator() const noexcept;  // its remaining items
  Map* map() const noexcept;
  const Function* function() const noexcept;

  /// Python's truth: empty values except generators are false, and so are None and undefined
  /// values.
  bool is_true() const noexcept;
  /// "str", "int", …
  std::string_view kind() const noexcept;

 private:
  template <class T>
  std::optional<T> plain() const noexcept {
    const T* const found = std::get_if<T>(&data_);
    return found == nullptr ? std::nullopt : std::optional<T>(*found);
  }

  using Data = std::variant<std::monostate, Undefined, bool, std::int64_t, double,
                            std::shared_ptr<const std::string>, std::shared_ptr<List>,
                            std::shared_ptr<Map>, std::shared_ptr<const Function>>;

  void free_in_turn() noexcept;

  Data data_;
};

struct Map::Member {
  std::string name;
  Value value;
  std::optional<std::int64_t> number = {};  // the key instead of a name

  Value key() const { return number ? Value(*number) : Value(name); }
};

/// Maps that may contain themselves, and would then keep each other alive forever. They are emptied
/// when this object is destroyed.
class MapsInCircles {
 public:
  MapsInCircles() = default;
  ~MapsInCircles();
  MapsInCircles(const MapsInCircles&) = delete;
  MapsInCircles& operator=(const MapsInCircles&) = delete;

  /// Registers a map that is about to get `member`. The memory that stays is charged to the budget.
  void add(const Value& map, const Value& member, Budget& budget);

 private:
  std::unordered_map<const Map*, Value> maps_;
};

Value list_of(std::vector<Value> items);
Value generator_of(std::vector<Value> items);
Value function_of(Function function);

// Lists may share lists, and namespaces may contain themselves: walking through all of a value may
// take forever, so each function has a budget.

/// Python's ==; numbers of different kinds may be equal.
bool are_equal(const Value& one, const Value& other, Budget& budget);
/// Python's < for numbers, texts and lists; nothing if they are not comparable.
std::optional<bool> is_less(const Value& one, const Value& other, Budget& budget);

constexpr std::size_t kDeepestLists = 64;  // nesting of lists that become texts

/// What `{{ value }}` prints: str(value) of Python.
std::string printed(const Value& value, Budget& budget);
/// The options of Python's json.dumps().
struct JsonStyle {
  bool ascii = false;
  std::optional<std::string> indent = {};  // per level; nothing: all on one line
  std::string between = ", ";              // between members
  std::string colon = ": ";
  bool sorted = false;  // by keys
  bool html = false;    // <, > and & are escaped
};
/// As in Go's json.Marshal, but members keep their order.
inline const JsonStyle kGoJson = {.between = ",", .colon = ":", .html = true};
/// Python's json.loads(text), for numbers of 64 bits. Throws Error{kMalformed} `where: …` for text
/// that is not JSON, is nested deeper than kDeepestLists or has more than 4 million values.
Value json_value(std::string_view text, const std::string& where);
/// Python's json.dumps(value).
std::string json_of(const Value& value, const JsonStyle& style, Budget& budget);

}  // namespace attnviz::templates
