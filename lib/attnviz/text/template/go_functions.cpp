#include "attnviz/text/template/go_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "attnviz/core/message.h"
#include "attnviz/text/template/jinja.h"

namespace attnviz::templates {

namespace {

std::size_t go_length(const Value& value) {
  if (value.number()) {
    fail(fmt::format("len of {}", value.kind()));
  }
  return value.text() != nullptr   ? value.text()->size()
         : value.list() != nullptr ? value.list()->items.size()
         : value.map() != nullptr  ? value.map()->members.size()
                                   : 0;
}

// Whether a value is missing: a zero value of unknown kind.
bool is_missing(const Value& value) noexcept {
  return value.is_none() || value.undefined() != nullptr;
}

// printf with %s, %d, %v, %q and %%. Refuses formats for which Go writes errors into the text, such
// as %!d(string=a).
std::string go_printf(std::span<const Value> arguments, Budget& budget) {
  std::string out;
  std::size_t next = 1;
  const std::string& format = needed_text(arguments.front(), "printf");
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    const char verb = ++i < format.size() ? format[i] : ' ';
    if (verb == '%') {
      out += '%';
      continue;
    }
    if (std::string_view("sdvq").find(verb) == std::string_view::npos) {
      fail(fmt::format("printf: %{} is not known", verb));
    }
    if (next == arguments.size()) {
      fail("printf: an argument is missing");
    }
    const Value& value = arguments[next++];
    const bool fits = verb == 'v' || is_missing(value) ||
                      (verb == 'd' ? value.integer().has_value() : value.text() != nullptr);
    if (!fits) {
      fail(fmt::format("printf: %{} of {}", verb, value.kind()));
    }
    out +=
        verb == 'q' ? json_of(Value(go_text(value, budget)), {}, budget) : go_text(value, budget);
  }
  if (next < arguments.size()) {
    fail(fmt::format("printf: {} too many", counted(arguments.size() - next, "argument")));
  }
  return out;
}

// Puts spaces between operands that are not texts, or between all if a line feed follows.
std::string go_print(std::span<const Value> arguments, bool with_line_feed, Budget& budget) {
  std::string all;
  bool joins = true;  // to what was written before
  for (const Value& one : arguments) {
    const bool is_text = one.text() != nullptr || is_missing(one);
    all += &one != &arguments.front() && (with_line_feed || !(joins || is_text)) ? " " : "";
    all += go_text(one, budget);
    joins = is_text;
  }
  return all + (with_line_feed ? "\n" : "");
}

// A zero value equals an empty text.
bool are_alike(const Value& one, const Value& other, Budget& budget) {
  const auto is_empty = [](const Value& value) {
    return is_missing(value) || (value.text() != nullptr && value.text()->empty());
  };
  if (one.kind() != other.kind() && !is_missing(one) && !is_missing(other)) {
    fail(fmt::format("{} and {} are not compared", one.kind(), other.kind()));
  }
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

bool is_struct(const Value& value) noexcept {
  return value.map() != nullptr && value.map()->kind == MapKind::kStruct;
}

}  // namespace

std::string go_text(const Value& value, Budget& budget) {
  if (value.is_none() || value.undefined() != nullptr) {
    return "";
  }
  if (const auto flag = value.flag()) {
    return *flag ? "true" : "false";
  }
  if (const auto real = value.real()) {
    constexpr double kFirstExponent = 1e21;  // Go's %v writes an exponent from here on
    const bool is_whole = *real == std::trunc(*real) && std::abs(*real) < kFirstExponent;
    return is_whole ? fmt::format("{:.0f}", *real) : fmt::format("{}", *real);
  }
  const List* const list = value.list();
  if (list == nullptr && value.map() == nullptr) {
    return printed(value, budget);
  }
  // Go prints tools as JSON, alone and in a list.
  const bool is_json = list == nullptr || (!list->items.empty() && is_struct(list->items.front()));
  return is_json ? json_of(value, kGoJson, budget) : printed(value, budget);
}

Value go_call(const std::string& name, const std::vector<Value>& arguments, const GoDates& dates,
              Budget& budget) {
  const auto need = [&](std::size_t count, bool or_more = false) {
    if (arguments.size() < count || (arguments.size() > count && !or_more)) {
      fail(fmt::format("{}: expected {}{}, found {}", name, or_more ? "at least " : "",
                       counted(count, "argument"), arguments.size()));
    }
  };
  if (name == "currentDate" || name == "yesterdayDate") {
    need(0);
    return Value(name == "currentDate" ? dates.today : dates.yesterday);
  }
  if (name == "print" || name == "println") {
    return made_text(go_print(arguments, name == "println", budget), budget);
  }
  need(1, /*or_more=*/true);
  if (name == "not") {
    need(1);
    return !arguments[0].is_true();
  }
  if (name == "len") {
    need(1);
    return static_cast<std::int64_t>(go_length(arguments[0]));
  }
  if (name == "json" || name == "toTypeScriptType") {
    need(1);
    return made_text(json_of(arguments[0], kGoJson, budget), budget);
  }
  if (name == "printf") {
    return made_text(go_printf(arguments, budget), budget);
  }
  if (name == "slice") {
    return slice(arguments, budget);
  }
  need(2, /*or_more=*/name == "index" || name == "eq");
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
