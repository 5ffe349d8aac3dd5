#include "attnviz/report/json/datum.h"

#include <iterator>
#include <type_traits>

namespace attnviz {

Record::Record() noexcept = default;
Record::Record(std::initializer_list<Member> members) : members_(members) {}

Record::Record(const Record& other) = default;
Record::Record(Record&& other) noexcept = default;
Record& Record::operator=(const Record& other) = default;
Record& Record::operator=(Record&& other) noexcept = default;
Record::~Record() = default;

Record& Record::add(std::string_view key, Datum value) {
  members_.push_back({std::string(key), std::move(value)});
  return *this;
}

Record& Record::add_all(Record other) {
  members_.insert(members_.end(), std::make_move_iterator(other.members_.begin()),
                  std::make_move_iterator(other.members_.end()));
  return *this;
}

bool Record::empty() const noexcept {
  return members_.empty();
}

const Member* Record::begin() const noexcept {
  return members_.data();
}

const Member* Record::end() const noexcept {
  return members_.data() + members_.size();
}

Datum::Datum() noexcept = default;
Datum::Datum(const Datum& other) = default;
Datum::Datum(Datum&& other) noexcept = default;
Datum& Datum::operator=(const Datum& other) = default;
Datum& Datum::operator=(Datum&& other) noexcept = default;
Datum::~Datum() = default;

Datum::Datum(std::vector<float> numbers) : held(std::move(numbers)) {}
Datum::Datum(std::vector<double> numbers) : held(std::move(numbers)) {}
Datum::Datum(List list) : held(std::move(list)) {}
Datum::Datum(Record record) : held(std::move(record)) {}
Datum::Datum(Text /*tag*/, std::string_view text) : held(std::string(text)) {}

std::optional<double> Datum::number() const {
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

Datum rows_of(ConstMatrix matrix) {
  Datum::List rows;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    const std::span<const float> numbers = matrix.row(row);
    rows.emplace_back(std::vector<float>(numbers.begin(), numbers.end()));
  }
  return rows;
}

void write_members(JsonWriter& json, const Record& record) {
  for (const Member& member : record) {
    json.key(member.key);
    write_datum(json, member.value);
  }
}

void write_datum(JsonWriter& json, const Datum& datum) {
  std::visit(
      [&json](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          json.null();
        } else if constexpr (std::is_same_v<Held, Datum::List>) {
          json.begin_array();
          for (const Datum& item : held) {
            write_datum(json, item);
          }
          json.end_array();
        } else if constexpr (std::is_same_v<Held, Record>) {
          json.begin_object();
          write_members(json, held);
          json.end_object();
        } else {
          json.value(held);
        }
      },
      datum.held);
}

}  // namespace attnviz
