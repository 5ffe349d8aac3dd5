#include "attnviz/text/template/jinja.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "attnviz/core/error.h"
#include "attnviz/text/template/python.h"

namespace attnviz::templates {

namespace {

Value list_value(std::vector<Value> items, Budget& budget) {
  budget.make_items(items.size());
  return list_of(std::move(items));
}

Value generator_value(std::vector<Value> items, Budget& budget) {
  budget.make_items(items.size());
  return generator_of(std::move(items));
}

const Value& subject(const Arguments& arguments) {
  return arguments.values.front();
}

std::string subject_text(const Arguments& arguments, Budget& budget) {
  return printed(subject(arguments), budget);
}

bool is_true(const Value* value) noexcept {
  return value != nullptr && value->is_true();
}

Value trim(const Arguments& arguments, Budget& budget) {
  const Value* const characters = arguments.find(1, "chars");
  const std::string text = subject_text(arguments, budget);
  const std::string* const given = characters == nullptr ? nullptr : characters->text();
  budget.read(given == nullptr ? 0 : text.size() * given->size());
  return made_text(std::string(stripped(
                       text, Side::kBoth,
                       given == nullptr ? std::nullopt : std::optional<std::string_view>(*given))),
                   budget);
}

Value length(const Arguments& arguments, Budget& budget) {
  const Value& value = subject(arguments);
  if (const std::string* const text = value.text()) {
    budget.read(text->size());
    return static_cast<std::int64_t>(n_characters(*text));
  }
  if (const Map* const map = value.map()) {
    return static_cast<std::int64_t>(map->members.size());
  }
  if (value.list() == nullptr && value.undefined() == nullptr) {
    fail(fmt::format("{} has no length", value.kind()));
  }
  return static_cast<std::int64_t>(value.list() == nullptr ? 0 : value.list()->items.size());
}

Value otherwise(const Arguments& arguments, Budget& /*budget*/) {
  const Value& value = subject(arguments);
  const bool also_false = is_true(arguments.find(2, "boolean"));
  const bool is_absent = value.undefined() != nullptr || (also_false && !value.is_true());
  const Value* const given = arguments.find(1, "default_value");
  return !is_absent ? value : given == nullptr ? Value("") : *given;
}

// For map, select and similar filters, which treat false values as empty.
std::vector<Value> items_if_true(const Arguments& arguments, Budget& budget) {
  return subject(arguments).is_true() ? items_of(subject(arguments), budget) : std::vector<Value>();
}

// An item, or the requested attribute of it.
Value part_of(const Value& item, const Value* attribute, Budget& budget) {
  return attribute == nullptr || attribute->is_none()
             ? item
             : attribute_of(item, printed(*attribute, budget), budget);
}

Value list(const Arguments& arguments, Budget& budget) {
  return list_value(items_of(subject(arguments), budget), budget);
}

Value join(const Arguments& arguments, Budget& budget) {
  const Value* const between = arguments.find(1, "d");
  const Value* const attribute = arguments.find(2, "attribute");
  const std::string separator = between == nullptr ? std::string() : printed(*between, budget);
  std::string text;
  bool is_first = true;
  const auto add = [&](std::string_view more) {
    budget.make(more.size());
    text += more;
  };
  for (const Value& item : items_of(subject(arguments), budget)) {
    add(is_first ? std::string_view() : separator);
    is_first = false;
    add(printed(part_of(item, attribute, budget), budget));
  }
  return Value(std::move(text));
}

// The items chosen by a test of them, or of one of their attributes.
Value chosen(const Arguments& arguments, Budget& budget, bool by_attribute, bool keeps) {
  const std::size_t test_at = by_attribute ? 2 : 1;
  const std::string path =
      by_attribute ? printed(needed(arguments, 1, "attribute"), budget) : std::string();
  std::vector<Value> kept;
  for (const Value& item : items_if_true(arguments, budget)) {
    const Value looked_at = by_attribute ? attribute_of(item, path, budget) : item;
    bool passes = looked_at.is_true();
    if (arguments.values.size() > test_at) {
      budget.read(arguments.values.size() * Budget::kReadPerValue);
      Arguments of_test;
      of_test.values.push_back(looked_at);
      of_test.values.insert(of_test.values.end(),
                            arguments.values.begin() + static_cast<std::ptrdiff_t>(test_at) + 1,
                            arguments.values.end());
      passes = jinja_test(printed(arguments.values[test_at], budget), of_test, budget);
    }
    if (passes == keeps) {
      kept.push_back(item);
    }
  }
  return generator_value(std::move(kept), budget);
}

Value map(const Arguments& arguments, Budget& budget) {
  const Budget::Level deeper(budget);  // map('map', 'map', …)
  std::vector<Value> results;
  const Value* const attribute =
      arguments.find(std::numeric_limits<std::size_t>::max(), "attribute");
  const Value* const missing = arguments.find(std::numeric_limits<std::size_t>::max(), "default");
  const std::string path = attribute == nullptr ? std::string() : printed(*attribute, budget);
  for (const Value& item : items_if_true(arguments, budget)) {
    if (attribute != nullptr) {
      Value found = attribute_of(item, path, budget);
      const bool is_missing = found.undefined() != nullptr && missing != nullptr;
      results.push_back(is_missing ? *missing : found);
      continue;
    }
    const std::string name = printed(needed(arguments, 1, "a filter"), budget);
    budget.read((arguments.values.size() + arguments.named.size()) * Budget::kReadPerValue);
    Arguments of_filter;
    of_filter.values.push_back(item);
    of_filter.values.insert(of_filter.values.end(), arguments.values.begin() + 2,
                            arguments.values.end());
    for (const auto& one : arguments.named) {
      budget.make(one.first.size());
      of_filter.named.push_back(one);
    }
    results.push_back(jinja_filter(name, of_filter, budget));
  }
  return generator_value(std::move(results), budget);
}

Value lower(const Arguments& arguments, Budget& budget) {
  return recased(lower_case, subject_text(arguments, budget), budget);
}
Value upper(const Arguments& arguments, Budget& budget) {
  return recased(upper_case, subject_text(arguments, budget), budget);
}
Value title(const Arguments& arguments, Budget& budget) {
  return recased(headline_case, subject_text(arguments, budget), budget);
}
Value capitalize(const Arguments& arguments, Budget& budget) {
  return recased(capitalized, subject_text(arguments, budget), budget);
}
Value string(const Arguments& arguments, Budget& budget) {
  return made_text(subject_text(arguments, budget), budget);
}
Value same(const Arguments& arguments, Budget& /*budget*/) {
  return subject(arguments);
}

Value escape(const Arguments& arguments, Budget& budget) {
  std::string out;
  for (const char one : subject_text(arguments, budget)) {
    const std::size_t before = out.size();
    out += one == '&'    ? "&amp;"
           : one == '<'  ? "&lt;"
           : one == '>'  ? "&gt;"
           : one == '"'  ? "&#34;"
           : one == '\'' ? "&#39;"
                         : std::string(1, one);
    budget.make(out.size() - before);
  }
  return Value(std::move(out));
}

Value replace(const Arguments& arguments, Budget& budget) {
  return replaced_text(
      subject_text(arguments, budget), printed(needed(arguments, 1, "old"), budget),
      printed(needed(arguments, 2, "new"), budget), most_of(arguments, 3, "count"), budget);
}

// Not jinja2's own: transformers has tojson(x, ensure_ascii=False, indent=None, separators=None,
// sort_keys=False).
Value tojson(const Arguments& arguments, Budget& budget) {
  JsonStyle style;
  style.ascii = is_true(arguments.find(1, "ensure_ascii"));
  style.sorted = is_true(arguments.find(4, "sort_keys"));
  if (const Value* const indent = arguments.find(2, "indent");
      indent != nullptr && !indent->is_none()) {
    style.indent = needed_margin(*indent, "indent", budget);
    style.between = ",";
  }
  if (const Value* const given = arguments.find(3, "separators");
      given != nullptr && !given->is_none()) {
    const std::vector<Value> both = items_of(*given, budget);
    if (both.size() != 2) {
      fail(fmt::format("separators: expected 2, found {}", both.size()));
    }
    style.between = needed_text(both[0], "separators");
    style.colon = needed_text(both[1], "separators");
  }
  return made_text(json_of(subject(arguments), style, budget), budget);
}

Value pair_of(Value key, Value value) {
  auto pair = std::make_shared<List>(List{{std::move(key), std::move(value)}});
  pair->kind = ListKind::kTuple;
  return pair;
}

Value items(const Arguments& arguments, Budget& budget) {
  const Map* const map = subject(arguments).map();
  if (map == nullptr && subject(arguments).undefined() == nullptr) {
    fail(fmt::format("items: expected a dict, found {}", subject(arguments).kind()));
  }
  std::vector<Value> pairs;
  for (std::size_t i = 0; map != nullptr && i < map->members.size(); ++i) {
    const Map::Member& member = map->members[i];
    budget.make(member.name.size());
    pairs.push_back(pair_of(member.key(), member.value));
  }
  return generator_value(std::move(pairs), budget);
}

// Sorts in ascending order; ignores the case of texts unless it matters.
void sort_values(std::vector<Value>& values, bool matters, bool reversed,
                 const std::function<Value(const Value&)>& key_of, Budget& budget) {
  std::vector<std::pair<Value, Value>> keyed;
  for (Value& value : values) {
    Value key = key_of(value);
    if (const std::string* const text = key.text(); text != nullptr && !matters) {
      key = recased(lower_case, *text, budget);
    }
    keyed.emplace_back(std::move(key), std::move(value));
  }
  std::ranges::stable_sort(keyed, [&](const auto& one, const auto& other) {
    const auto less = reversed ? is_less(other.first, one.first, budget)
                               : is_less(one.first, other.first, budget);
    if (!less) {
      fail(fmt::format("sort: {} and {} have no order", one.first.kind(), other.first.kind()));
    }
    return *less;
  });
  std::ranges::transform(keyed, values.begin(), [](auto& one) { return std::move(one.second); });
}

Value sort(const Arguments& arguments, Budget& budget) {
  std::vector<Value> values = items_of(subject(arguments), budget);
  const Value* const attribute = arguments.find(3, "attribute");
  sort_values(
      values, is_true(arguments.find(2, "case_sensitive")), is_true(arguments.find(1, "reverse")),
      [&](const Value& value) { return part_of(value, attribute, budget); }, budget);
  return list_value(std::move(values), budget);
}

Value dictsort(const Arguments& arguments, Budget& budget) {
  require_defined(subject(arguments));
  std::vector<Value> pairs = items_of(items(arguments, budget), budget);
  const Value* const by = arguments.find(2, "by");
  const std::size_t place = by != nullptr && printed(*by, budget) == "value" ? 1 : 0;
  sort_values(
      pairs, is_true(arguments.find(1, "case_sensitive")), is_true(arguments.find(3, "reverse")),
      [place](const Value& pair) { return pair.list()->items[place]; }, budget);
  return list_value(std::move(pairs), budget);
}

// The first or last item. For a list, the others are not read.
Value end_of(const Arguments& arguments, Budget& budget, bool is_last) {
  if (List* const left = subject(arguments).generator()) {
    if (is_last) {
      fail("last: what a filter goes through has no end; … | list has one");
    }
    if (left->items.empty()) {
      return Undefined{"first"};
    }
    budget.read(left->items.size());
    Value first = std::move(left->items.front());
    left->items.erase(left->items.begin());
    return first;
  }
  const List* const list = subject(arguments).list();
  const std::vector<Value> made =
      list == nullptr ? items_of(subject(arguments), budget) : std::vector<Value>();
  const std::vector<Value>& values = list == nullptr ? made : list->items;
  return values.empty() ? Value(Undefined{is_last ? "last" : "first"})
         : is_last      ? values.back()
                        : values.front();
}
Value reverse(const Arguments& arguments, Budget& budget) {
  const bool was_generator = subject(arguments).generator() != nullptr;
  std::vector<Value> values = items_of(subject(arguments), budget);
  std::ranges::reverse(values);
  if (was_generator) {
    return list_value(std::move(values), budget);
  }
  if (subject(arguments).text() == nullptr) {
    return generator_value(std::move(values), budget);
  }
  std::string text;
  for (const Value& value : values) {
    text += *value.text();
  }
  return made_text(std::move(text), budget);
}

// Ignores the case of texts unless it matters.
Value unique(const Arguments& arguments, Budget& budget) {
  const bool matters = is_true(arguments.find(1, "case_sensitive"));
  const Value* const attribute = arguments.find(2, "attribute");
  std::vector<Value> kept;
  std::vector<Value> keys;
  for (const Value& value : items_of(subject(arguments), budget)) {
    Value key = part_of(value, attribute, budget);
    if (key.map() != nullptr || (key.list() != nullptr && key.list()->kind == ListKind::kList)) {
      fail(fmt::format("unique: {} among the items", key.kind()));
    }
    if (!matters && key.text() != nullptr) {
      key = recased(lower_case, *key.text(), budget);
    }
    if (std::ranges::none_of(keys, [&](const Value& one) { return are_equal(one, key, budget); })) {
      kept.push_back(value);
      keys.push_back(std::move(key));
    }
  }
  return generator_value(std::move(kept), budget);
}

Value indent(const Arguments& arguments, Budget& budget) {
  const Value* const width = arguments.find(1, "width");
  const std::string margin = width == nullptr ? "    " : needed_margin(*width, "width", budget);
  const bool with_first = is_true(arguments.find(2, "first"));
  const bool with_blank = is_true(arguments.find(3, "blank"));
  const std::string text = needed_text(subject(arguments), "indent") + "\n";
  budget.make(text.size());
  std::string out;
  bool is_first = true;
  for (const std::string_view line : lines_of(text, /*keep_ends=*/false, budget)) {
    const bool with_margin = is_first ? with_first : with_blank || !line.empty();
    budget.make(1 + (with_margin ? margin.size() : 0) + line.size());
    out += is_first ? "" : "\n";
    out += with_margin ? margin : "";
    out += line;
    is_first = false;
  }
  return Value(std::move(out));
}

Value sum(const Arguments& arguments, Budget& budget) {
  const Value* const attribute = arguments.find(1, "attribute");
  const Value* const start = arguments.find(2, "start");
  Value total = start == nullptr ? Value(std::int64_t{0}) : *start;
  for (const Value& value : items_of(subject(arguments), budget)) {
    total = applied("+", total, part_of(value, attribute, budget), budget);
  }
  return total;
}

struct NamedFilter {
  std::string_view name;
  std::string_view parameters;  // after the first; "*": any
  Value (*filter)(const Arguments& arguments, Budget& budget);
};

constexpr NamedFilter kFilters[] = {
    {"abs", "", absolute},
    {"capitalize", "", capitalize},
    {"count", "", length},
    {"d", "default_value boolean", otherwise},
    {"default", "default_value boolean", otherwise},
    {"dictsort", "case_sensitive by reverse", dictsort},
    {"e", "", escape},
    {"escape", "", escape},
    {"first", "", [](const Arguments& of, Budget& budget) { return end_of(of, budget, false); }},
    {"float", "default", to_float},
    {"indent", "width first blank", indent},
    {"int", "default base", to_int},
    {"items", "", items},
    {"join", "d attribute", join},
    {"last", "", [](const Arguments& of, Budget& budget) { return end_of(of, budget, true); }},
    {"length", "", length},
    {"list", "", list},
    {"lower", "", lower},
    {"map", "*", map},
    {"reject", "*",
     [](const Arguments& of, Budget& budget) { return chosen(of, budget, false, false); }},
    {"rejectattr", "*",
     [](const Arguments& of, Budget& budget) { return chosen(of, budget, true, false); }},
    {"replace", "old new count", replace},
    {"reverse", "", reverse},
    {"safe", "", same},
    {"select", "*",
     [](const Arguments& of, Budget& budget) { return chosen(of, budget, false, true); }},
    {"selectattr", "*",
     [](const Arguments& of, Budget& budget) { return chosen(of, budget, true, true); }},
    {"sort", "reverse case_sensitive attribute", sort},
    {"string", "", string},
    {"sum", "attribute start", sum},
    {"title", "", title},
    {"tojson", "ensure_ascii indent separators sort_keys", tojson},
    {"trim", "chars", trim},
    {"unique", "case_sensitive attribute", unique},
    {"upper", "", upper},
};

}  // namespace

Value jinja_filter(std::string_view name, const Arguments& arguments, Budget& budget) {
  const auto* const found = std::ranges::find(kFilters, name, &NamedFilter::name);
  if (found == std::end(kFilters)) {
    fail_if_known(name,
                  "attr batch center filesizeformat forceescape format groupby max min pprint "
                  "random round slice striptags truncate urlencode urlize wordcount wordwrap "
                  "xmlattr",
                  "filter");
    fail(fmt::format("no filter is called {}", name));
  }
  if (found->parameters != "*") {
    check_arguments(name, found->parameters, arguments, 1);
  }
  return found->filter(arguments, budget);
}

}  // namespace attnviz::templates
