// A piece of data for programs: what a JSON document holds, and the cells of tables.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace attnviz {

class JsonWriter;
struct Member;

/// The members of an object, in the order in which they are written. A type of its own, for members
/// hold records.
class Record {
 public:
  Record() noexcept;
  Record(std::initializer_list<Member> members);
  Record(const Record& other);
  Record(Record&& other) noexcept;
  Record& operator=(const Record& other);
  Record& operator=(Record&& other) noexcept;
  ~Record();

  void push_back(Member member);
  bool empty() const noexcept;
  const Member* begin() const noexcept;
  const Member* end() const noexcept;

 private:
  std::vector<Member> members_;
};

/// Writes one value that a writer of its own knows.
using WriteValue = std::function<void(JsonWriter& json)>;

/// Null, a flag, a number, a text, a list or a record. Numbers keep their type: a float is written
/// in the digits that a float has.
struct Datum {
  using List = std::vector<Datum>;

  std::variant<std::monostate, bool, std::uint64_t, std::int64_t, float, double, std::string,
               std::vector<double>, List, Record, WriteValue>
      held;

  Datum() = default;
  Datum(bool flag) : held(flag) {}
  Datum(std::unsigned_integral auto number) : held(std::uint64_t{number}) {}
  Datum(std::signed_integral auto number) : held(std::int64_t{number}) {}
  Datum(std::floating_point auto number) : held(number) {}
  Datum(std::convertible_to<std::string_view> auto const& text)
      : held(std::string(std::string_view(text))) {}
  Datum(std::vector<double> numbers) : held(std::move(numbers)) {}
  Datum(List list) : held(std::move(list)) {}
  Datum(Record record) : held(std::move(record)) {}
  Datum(WriteValue write) : held(std::move(write)) {}
  template <class T>
  Datum(const std::optional<T>& content) : Datum(content ? Datum(*content) : Datum()) {}

  bool is_null() const noexcept { return std::holds_alternative<std::monostate>(held); }
  /// Its number, where it is one.
  std::optional<double> number() const;
  /// Its text, where it is one.
  const std::string* text() const noexcept { return std::get_if<std::string>(&held); }
};

struct Member {
  std::string key;  // empty: the value writes members of its own
  Datum value;
};

inline Record::Record() noexcept = default;
inline Record::Record(std::initializer_list<Member> members) : members_(members) {}
inline Record::Record(const Record& other) = default;
inline Record::Record(Record&& other) noexcept = default;
inline Record& Record::operator=(const Record& other) = default;
inline Record& Record::operator=(Record&& other) noexcept = default;
inline Record::~Record() = default;
inline void Record::push_back(Member member) {
  members_.push_back(std::move(member));
}
inline bool Record::empty() const noexcept {
  return members_.empty();
}
inline const Member* Record::begin() const noexcept {
  return members_.data();
}
inline const Member* Record::end() const noexcept {
  return members_.data() + members_.size();
}

inline std::optional<double> Datum::number() const {
  return std::visit(
      [](const auto& value) -> std::optional<double> {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
          return static_cast<double>(value);
        } else {
          return std::nullopt;
        }
      },
      held);
}

/// A list: `of` turns each item into a datum.
template <std::ranges::range Items>
Datum list_of(const Items& items, const auto& of) {
  Datum::List list;
  for (const auto& item : items) {
    list.emplace_back(std::invoke(of, item));
  }
  return list;
}

}  // namespace attnviz
