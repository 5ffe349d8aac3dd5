#include "attnviz/text/template/go_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "attnviz/text/template/jinja_builtins.h"

namespace attnviz::templates {

namespace {

std::size_t go_length(const Value& value) {
  return value.text() != nullptr   ? value.text()->size()
         : value.list() != nullptr ? value.list()->items.size()
         : value.map() != nullptr  ? value.map()->members.size()
                                   : 0;
}

// printf of %s, %d, %v, %q and %%.
std::string go_printf(std::span<const Value> arguments, Budget& budget) {
  std::string out;
  std::size_t next = 1;
  const std::string& format = needed_text(arguments.front(), "printf");
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out += format[i];
      continue;
    }
    const char verb = format[++i];
    if (verb == '%') {
      out += '%';
    } else if (std::string_view("sdvq").find(verb) == std::string_view::npos) {
      fail(fmt::format("printf: %{} is not known", verb));
    } else if (next == arguments.size()) {
      fail("printf: an argument is missing");
    } else {
      const Value& value = arguments[next++];
      out +=
          verb == 'q' ? json_of(Value(go_text(value, budget)), {}, budget) : go_text(value, budget);
    }
  }
  return out;
}

// A zero value is like an empty text.
bool are_alike(const Value& one, const Value& other, Budget& budget) {
  const auto is_empty = [](const Value& value) {
    return value.is_none() || value.undefined() != nullptr ||
           (value.text() != nullptr && value.text()->empty());
  };
  return are_equal(one, other, budget) || (is_empty(one) && is_empty(other));
}

std::size_t bounded(const Value& value, std::size_t most) {
  const std::int64_t number = needed_integer(value, "an index");
  if (number < 0 || static_cast<std::uint64_t>(number) > most) {
    fail(fmt::format("index {} of {}", number, most));
  }
  return static_cast<std::size_t>(number);
}

Value slice(const std::vector<Value>& arguments, Budget& budget) {
  const Value& of = arguments[0];
  const std::size_t size = go_length(of);
  const std::size_t first = arguments.size() > 1 ? bounded(arguments[1], size) : 0;
  const std::size_t end = arguments.size() > 2 ? bounded(arguments[2], size) : size;
  if (first > end) {
    fail(fmt::format("slice from {} to {}", first, end));
  }
  if (const std::string* const whole = of.text()) {
    return made_text(whole->substr(first, end - first), budget);
  }
  if (of.list() == nullptr) {
    fail(fmt::format("slice of {}", of.kind()));
  }
  const auto begin = of.list()->items.begin();
  std::vector<Value> some(begin + static_cast<std::ptrdiff_t>(first),
                          begin + static_cast<std::ptrdiff_t>(end));
  budget.make_items(some.size());
  return list_of(std::move(some));
}

Value index(const std::vector<Value>& arguments, Budget& budget) {
  Value of = arguments[0];
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (const Map* const map = of.map()) {
      const Value* const found = map->find(needed_text(arguments[i], "index"), budget);
      of = found == nullptr ? Value() : Value(*found);
    } else if (const List* const list = of.list(); list != nullptr && !list->items.empty()) {
      of = Value(list->items[bounded(arguments[i], list->items.size() - 1)]);
    } else {
      fail(fmt::format("index of {}", of.kind()));
    }
  }
  return of;
}

}  // namespace

std::string go_text(const Value& value, Budget& budget) {
  if (value.is_none() || value.undefined() != nullptr) {
    return "";
  }
  if (const auto flag = value.flag()) {
    return *flag ? "true" : "false";
  }
  const List* const list = value.list();
  if (list == nullptr && value.map() == nullptr) {
    return printed(value, budget);
  }
  return list == nullptr ? json_of(value, {}, budget) : printed(value, budget);
}

Value go_call(const std::string& name, const std::vector<Value>& arguments, const GoDates& dates,
              Budget& budget) {
  const auto need = [&](std::size_t count) {
    if (arguments.size() < count) {
      fail(fmt::format("{}: expected at least {} arguments, found {}", name, count,
                       arguments.size()));
    }
  };
  if (name == "currentDate" || name == "yesterdayDate") {
    return Value(name == "currentDate" ? dates.today : dates.yesterday);
  }
  need(1);
  if (name == "not") {
    return !arguments[0].is_true();
  }
  if (name == "len") {
    return static_cast<std::int64_t>(go_length(arguments[0]));
  }
  if (name == "json" || name == "toTypeScriptType") {
    return made_text(json_of(arguments[0], {}, budget), budget);
  }
  if (name == "print" || name == "println") {
    std::string all;
    for (const Value& one : arguments) {
      all += go_text(one, budget);
    }
    return made_text(all + (name == "println" ? "\n" : ""), budget);
  }
  if (name == "printf") {
    return made_text(go_printf(arguments, budget), budget);
  }
  if (name == "slice") {
    return slice(arguments, budget);
  }
  need(2);
  if (name == "index") {
    return index(arguments, budget);
  }
  if (name == "eq" || name == "ne") {
    const bool is_any = std::any_of(arguments.begin() + 1, arguments.end(), [&](const Value& one) {
      return are_alike(arguments[0], one, budget);
    });
    return is_any == (name == "eq");
  }
  for (const auto& [sign, is_turned, is_negated] :
       {std::tuple("lt", false, false), std::tuple("ge", false, true),
        std::tuple("gt", true, false), std::tuple("le", true, true)}) {
    if (name == sign) {
      const auto less = is_less(arguments[is_turned ? 1 : 0], arguments[is_turned ? 0 : 1], budget);
      if (!less) {
        fail(fmt::format("{}: they have no order", name));
      }
      return *less != is_negated;
    }
  }
  fail(fmt::format("no function is called {}", name));
}

}  // namespace attnviz::templates
