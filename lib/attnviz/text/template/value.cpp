#include "attnviz/text/template/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>

namespace attnviz::templates {

namespace {

constexpr std::size_t kDeepest = 64;  // of lists in lists

std::string real_text(double number) {
  if (std::isnan(number)) {
    return "nan";
  }
  if (std::isinf(number)) {
    return number > 0 ? "inf" : "-inf";
  }
  std::string text = fmt::format("{}", number);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

// repr() of a text: in single quotes unless it has such, and none of the others.
std::string quoted_text(std::string_view text) {
  const char quote =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"'
                                                                                            : '\'';
  std::string out(1, quote);
  for (const char one : text) {
    switch (one) {
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (one == quote) {
          out += '\\';
        }
        out += one;
    }
  }
  return out + quote;
}

class PrintedText {
 public:
  explicit PrintedText(Budget& budget) : budget_(budget) {}

  std::string of(const Value& value) {
    add(value, /*in_list=*/false, 0);
    return std::move(out_);
  }

 private:
  void add(std::string_view text) {
    budget_.read(text.size());
    out_ += text;
  }

  void add(const Value& value, bool in_list, std::size_t depth) {
    budget_.step();
    if (depth > kDeepest) {
      fail("lists in lists are too deep");
    }
    if (value.is_none()) {
      add("None");
    } else if (value.undefined() != nullptr) {
      add(in_list ? "Undefined" : "");
    } else if (const auto flag = value.flag()) {
      add(*flag ? "True" : "False");
    } else if (const auto whole = value.integer()) {
      add(fmt::format("{}", *whole));
    } else if (const auto number = value.real()) {
      add(real_text(*number));
    } else if (const std::string* const text = value.text()) {
      add(in_list ? quoted_text(*text) : *text);
    } else if (const List* const list = value.list()) {
      add(list->is_tuple ? "(" : "[");
      for (const Value& item : list->items) {
        add(&item == &list->items.front() ? "" : ", ");
        add(item, true, depth + 1);
      }
      add(list->is_tuple && list->items.size() == 1 ? "," : "");
      add(list->is_tuple ? ")" : "]");
    } else if (const Map* const map = value.map()) {
      add("{");
      for (const auto& member : map->members) {
        add(&member == &map->members.front() ? "" : ", ");
        add(quoted_text(member.first));
        add(": ");
        add(member.second, true, depth + 1);
      }
      add("}");
    } else {
      add("<function>");
    }
  }

  Budget& budget_;
  std::string out_;
};

std::string json_text(std::string_view text, Budget& budget) {
  constexpr std::size_t kEscape = 6;  // bytes: \u0001
  budget.make(kEscape * static_cast<std::size_t>(std::ranges::count_if(text, [](char one) {
                return static_cast<unsigned char>(one) < 0x20;
              })));
  std::string out = "\"";
  for (const char one : text) {
    const auto code = static_cast<unsigned char>(one);
    if (one == '"' || one == '\\') {
      out += '\\';
      out += one;
    } else if (one == '\n') {
      out += "\\n";
    } else if (one == '\r') {
      out += "\\r";
    } else if (one == '\t') {
      out += "\\t";
    } else if (one == '\b') {
      out += "\\b";
    } else if (one == '\f') {
      out += "\\f";
    } else if (code < 0x20) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += one;
    }
  }
  return out + '"';
}

class JsonText {
 public:
  JsonText(std::optional<std::size_t> indent, Budget& budget) : indent_(indent), budget_(budget) {}

  std::string of(const Value& value) {
    add(value, 0);
    return std::move(out_);
  }

 private:
  void add(std::string_view text) {
    budget_.read(text.size());
    out_ += text;
  }

  void add(const Value& value, std::size_t depth) {
    budget_.step();
    if (depth > kDeepest) {
      fail("tojson: lists in lists are too deep");
    }
    if (value.is_none()) {
      add("null");
    } else if (const auto flag = value.flag()) {
      add(*flag ? "true" : "false");
    } else if (value.integer() || value.real()) {
      add(printed(value, budget_));
    } else if (const std::string* const text = value.text()) {
      add(json_text(*text, budget_));
    } else if (const List* const list = value.list()) {
      enclose('[', ']', list->items.size(), depth,
              [&](std::size_t i) { add(list->items[i], depth + 1); });
    } else if (const Map* const map = value.map()) {
      enclose('{', '}', map->members.size(), depth, [&](std::size_t i) {
        add(json_text(map->members[i].first, budget_));
        add(": ");
        add(map->members[i].second, depth + 1);
      });
    } else {
      fail(fmt::format("tojson: expected a value of JSON, found {}", value.kind()));
    }
  }

  template <class Item>
  void enclose(char open, char close, std::size_t count, std::size_t depth, const Item& add_item) {
    out_ += open;
    for (std::size_t i = 0; i < count; ++i) {
      add(i == 0 ? "" : indent_ ? "," : ", ");
      add_line(depth + 1);
      add_item(i);
    }
    if (count > 0) {
      add_line(depth);
    }
    out_ += close;
  }
  void add_line(std::size_t depth) {
    if (indent_) {
      add("\n" + std::string(depth * *indent_, ' '));
    }
  }

  std::optional<std::size_t> indent_;
  Budget& budget_;
  std::string out_;
};

}  // namespace

const Value* Arguments::find(std::size_t place, std::string_view name) const noexcept {
  const auto found = std::ranges::find(named, name, &std::pair<std::string, Value>::first);
  if (found != named.end()) {
    return &found->second;
  }
  return place < values.size() ? &values[place] : nullptr;
}

const Value* Map::find(std::string_view key, Budget& budget) const {
  budget.look_up(members.size(), key);
  const auto found = std::ranges::find(members, key, &std::pair<std::string, Value>::first);
  return found == members.end() ? nullptr : &found->second;
}

void Map::set(std::string_view key, Value value, Budget& budget) {
  budget.look_up(members.size(), key);
  const auto found = std::ranges::find(members, key, &std::pair<std::string, Value>::first);
  if (found == members.end()) {
    budget.make(key.size());
    add(key, std::move(value));
  } else {
    found->second = std::move(value);
  }
}

void Map::add(std::string_view key, Value value) {
  members.emplace_back(key, std::move(value));
}

void Value::free_in_turn() noexcept {
  static thread_local std::vector<Data>* waiting = nullptr;  // for their turn
  const auto* const list = std::get_if<std::shared_ptr<List>>(&data_);
  if ((list != nullptr ? list->use_count() : std::get<std::shared_ptr<Map>>(data_).use_count()) >
      1) {
    return;
  }
  std::vector<Data> turns;
  try {
    (waiting != nullptr ? *waiting : turns).push_back(std::move(data_));
  } catch (const std::bad_alloc&) {
    return;  // not moved: it is freed where it lies
  }
  if (waiting != nullptr) {
    return;
  }
  waiting = &turns;
  while (!turns.empty()) {
    const Data one = std::move(turns.back());
    turns.pop_back();
  }
  waiting = nullptr;
}

void MapsInCircles::add(const Value& map, const Value& member, Budget& budget) {
  const bool may_close =
      member.map() != nullptr || member.list() != nullptr || member.function() != nullptr;
  if (may_close && maps_.try_emplace(map.map(), map).second) {
    budget.make((1 + map.map()->members.size()) * 2 * Budget::kBytesPerItem);
  }
}

MapsInCircles::~MapsInCircles() {
  for (const auto& [place, map] : maps_) {
    map.map()->members.clear();
  }
}

std::optional<double> Value::number() const noexcept {
  if (const auto one = integer()) {
    return static_cast<double>(*one);
  }
  const auto one = flag();
  return one ? std::optional(*one ? 1.0 : 0.0) : real();
}

const std::string* Value::text() const noexcept {
  const auto* const found = std::get_if<std::shared_ptr<const std::string>>(&data_);
  return found == nullptr ? nullptr : found->get();
}

List* Value::list() const noexcept {
  const auto* const found = std::get_if<std::shared_ptr<List>>(&data_);
  return found == nullptr ? nullptr : found->get();
}

Map* Value::map() const noexcept {
  const auto* const found = std::get_if<std::shared_ptr<Map>>(&data_);
  return found == nullptr ? nullptr : found->get();
}

const Function* Value::function() const noexcept {
  const auto* const found = std::get_if<std::shared_ptr<const Function>>(&data_);
  return found == nullptr ? nullptr : found->get();
}

bool Value::is_true() const noexcept {
  if (const auto one = number()) {
    return *one != 0.0;
  }
  if (const std::string* const one = text()) {
    return !one->empty();
  }
  if (const List* const one = list()) {
    return !one->items.empty();
  }
  if (const Map* const one = map()) {
    return one->is_namespace || !one->members.empty();
  }
  return function() != nullptr;
}

std::string_view Value::kind() const noexcept {
  constexpr std::string_view kKinds[] = {"None", "undefined", "bool", "int",     "float",
                                         "str",  "list",      "dict", "function"};
  return kKinds[data_.index()];
}

Value list_of(std::vector<Value> items) {
  return std::make_shared<List>(List{std::move(items)});
}

Value function_of(Function function) {
  return std::make_shared<const Function>(std::move(function));
}

bool are_equal(const Value& one, const Value& other, Budget& budget) {
  budget.read(Budget::kReadPerValue);
  if (one.number() && other.number()) {
    return one.integer() && other.integer() ? *one.integer() == *other.integer()
                                            : *one.number() == *other.number();
  }
  if (const std::string* a = one.text(), *b = other.text(); a != nullptr && b != nullptr) {
    budget.read(a->size() == b->size() ? a->size() : 0);
    return *a == *b;
  }
  const auto are_same = [&budget](const Value& a, const Value& b) {
    const Budget::Level deeper(budget);
    return are_equal(a, b, budget);
  };
  if (const List* a = one.list(), *b = other.list(); a != nullptr && b != nullptr) {
    return a->is_tuple == b->is_tuple && std::ranges::equal(a->items, b->items, are_same);
  }
  if (const Map* a = one.map(), *b = other.map(); a != nullptr && b != nullptr) {
    return a == b || (a->members.size() == b->members.size() &&
                      std::ranges::all_of(a->members, [&](const auto& member) {
                        const Value* const found = b->find(member.first, budget);
                        return found != nullptr && are_same(member.second, *found);
                      }));
  }
  return (one.is_none() && other.is_none()) ||
         (one.undefined() != nullptr && other.undefined() != nullptr) ||
         (one.function() != nullptr && one.function() == other.function());
}

std::optional<bool> is_less(const Value& one, const Value& other, Budget& budget) {
  budget.read(Budget::kReadPerValue);
  if (one.number() && other.number()) {
    return one.integer() && other.integer() ? *one.integer() < *other.integer()
                                            : *one.number() < *other.number();
  }
  if (const std::string* a = one.text(), *b = other.text(); a != nullptr && b != nullptr) {
    budget.read(std::min(a->size(), b->size()));
    return *a < *b;
  }
  if (const List* a = one.list(), *b = other.list(); a != nullptr && b != nullptr) {
    const Budget::Level deeper(budget);
    for (std::size_t i = 0; i < std::min(a->items.size(), b->items.size()); ++i) {
      if (!are_equal(a->items[i], b->items[i], budget)) {
        return is_less(a->items[i], b->items[i], budget);
      }
    }
    return a->items.size() < b->items.size();
  }
  return std::nullopt;
}

std::string printed(const Value& value, Budget& budget) {
  return PrintedText(budget).of(value);
}

std::string json_of(const Value& value, std::optional<std::size_t> indent, Budget& budget) {
  return JsonText(indent, budget).of(value);
}

}  // namespace attnviz::templates
