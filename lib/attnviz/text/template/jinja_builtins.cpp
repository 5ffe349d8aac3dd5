#include "attnviz/text/template/jinja.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/text/template/python.h"

namespace attnviz::templates {

Value made_text(std::string text, Budget& budget) {
  budget.make(text.size());
  return Value(std::move(text));
}

Value recased(std::string (*change)(std::string_view), std::string_view text, Budget& budget) {
  budget.recase(text.size());
  return made_text(change(text), budget);
}

void fail_if_known(std::string_view name, std::string_view known, std::string_view what) {
  const std::vector<std::string_view> names = words_of(known);
  if (std::ranges::find(names, name) != names.end()) {
    throw Error(ErrorKind::kUnsupported, fmt::format("{}: this {} is not run", name, what));
  }
}

Value replaced_text(std::string_view text, std::string_view from, std::string_view to,
                    std::size_t most, Budget& budget) {
  budget.search(text.size(), from.size());
  const std::size_t n_places = from.empty() ? n_characters(text) + 1 : n_parts(text, from) - 1;
  const std::size_t n_replaced = std::min(n_places, most);
  budget.make(n_replaced * (Budget::kBytesPerItem + to.size()));
  return made_text(replaced(text, from, to, most), budget);
}

std::vector<Value> items_of(const Value& value, Budget& budget) {
  std::vector<Value> items;
  if (const List* const list = value.list()) {
    budget.make_items(list->items.size());
    items = list->items;
  } else if (List* const left = value.generator()) {
    budget.make_items(left->items.size());
    items = std::exchange(left->items, {});
  } else if (const Map* const map = value.map(); map != nullptr && map->kind == MapKind::kDict) {
    budget.make_items(map->members.size());
    for (const Map::Member& member : map->members) {
      budget.make(member.name.size());
      items.push_back(member.key());
    }
  } else if (const std::string* const text = value.text()) {
    budget.make_items(n_characters(*text));
    for (std::string& one : characters_of(*text)) {
      items.push_back(made_text(std::move(one), budget));
    }
  } else if (value.undefined() == nullptr) {
    fail(fmt::format("nothing goes through {}", value.kind()));
  }
  return items;
}

bool contains(const Value& values, const Value& item, Budget& budget) {
  if (const std::string* const text = values.text()) {
    const std::string& part = needed_text(item, "in");
    budget.search(text->size(), part.size());
    return text->find(part) != std::string::npos;
  }
  if (const Map* const map = values.map()) {
    return map->find_key(item, budget) != nullptr;
  }
  if (const List* const list = values.list()) {
    return std::ranges::any_of(list->items,
                               [&](const Value& one) { return are_equal(one, item, budget); });
  }
  if (List* const left = values.generator()) {
    // Uses up the generator only as far as the item.
    const auto found = std::ranges::find_if(
        left->items, [&](const Value& one) { return are_equal(one, item, budget); });
    const bool is_in = found != left->items.end();
    left->items.erase(left->items.begin(), is_in ? found + 1 : found);
    return is_in;
  }
  if (values.undefined() != nullptr) {
    return false;
  }
  fail(fmt::format("in: expected a list, a dict or a text, found {}", values.kind()));
}

Value attribute_of(const Value& value, std::string_view path, Budget& budget) {
  budget.make(path.size());
  Value found = value;
  // Stops at the first missing member: a path may have thousands of names.
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string name(path.substr(begin, end - begin));
    begin = end + 1;
    const Map* const map = found.map();
    const Value* const member = map == nullptr ? nullptr : map->find(name, budget);
    const List* const list = found.list();
    const bool is_index =
        list != nullptr && !name.empty() && name.size() < 10 &&
        std::ranges::all_of(name, [](char one) { return one >= '0' && one <= '9'; });
    if (member != nullptr) {
      found = Value(*member);
    } else if (is_index && std::stoul(name) < list->items.size()) {
      found = Value(list->items[std::stoul(name)]);
    } else {
      return Undefined{name};
    }
  }
  return found;
}

const Value& needed(const Arguments& arguments, std::size_t place, std::string_view name) {
  const Value* const found = arguments.find(place, name);
  if (found == nullptr) {
    fail(fmt::format("expected {}, but the argument is missing", name));
  }
  return *found;
}

std::int64_t needed_integer(const Value& value, std::string_view what) {
  if (const auto number = value.integer()) {
    return *number;
  }
  if (const auto flag = value.flag()) {
    return *flag ? 1 : 0;
  }
  fail(fmt::format("{}: expected a whole number, found {}", what, value.kind()));
}

const std::string& needed_text(const Value& value, std::string_view what) {
  if (value.text() == nullptr) {
    fail(fmt::format("{}: expected a text, found {}", what, value.kind()));
  }
  return *value.text();
}

void check_arguments(std::string_view function, std::string_view parameters, const Arguments& given,
                     std::size_t n_first) {
  const std::vector<std::string_view> names = words_of(parameters);
  const std::size_t n_placed = given.values.size() - n_first;
  if (n_placed > names.size()) {
    fail(fmt::format("{} takes at most {}, found {}", function, counted(names.size(), "argument"),
                     n_placed));
  }
  for (const auto& [name, value] : given.named) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end() || name == "_") {
      fail(fmt::format("{} takes no argument {}", function, shown_name(name)));
    }
    if (static_cast<std::size_t>(found - names.begin()) < n_placed) {
      fail(fmt::format("{}: the argument {} is there twice", function, name));
    }
  }
}

std::string needed_margin(const Value& value, std::string_view what, Budget& budget) {
  if (const std::string* const text = value.text()) {
    return *text;
  }
  const auto count =
      static_cast<std::size_t>(std::max<std::int64_t>(0, needed_integer(value, what)));
  budget.make(count);
  return std::string(count, ' ');
}

std::size_t most_of(const Arguments& arguments, std::size_t place, std::string_view name) {
  const Value* const most = arguments.find(place, name);
  const std::int64_t given = most == nullptr || most->is_none() ? -1 : needed_integer(*most, name);
  return given < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(given);
}

Value made_range(const Arguments& arguments, Budget& budget) {
  check_arguments("range", "_ _ _", arguments);
  const auto at = [&](std::size_t place) {
    return needed_integer(needed(arguments, place, "a number"), "range");
  };
  const bool has_first = arguments.values.size() > 1;
  const std::int64_t first = has_first ? at(0) : 0;
  const std::int64_t end = at(has_first ? 1 : 0);
  const std::int64_t step = arguments.values.size() > 2 ? at(2) : 1;
  if (step == 0) {
    fail("range: a step of 0");
  }
  std::vector<Value> numbers;
  for (std::int64_t i = first; step > 0 ? i < end : i > end;) {
    if (numbers.size() == Budget::kMostItems) {
      fail("a list is too long");
    }
    numbers.emplace_back(i);
    if (__builtin_add_overflow(i, step, &i)) {
      break;
    }
  }
  budget.make_items(numbers.size());
  return std::make_shared<List>(List{std::move(numbers), ListKind::kRange});
}

Value loop_value(const std::vector<Value>& items, std::size_t i) {
  const auto n = static_cast<std::int64_t>(items.size());
  const auto at = static_cast<std::int64_t>(i);
  auto loop = std::make_shared<Map>();
  loop->members.reserve(12);
  loop->add("index", at + 1);
  loop->add("index0", at);
  loop->add("revindex", n - at);
  loop->add("revindex0", n - at - 1);
  loop->add("first", at == 0);
  loop->add("last", at + 1 == n);
  loop->add("length", n);
  loop->add("depth", std::int64_t{1});
  loop->add("depth0", std::int64_t{0});
  if (i > 0) {
    loop->add("previtem", items[i - 1]);
  }
  if (i + 1 < items.size()) {
    loop->add("nextitem", items[i + 1]);
  }
  loop->add("cycle", function_of([i](const Arguments& arguments) {
              if (arguments.values.empty()) {
                fail("cycle: expected values");
              }
              return arguments.values[i % arguments.values.size()];
            }));
  loop->kind = MapKind::kLoop;
  return loop;
}

Value made_dict(const Arguments& arguments, Budget& budget) {
  auto map = std::make_shared<Map>();
  if (!arguments.values.empty()) {
    const Map* const given = arguments.values.front().map();
    if (given == nullptr) {
      fail(fmt::format("dict: expected a dict, found {}", arguments.values.front().kind()));
    }
    for (const Map::Member& member : given->members) {
      budget.make(member.name.size());
      map->members.push_back(member);
    }
  }
  for (const auto& [name, value] : arguments.named) {
    map->set(name, value, budget);
  }
  budget.make_items(map->members.size());
  return map;
}

namespace {

// A number as read by Python's int() and float(), in a form that strtod() reads; empty if it is not
// one.
std::string plain_number(std::string_view text) {
  const auto is_digit = [](char one) { return one >= '0' && one <= '9'; };
  text = stripped(text, Side::kBoth);
  const std::string_view bare = text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0);
  const std::string name = lower_case(bare.substr(0, 9));
  if (bare.starts_with('-') || bare.starts_with('+')) {
    return {};
  }
  if (bare.size() == name.size() && (name == "inf" || name == "infinity" || name == "nan")) {
    return std::string(text);
  }
  std::string number;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '_' && i > 0 && is_digit(text[i - 1]) && i + 1 < text.size() &&
        is_digit(text[i + 1])) {
      continue;
    }
    if (!is_digit(text[i]) && std::string_view("+-.eE").find(text[i]) == std::string_view::npos) {
      return {};
    }
    number += text[i];
  }
  return number;
}

std::optional<double> real_of(const std::string& number) {
  char* end = nullptr;
  const double real = std::strtod(number.c_str(), &end);
  return number.empty() || *end != '\0' ? std::nullopt : std::optional(real);
}

}  // namespace

constexpr std::size_t kReadsOfNumber = 8;  // times the cost of reading a text

Value to_int(const Arguments& arguments, Budget& budget) {
  const Value& value = arguments.values.front();
  const Value* const given = arguments.find(1, "default");
  if (arguments.find(2, "base") != nullptr) {
    fail("int: a base is not taken");
  }
  require_defined(value);
  if (value.integer() || value.flag()) {
    return needed_integer(value, "int");
  }
  std::optional<double> real = value.real();
  if (const std::string* const text = value.text()) {
    budget.read(kReadsOfNumber * text->size());
    const std::string number = plain_number(*text);
    if (const auto whole = parse_number<std::int64_t>(
            std::string_view(number).substr(number.starts_with('+') ? 1 : 0))) {
      return *whole;
    }
    real = real_of(number);
  }
  if (!real || std::isnan(*real)) {
    return given == nullptr ? Value(std::int64_t{0}) : *given;
  }
  constexpr double kEnd = 9223372036854775808.0;
  if (!(*real >= -kEnd && *real < kEnd)) {
    fail("int: the number is too large");
  }
  return static_cast<std::int64_t>(*real);
}

Value to_float(const Arguments& arguments, Budget& budget) {
  const Value& value = arguments.values.front();
  const Value* const given = arguments.find(1, "default");
  require_defined(value);
  const std::string* const text = value.text();
  budget.read(text == nullptr ? 0 : kReadsOfNumber * text->size());
  const auto number = text == nullptr ? value.number() : real_of(plain_number(*text));
  return number ? Value(*number) : given == nullptr ? Value(0.0) : *given;
}

Value absolute(const Arguments& arguments, Budget& /*budget*/) {
  const Value& value = arguments.values.front();
  if (value.integer() || value.flag()) {
    const std::int64_t whole = needed_integer(value, "abs");
    return whole < 0 ? applied("-", value) : Value(whole);
  }
  if (const auto number = value.real()) {
    return std::abs(*number);
  }
  fail(fmt::format("abs: expected a number, found {}", value.kind()));
}

}  // namespace attnviz::templates
