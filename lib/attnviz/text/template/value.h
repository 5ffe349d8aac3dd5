// What chat templates compute with: the values of Python as Jinja has them, which Go's are part of.
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

/// Arguments of a call: those by place, and those by name.
struct Arguments {
  std::vector<Value> values;
  std::vector<std::pair<std::string, Value>> named;

  /// The one by name, or at `place`; null when there is none.
  const Value* find(std::size_t place, std::string_view name) const noexcept;
};

/// A generator is what most filters make: true although it may be empty, without a length, and
/// gone once it was gone through.
enum class ListKind { kList, kTuple, kRange, kGenerator };

struct List {
  std::vector<Value> items;
  ListKind kind = ListKind::kList;
};

/// Members of a Go struct have the names that its fields have in JSON: tool_calls.
enum class MapKind { kDict, kNamespace, kLoop, kStruct };

/// A mapping in the order in which its keys came.
struct Map {
  struct Member;
  std::vector<Member> members;
  std::optional<std::size_t> message;  // its place among the messages, of those that are one
  MapKind kind = MapKind::kDict;

  /// Null when there is none.
  const Value* find(std::string_view key, Budget& budget) const;
  void set(std::string_view key, Value value, Budget& budget);
  /// One that is not there yet.
  void add(std::string_view key, Value value);
  /// Keys of any kind. Only texts and whole numbers are taken; setting others throws.
  const Value* find_key(const Value& key, Budget& budget) const;
  void set_key(const Value& key, Value value, Budget& budget);

 private:
  const Member* member(std::string_view key, std::optional<std::int64_t> number,
                       Budget& budget) const;
};

using Function = std::function<Value(const Arguments& arguments)>;

struct Undefined {
  explicit Undefined(std::string of) : name(std::make_shared<const std::string>(std::move(of))) {}
  std::shared_ptr<const std::string> name;  // of what is not there
};

/// Copies share lists and maps. However deep these lie in one another, the last one to go frees
/// them one after the other.
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
  /// A number of any kind; flags count as 0 and 1.
  std::optional<double> number() const noexcept;
  const std::string* text() const noexcept;
  List* list() const noexcept;       // null of a generator
  List* generator() const noexcept;  // what is left of it
  Map* map() const noexcept;
  const Function* function() const noexcept;

  /// Python's truth: empty things but generators are false, as None and what is undefined.
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

/// Maps that may hold themselves, which would keep one another for ever. They are emptied when it
/// ends.
class MapsInCircles {
 public:
  MapsInCircles() = default;
  ~MapsInCircles();
  MapsInCircles(const MapsInCircles&) = delete;
  MapsInCircles& operator=(const MapsInCircles&) = delete;

  /// A map that is to have `member`. What stays is paid for.
  void add(const Value& map, const Value& member, Budget& budget);

 private:
  std::unordered_map<const Map*, Value> maps_;
};

Value list_of(std::vector<Value> items);
Value generator_of(std::vector<Value> items);
Value function_of(Function function);

// Lists hold lists that they share, and namespaces themselves: what goes through all of a value may
// take for ever, so that each takes a budget.

/// Python's ==; numbers of different kinds may be equal.
bool are_equal(const Value& one, const Value& other, Budget& budget);
/// Python's <, of numbers, texts and lists; nothing where they have no order.
std::optional<bool> is_less(const Value& one, const Value& other, Budget& budget);

constexpr std::size_t kDeepestLists = 64;  // lists in lists that become texts

/// What `{{ value }}` prints: str(value) of Python.
std::string printed(const Value& value, Budget& budget);
/// What json.dumps() of Python is told.
struct JsonStyle {
  bool ascii = false;
  std::optional<std::string> indent = {};  // of a level; nothing: all on one line
  std::string between = ", ";              // of members
  std::string colon = ": ";
  bool sorted = false;  // by their keys
  bool html = false;    // <, > and & are escaped
};
/// As json.Marshal of Go, but members keep their order.
inline const JsonStyle kGoJson = {.between = ",", .colon = ":", .html = true};
/// json.loads(text) of Python, for numbers of 64 bits. Throws Error{kMalformed} `where: …` for what
/// is not JSON, lies deeper than kDeepestLists or has more than 4 million values.
Value json_value(std::string_view text, const std::string& where);
/// json.dumps(value) of Python.
std::string json_of(const Value& value, const JsonStyle& style, Budget& budget);

}  // namespace attnviz::templates
