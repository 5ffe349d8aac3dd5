// Tests, and methods of texts, lists and mappings.

#include <fmt/format.h>

#include <algorithm>

#include "attnviz/core/error.h"
#include "attnviz/text/template/jinja.h"
#include "attnviz/text/template/python.h"

namespace attnviz::templates {

namespace {

// The maximum number of splits: one part more than a list may have, so that the list is refused
// before all parts are made.
std::size_t most_parts(const Arguments& arguments) {
  return std::min(most_of(arguments, 1, "maxsplit"), Budget::kMostItems);
}

Value texts_value(std::vector<std::string> parts, Budget& budget) {
  budget.make_items(parts.size());
  std::vector<Value> values;
  values.reserve(parts.size());
  for (std::string& part : parts) {
    values.emplace_back(made_text(std::move(part), budget));
  }
  return list_of(std::move(values));
}

Value strip(const std::string& text, Side side, const Arguments& arguments, Budget& budget) {
  const Value* const characters = arguments.find(0, "chars");
  const bool has_own = characters != nullptr && !characters->is_none();
  if (has_own) {
    budget.read(text.size() * needed_text(*characters, "strip").size());
  }
  return made_text(std::string(stripped(
                       text, side,
                       has_own ? std::optional<std::string_view>(needed_text(*characters, "strip"))
                               : std::nullopt)),
                   budget);
}

Value split(const std::string& text, const Arguments& arguments, Budget& budget) {
  const Value* const separator = arguments.find(0, "sep");
  const std::size_t most = most_parts(arguments);
  if (separator == nullptr || separator->is_none()) {
    return texts_value(split_words(text, most), budget);
  }
  if (needed_text(*separator, "split").empty()) {
    fail("split: the separator is empty");
  }
  budget.search(text.size(), separator->text()->size());
  return texts_value(split_at(text, *separator->text(), most), budget);
}

Value split_from_end(const std::string& text, const Arguments& arguments, Budget& budget) {
  const std::size_t most = most_parts(arguments);
  const Value* const separator = arguments.find(0, "sep");
  if (most == Budget::kMostItems) {
    return split(text, arguments, budget);
  }
  if (separator == nullptr || separator->is_none()) {
    fail("rsplit: a number of parts without a separator is not run");
  }
  const std::string& between = needed_text(*separator, "rsplit");
  if (between.empty()) {
    fail("rsplit: the separator is empty");
  }
  budget.search(text.size(), between.size());
  std::vector<std::string> parts;
  std::string_view rest = text;
  for (std::size_t found = rest.rfind(between);
       found != std::string_view::npos && parts.size() < most; found = rest.rfind(between)) {
    parts.emplace_back(rest.substr(found + between.size()));
    rest = rest.substr(0, found);
  }
  parts.emplace_back(rest);
  std::ranges::reverse(parts);
  return texts_value(std::move(parts), budget);
}

// Compares with one text, or with any text of a tuple.
Value has_end(const std::string& text, const Arguments& arguments, Budget& budget, bool at_end) {
  const auto has = [&](const Value& one) {
    const std::string& end = needed_text(one, at_end ? "endswith" : "startswith");
    budget.read(Budget::kReadPerValue + std::min(end.size(), text.size()));
    return at_end ? text.ends_with(end) : text.starts_with(end);
  };
  const Value& wanted = needed(arguments, 0, "a text");
  return wanted.list() != nullptr ? std::ranges::any_of(wanted.list()->items, has) : has(wanted);
}

Value find(const std::string& text, const Arguments& arguments, Budget& budget) {
  const std::string& what = needed_text(needed(arguments, 0, "a text"), "find");
  budget.search(text.size(), what.size());
  const std::size_t at = text.find(what);
  return at == std::string::npos
             ? std::int64_t{-1}
             : static_cast<std::int64_t>(n_characters(std::string_view(text).substr(0, at)));
}

Value count(const std::string& text, const Arguments& arguments, Budget& budget) {
  const std::string& what = needed_text(needed(arguments, 0, "a text"), "count");
  budget.search(text.size(), what.size());
  return static_cast<std::int64_t>(what.empty() ? n_characters(text) + 1 : n_parts(text, what) - 1);
}

Value joined(const std::string& text, const Arguments& arguments, Budget& budget) {
  std::string out;
  bool is_first = true;
  for (const Value& item : items_of(needed(arguments, 0, "a list"), budget)) {
    const std::string& one = needed_text(item, "join");
    budget.make(text.size() + one.size());
    out += is_first ? "" : text;
    out += one;
    is_first = false;
  }
  return Value(std::move(out));
}

std::optional<Function> text_method(const std::string& text, std::string_view name,
                                    Budget& budget) {
  const auto method = [&](std::string_view parameters, auto call) {
    return Function(
        [text, call, name = std::string(name), parameters, &budget](const Arguments& arguments) {
          check_arguments(name, parameters, arguments);
          budget.read(text.size());  // a method may be kept and called again and again
          return call(text, arguments, budget);
        });
  };
  using Text = const std::string&;
  using Given = const Arguments&;
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    const Side side = name == "strip" ? Side::kBoth : name == "lstrip" ? Side::kLeft : Side::kRight;
    return method("_",
                  [side](Text of, Given given, Budget& b) { return strip(of, side, given, b); });
  }
  if (name == "split") {
    return method("sep maxsplit",
                  [](Text of, Given given, Budget& b) { return split(of, given, b); });
  }
  if (name == "rsplit") {
    return method("sep maxsplit",
                  [](Text of, Given given, Budget& b) { return split_from_end(of, given, b); });
  }
  if (name == "startswith" || name == "endswith") {
    const bool at_end = name == "endswith";
    return method(
        "_", [at_end](Text of, Given given, Budget& b) { return has_end(of, given, b, at_end); });
  }
  if (name == "replace") {
    return method("_ _ count", [](Text of, Given given, Budget& b) {
      return replaced_text(of, needed_text(needed(given, 0, "old"), "replace"),
                           needed_text(needed(given, 1, "new"), "replace"),
                           most_of(given, 2, "count"), b);
    });
  }
  if (name == "find") {
    return method("_", [](Text of, Given given, Budget& b) { return find(of, given, b); });
  }
  if (name == "count") {
    return method("_", [](Text of, Given given, Budget& b) { return count(of, given, b); });
  }
  if (name == "join") {
    return method("_", [](Text of, Given given, Budget& b) { return joined(of, given, b); });
  }
  if (name == "splitlines") {
    return method("keepends", [](Text of, Given given, Budget& b) {
      const Value* const keep_ends = given.find(0, "keepends");
      const auto lines = lines_of(of, keep_ends != nullptr && keep_ends->is_true(), b);
      return texts_value({lines.begin(), lines.end()}, b);
    });
  }
  if (name == "isdigit") {
    return method("", [](Text of, Given, Budget&) { return Value(is_all_digits(of)); });
  }
  using Change = std::string (*)(std::string_view);
  const std::pair<std::string_view, Change> changes[] = {{"lower", lower_case},
                                                         {"upper", upper_case},
                                                         {"title", title_case},
                                                         {"capitalize", capitalized}};
  for (const auto& [known, to_use] : changes) {
    if (name == known) {
      return method(
          "", [change = to_use](Text of, Given, Budget& b) { return recased(change, of, b); });
    }
  }
  return std::nullopt;
}

std::optional<Function> map_method(const Value& map, std::string_view name, Budget& budget) {
  if (name == "get") {
    return Function([map, &budget](const Arguments& arguments) {
      check_arguments("get", "_ _", arguments);
      const Value& key = needed(arguments, 0, "key");
      const Value* const found = map.map()->find_key(key, budget);
      const Value* const otherwise = arguments.find(1, "_");
      return found != nullptr ? *found : otherwise != nullptr ? *otherwise : Value();
    });
  }
  if (name == "items" || name == "keys" || name == "values") {
    return Function([map, name = std::string(name), &budget](const Arguments& arguments) {
      check_arguments(name, "", arguments);
      std::vector<Value> all;
      const Arguments of{{map}, {}};
      for (const Value& pair : items_of(jinja_filter("items", of, budget), budget)) {
        all.push_back(name == "items"  ? pair
                      : name == "keys" ? pair.list()->items[0]
                                       : pair.list()->items[1]);
      }
      return list_of(std::move(all));
    });
  }
  return std::nullopt;
}

std::optional<Function> list_method(const Value& list, std::string_view name, Budget& budget) {
  if (name == "index") {
    return Function([list, &budget](const Arguments& arguments) {
      check_arguments("index", "_", arguments);
      const Value& wanted = needed(arguments, 0, "a value");
      const auto& items = list.list()->items;
      const auto found = std::ranges::find_if(
          items, [&](const Value& one) { return are_equal(one, wanted, budget); });
      if (found == items.end()) {
        fail("index: the value is not in the list");
      }
      return Value(static_cast<std::int64_t>(found - items.begin()));
    });
  }
  if (name == "count") {
    return Function([list, &budget](const Arguments& arguments) {
      check_arguments("count", "_", arguments);
      const Value& wanted = needed(arguments, 0, "a value");
      return Value(static_cast<std::int64_t>(std::ranges::count_if(
          list.list()->items, [&](const Value& one) { return are_equal(one, wanted, budget); })));
    });
  }
  return std::nullopt;
}

bool is_iterable(const Value& value) {
  return value.text() != nullptr || value.list() != nullptr || value.map() != nullptr ||
         value.generator() != nullptr || value.undefined() != nullptr;
}

bool is_case(const Value& value, std::string (*change)(std::string_view),
             std::string (*other)(std::string_view), Budget& budget) {
  const std::string text = printed(value, budget);
  budget.recase(2 * text.size());
  return change(text) == text && other(text) != text;
}

}  // namespace

bool jinja_test(std::string_view name, const Arguments& arguments, Budget& budget) {
  const Value& value = arguments.values.front();
  const auto other = [&]() -> const Value& { return needed(arguments, 1, "a value"); };
  const auto less = [&budget](const Value& one, const Value& two) {
    const auto found = is_less(one, two, budget);
    if (!found) {
      fail(fmt::format("{} and {} have no order", one.kind(), two.kind()));
    }
    return *found;
  };
  const auto remainder = [&value](std::int64_t by) {
    if (by == 0) {
      fail("divided by 0");
    }
    return by == -1 ? 0 : needed_integer(value, "a test") % by;
  };
  using Test = std::function<bool()>;
  const std::pair<std::string_view, Test> tests[] = {
      {"defined", [&] { return value.undefined() == nullptr; }},
      {"undefined", [&] { return value.undefined() != nullptr; }},
      {"none", [&] { return value.is_none(); }},
      {"string", [&] { return value.text() != nullptr; }},
      {"mapping", [&] { return value.map() != nullptr && value.map()->kind == MapKind::kDict; }},
      {"iterable", [&] { return is_iterable(value); }},
      {"sequence", [&] { return value.generator() == nullptr && is_iterable(value); }},
      {"number", [&] { return value.number().has_value(); }},
      {"integer", [&] { return value.integer().has_value(); }},
      {"float", [&] { return value.real().has_value(); }},
      {"boolean", [&] { return value.flag().has_value(); }},
      {"true", [&] { return value.flag() == true; }},
      {"false", [&] { return value.flag() == false; }},
      {"callable", [&] { return value.function() != nullptr; }},
      {"eq", [&] { return are_equal(value, other(), budget); }},
      {"equalto", [&] { return are_equal(value, other(), budget); }},
      {"==", [&] { return are_equal(value, other(), budget); }},
      {"ne", [&] { return !are_equal(value, other(), budget); }},
      {"!=", [&] { return !are_equal(value, other(), budget); }},
      {"lt", [&] { return less(value, other()); }},
      {"<", [&] { return less(value, other()); }},
      {"lessthan", [&] { return less(value, other()); }},
      {"gt", [&] { return less(other(), value); }},
      {">", [&] { return less(other(), value); }},
      {"greaterthan", [&] { return less(other(), value); }},
      {"le", [&] { return !less(other(), value); }},
      {"<=", [&] { return !less(other(), value); }},
      {"ge", [&] { return !less(value, other()); }},
      {">=", [&] { return !less(value, other()); }},
      {"in", [&] { return contains(other(), value, budget); }},
      {"sameas",
       [&] { return value.kind() == other().kind() && are_equal(value, other(), budget); }},
      {"odd", [&] { return remainder(2) != 0; }},
      {"even", [&] { return remainder(2) == 0; }},
      {"divisibleby", [&] { return remainder(needed_integer(other(), "divisibleby")) == 0; }},
      {"lower", [&] { return is_case(value, lower_case, upper_case, budget); }},
      {"upper", [&] { return is_case(value, upper_case, lower_case, budget); }},
  };
  const auto* const found =
      std::ranges::find(tests, name, &std::pair<std::string_view, Test>::first);
  if (found == std::end(tests)) {
    fail_if_known(name, "escaped filter test", "test");
    fail(fmt::format("no test is called {}", name));
  }
  return found->second();
}

std::optional<Value> jinja_method(const Value& value, std::string_view name, Budget& budget) {
  std::optional<Function> method;
  if (const std::string* const text = value.text()) {
    method = text_method(*text, name, budget);
  } else if (value.map() != nullptr && value.map()->kind == MapKind::kDict) {
    method = map_method(value, name, budget);
  } else if (value.list() != nullptr) {
    method = list_method(value, name, budget);
  }
  if (method) {
    return function_of(std::move(*method));
  }
  if (value.map() != nullptr && value.map()->kind == MapKind::kDict) {
    fail_if_known(name, "clear copy fromkeys pop popitem setdefault update", "method");
  } else if (value.text() != nullptr) {
    fail_if_known(name,
                  "casefold center encode expandtabs format format_map index isalnum isalpha "
                  "isascii isdecimal isidentifier islower isnumeric isprintable isspace istitle "
                  "isupper ljust maketrans partition removeprefix removesuffix rfind rindex rjust "
                  "rpartition swapcase translate zfill",
                  "method");
  } else if (value.list() != nullptr) {
    fail_if_known(name, "append clear copy extend insert pop remove reverse sort", "method");
  }
  return std::nullopt;
}

}  // namespace attnviz::templates
