#include "attnviz/text/template/jinja_builtins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "attnviz/text/template/python_text.h"

namespace attnviz::templates {

Value made_text(std::string text, Budget& budget) {
  budget.make(text.size());
  return Value(std::move(text));
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
  if (values.undefined() != nullptr) {
    return false;
  }
  fail(fmt::format("in: expected a list, a dict or a text, found {}", values.kind()));
}

Value attribute_of(const Value& value, std::string_view path, Budget& budget) {
  budget.make(path.size());
  Value found = value;
  // Only as far as there is something: a path may have thousands of names.
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
    fail(fmt::format("expected {}, found no such argument", name));
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

// Which strtod() reads, and Python's float() does not.
bool is_hexadecimal(std::string_view number) noexcept {
  return number.find_first_of("xX") != std::string_view::npos;
}

}  // namespace

Value to_int(const Arguments& arguments, Budget& budget) {
  const Value& value = arguments.values.front();
  const Value* const given = arguments.find(1, "default");
  if (arguments.find(2, "base") != nullptr) {
    fail("int: a base is not taken");
  }
  Value missing = given == nullptr ? Value(std::int64_t{0}) : *given;
  if (value.integer()) {
    return value;
  }
  double number = 0.0;
  if (const auto found = value.number()) {
    number = *found;
  } else if (const std::string* const text = value.text()) {
    char* end = nullptr;
    budget.read(text->size());
    const std::string trimmed(stripped(*text, Side::kBoth));
    number = std::strtod(trimmed.c_str(), &end);
    if (trimmed.empty() || *end != '\0' || is_hexadecimal(trimmed)) {
      return missing;
    }
  } else {
    return missing;
  }
  constexpr double kMost = 9e18;
  return std::abs(number) < kMost ? Value(static_cast<std::int64_t>(number)) : missing;
}

Value to_float(const Arguments& arguments, Budget& budget) {
  const Value& value = arguments.values.front();
  if (const auto found = value.number()) {
    return *found;
  }
  const Value* const given = arguments.find(1, "default");
  char* end = nullptr;
  const std::string text(stripped(printed(value, budget), Side::kBoth));
  const double number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && !is_hexadecimal(text) ? Value(number)
         : given == nullptr                                     ? Value(0.0)
                                                                : *given;
}

Value absolute(const Arguments& arguments, Budget& /*budget*/) {
  if (const auto whole = arguments.values.front().integer()) {
    return *whole < 0 && *whole != std::numeric_limits<std::int64_t>::min() ? -*whole : *whole;
  }
  if (const auto number = arguments.values.front().number()) {
    return std::abs(*number);
  }
  fail(fmt::format("abs: expected a number, found {}", arguments.values.front().kind()));
}

}  // namespace attnviz::templates
