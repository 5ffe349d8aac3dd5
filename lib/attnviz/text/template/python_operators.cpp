#include "attnviz/text/template/python.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "attnviz/text/template/jinja.h"

namespace attnviz::templates {

namespace {

Value repeated(const Value& of, const Value& times, Budget& budget) {
  const std::int64_t count = std::max<std::int64_t>(0, needed_integer(times, "*"));
  const std::string& one = *of.text();
  if (!one.empty() && static_cast<std::uint64_t>(count) > Budget::kMostItems * 100 / one.size()) {
    fail("the text is too long");
  }
  std::string all;
  for (std::int64_t i = 0; !one.empty() && i < count; ++i) {
    all += one;
  }
  return made_text(std::move(all), budget);
}

Value real_power(double base, double exponent) {
  if (base == 0.0 && exponent < 0.0) {
    fail("divided by 0");
  }
  const double result = std::pow(base, exponent);
  if (std::isfinite(base) && std::isfinite(exponent) && !std::isfinite(result)) {
    fail(std::isnan(result) ? "a root of a number below 0" : "the number is too large");
  }
  return result;
}

Value real(std::string_view sign, double left, double right) {
  if (right == 0.0 && (sign == "/" || sign == "//" || sign == "%")) {
    fail("divided by 0");
  }
  if (sign == "+" || sign == "-") {
    return sign == "+" ? left + right : left - right;
  }
  if (sign == "*" || sign == "/") {
    return sign == "*" ? left * right : left / right;
  }
  if (sign == "**") {
    return real_power(left, right);
  }
  const double rest = std::fmod(left, right);
  const bool is_below = rest != 0.0 && (rest < 0.0) != (right < 0.0);
  if (sign == "%") {
    return rest == 0.0 ? std::copysign(0.0, right) : rest + (is_below ? right : 0.0);
  }
  const double times = (left - rest) / right - (is_below ? 1.0 : 0.0);
  return times == 0.0 ? std::copysign(0.0, left / right) : std::round(times);
}

Value power(std::int64_t base, std::int64_t exponent) {
  const double result = std::pow(static_cast<double>(base), static_cast<double>(exponent));
  constexpr double kExact = 9007199254740992.0;

  if (!(std::abs(result) <= kExact)) {
    fail("the number is too large");
  }
  return static_cast<std::int64_t>(result);
}

Value whole(std::string_view sign, std::int64_t left, std::int64_t right) {
  std::int64_t result = 0;
  bool is_too_large = false;
  if (sign == "+") {
    is_too_large = __builtin_add_overflow(left, right, &result);
  } else if (sign == "-") {
    is_too_large = __builtin_sub_overflow(left, right, &result);
  } else if (sign == "*") {
    is_too_large = __builtin_mul_overflow(left, right, &result);
  } else if (sign == "**") {
    return right < 0 ? real(sign, static_cast<double>(left), static_cast<double>(right))
                     : power(left, right);
  } else {
    if (right == 0) {
      fail("divided by 0");
    }
    if (right == -1) {
      is_too_large = sign == "//" && left == std::numeric_limits<std::int64_t>::min();
      result = sign == "//" && !is_too_large ? -left : 0;
    } else {  // rounds down, as in Python
      const std::int64_t rest = left % right;
      const bool is_below = rest != 0 && (rest < 0) != (right < 0);
      result = sign == "//" ? left / right - (is_below ? 1 : 0) : rest + (is_below ? right : 0);
    }
  }
  if (is_too_large) {
    fail("the number is too large");
  }
  return result;
}

}  // namespace

void require_defined(const Value& value) {
  if (const Undefined* const missing = value.undefined()) {
    fail(fmt::format("{} is undefined", *missing->name));
  }
}

Value applied(std::string_view sign, const Value& value) {
  if (sign == "not") {
    return !value.is_true();
  }
  require_defined(value);
  const std::int64_t factor = sign == "-" ? -1 : 1;
  if (value.integer() || value.flag()) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(needed_integer(value, sign), factor, &result)) {
      fail("the number is too large");
    }
    return result;
  }
  const auto number = value.number();
  if (!number) {
    fail(fmt::format("{} of {}", sign, value.kind()));
  }
  return static_cast<double>(factor) * *number;
}

Value applied(std::string_view sign, const Value& left, const Value& right, Budget& budget) {
  if (sign == "~") {
    return made_text(printed(left, budget) + printed(right, budget), budget);
  }
  require_defined(left);
  require_defined(right);
  if (sign == "+" && left.text() != nullptr && right.text() != nullptr) {
    return made_text(*left.text() + *right.text(), budget);
  }
  if (sign == "+" && left.list() != nullptr && right.list() != nullptr &&
      left.list()->kind == right.list()->kind && left.list()->kind != ListKind::kRange) {
    budget.make_items(left.list()->items.size() + right.list()->items.size());
    auto both = std::make_shared<List>(*left.list());
    both->items.insert(both->items.end(), right.list()->items.begin(), right.list()->items.end());
    return both;
  }
  if (sign == "*" && (left.text() != nullptr || right.text() != nullptr)) {
    return repeated(left.text() != nullptr ? left : right, left.text() != nullptr ? right : left,
                    budget);
  }
  if (!left.number() || !right.number()) {
    fail(fmt::format("{} {} {}", left.kind(), sign, right.kind()));
  }
  const bool are_whole = !left.real() && !right.real();
  return are_whole && sign != "/"
             ? whole(sign, needed_integer(left, sign), needed_integer(right, sign))
             : real(sign, *left.number(), *right.number());
}

bool holds(std::string_view sign, const Value& left, const Value& right, Budget& budget) {
  if (sign == "==" || sign == "!=") {
    return are_equal(left, right, budget) == (sign == "==");
  }
  if (sign == "in" || sign == "not in") {
    return contains(right, left, budget) == (sign == "in");
  }
  require_defined(left);
  require_defined(right);
  const bool is_turned = sign == ">" || sign == "<=";
  const auto less = is_turned ? is_less(right, left, budget) : is_less(left, right, budget);
  if (!less) {
    fail(fmt::format("{} {} {}: they have no order", left.kind(), sign, right.kind()));
  }
  return *less == (sign == "<" || sign == ">");
}

Value item_of(const Value& of, const Value& index, Budget& budget) {
  require_defined(of);
  if (const Map* const map = of.map()) {
    if (const Value* const found = map->find_key(index, budget)) {
      return *found;
    }
  } else if (const auto place = index.integer()) {
    if (const std::string* const text = of.text()) {
      auto one = character_at(*text, *place);
      return one ? Value(std::move(*one)) : Value(Undefined{"a character"});
    }
    if (const List* const list = of.list()) {
      const auto n = static_cast<std::int64_t>(list->items.size());
      const std::int64_t at = *place < 0 ? *place + n : *place;
      return at >= 0 && at < n ? list->items[static_cast<std::size_t>(at)]
                               : Value(Undefined{fmt::format("item {}", *place)});
    }
  }
  if (index.text() != nullptr) {
    if (auto method = jinja_method(of, *index.text(), budget)) {
      return *method;
    }
  }
  return Undefined{printed(index, budget)};
}

Value attribute(const Value& of, std::string_view name, Budget& budget) {
  require_defined(of);
  if (of.is_none()) {
    return Undefined{std::string(name)};
  }
  if (auto method = jinja_method(of, name, budget)) {
    return *method;
  }
  const Value* const found = of.map() == nullptr ? nullptr : of.map()->find(name, budget);
  budget.make(found == nullptr ? name.size() : 0);
  return found == nullptr ? Value(Undefined{std::string(name)}) : *found;
}

Value slice_of(const Value& of, std::optional<std::int64_t> first, std::optional<std::int64_t> end,
               std::int64_t step, Budget& budget) {
  if (const std::string* const whole = of.text()) {
    budget.make(step == 1 ? 0 : n_characters(*whole) * Budget::kBytesPerItem);
    return made_text(sliced(*whole, first, end, step), budget);
  }
  const List* const list = of.list();
  if (list == nullptr) {
    fail(fmt::format("a slice of {}", of.kind()));
  }
  auto some = std::make_shared<List>();
  some->kind = list->kind;
  for (const std::size_t i : slice_indices(list->items.size(), first, end, step)) {
    some->items.push_back(list->items[i]);
  }
  budget.make_items(some->items.size());
  return some;
}

}  // namespace attnviz::templates
