// A value for programs: the contents of JSON documents and of table cells.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/formats/json_writer.h"

namespace attnviz {

struct Datum;
struct Member;

/// The members of an object, in output order. A separate type, because members contain records.
class Record {
 public:
  Record() noexcept;
  Record(std::initializer_list<Member> members);
  Record(const Record& other);
  Record(Record&& other) noexcept;
  Record& operator=(const Record& other);
  Record& operator=(Record&& other) noexcept;
  ~Record();

  Record& add(std::string_view key, Datum value);
  /// Adds the member only if is_any(content).
  Record& add_if_any(std::string_view key, const auto& content) {
    return is_any(content) ? add(key, content) : *this;
  }
  /// Adds the members of `other` after its own.
  Record& add_all(Record other);
  bool empty() const noexcept;
  const Member* begin() const noexcept;
  const Member* end() const noexcept;

 private:
  std::vector<Member> members_;
};

/// Null, a flag, a number, a text, a list or a record. Numbers keep their type: a float is written
/// with a float's digits. Spans and matrices are views, for output that is written at once. Special
/// members are defined in the .cpp file, so that they are compiled once instead of in every report.
struct Datum {
  using List = std::vector<Datum>;

  std::variant<std::monostate, bool, std::uint64_t, std::int64_t, float, double, std::string,
               std::vector<float>, std::vector<double>, std::span<const float>, ConstMatrix, List,
               Record>
      held;

  Datum() noexcept;
  Datum(const Datum& other);
  Datum(Datum&& other) noexcept;
  Datum& operator=(const Datum& other);
  Datum& operator=(Datum&& other) noexcept;
  ~Datum();

  Datum(bool flag) : held(flag) {}
  Datum(std::unsigned_integral auto number) : held(std::uint64_t{number}) {}
  Datum(std::signed_integral auto number) : held(std::int64_t{number}) {}
  Datum(std::floating_point auto number) : held(number) {}
  Datum(std::convertible_to<std::string_view> auto const& text) : Datum(Text{}, text) {}
  Datum(std::vector<float> numbers);
  Datum(std::vector<double> numbers);
  Datum(std::span<const float> numbers) : held(numbers) {}
  Datum(ConstMatrix matrix) : held(matrix) {}
  Datum(List list);
  Datum(Record record);
  /// A list of anything that is a datum.
  template <std::ranges::range Items>
  requires(!std::convertible_to<const Items&, std::string_view>) Datum(const Items& items)
      : held(List(std::ranges::begin(items), std::ranges::end(items))) {}
  template <class T>
  Datum(const std::optional<T>& content) : Datum(content ? Datum(*content) : Datum()) {}

  bool is_null() const noexcept { return std::holds_alternative<std::monostate>(held); }
  /// The number, if this is one.
  std::optional<double> number() const;
  /// The text, if this is one.
  const std::string* text() const noexcept { return std::get_if<std::string>(&held); }

 private:
  struct Text {};
  Datum(Text /*tag*/, std::string_view text);
};

struct Member {
  std::string key;
  Datum value;
};

inline bool is_any(const Datum& datum) {
  return std::visit([](const auto& held) { return is_any(held); }, datum.held);
}

/// A list; `of` converts each item to a datum.
template <std::ranges::range Items>
Datum list_of(const Items& items, const auto& of) {
  Datum::List list;
  for (const auto& item : items) {
    list.emplace_back(std::invoke(of, item));
  }
  return list;
}

/// Rows of numbers.
Datum rows_of(ConstMatrix matrix);

/// Writes a value where one is allowed, or members into the open object.
void write_datum(JsonWriter& json, const Datum& datum);
void write_members(JsonWriter& json, const Record& record);

}  // namespace attnviz
