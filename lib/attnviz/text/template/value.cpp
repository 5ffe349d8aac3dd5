#include "attnviz/text/template/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attnviz/core/error.h"

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

std::string shown(const Value& value, bool in_list, std::size_t depth) {
  if (depth > kDeepest) {
    throw Error(ErrorKind::kMalformed, "lists in lists are too deep");
  }
  if (value.is_none()) {
    return "None";
  }
  if (value.undefined() != nullptr) {
    return in_list ? "Undefined" : "";
  }
  if (const auto flag = value.flag()) {
    return *flag ? "True" : "False";
  }
  if (const auto number = value.integer()) {
    return fmt::format("{}", *number);
  }
  if (const auto number = value.real()) {
    return real_text(*number);
  }
  if (const std::string* const text = value.text()) {
    return in_list ? quoted_text(*text) : *text;
  }
  if (const List* const list = value.list()) {
    std::string out(1, list->is_tuple ? '(' : '[');
    for (const Value& item : list->items) {
      out += (&item == &list->items.front() ? "" : ", ") + shown(item, true, depth + 1);
    }
    out += list->is_tuple && list->items.size() == 1 ? "," : "";
    return out + (list->is_tuple ? ')' : ']');
  }
  if (const Map* const map = value.map()) {
    std::string out = "{";
    for (const auto& [key, item] : map->members) {
      out += (out.size() == 1 ? "" : ", ") + quoted_text(key) + ": " + shown(item, true, depth + 1);
    }
    return out + "}";
  }
  return "<function>";
}

std::string json_text(std::string_view text) {
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
  explicit JsonText(std::optional<std::size_t> indent) : indent_(indent) {}

  std::string of(const Value& value, std::size_t depth = 0) const {
    if (depth > kDeepest) {
      throw Error(ErrorKind::kMalformed, "tojson: lists in lists are too deep");
    }
    if (value.is_none()) {
      return "null";
    }
    if (const auto flag = value.flag()) {
      return *flag ? "true" : "false";
    }
    if (value.integer() || value.real()) {
      return printed(value);
    }
    if (const std::string* const text = value.text()) {
      return json_text(*text);
    }
    if (const List* const list = value.list()) {
      return enclosed('[', ']', list->items.size(), depth,
                      [&](std::size_t i) { return of(list->items[i], depth + 1); });
    }
    if (const Map* const map = value.map()) {
      return enclosed('{', '}', map->members.size(), depth, [&](std::size_t i) {
        return json_text(map->members[i].first) + ": " + of(map->members[i].second, depth + 1);
      });
    }
    throw Error(ErrorKind::kMalformed,
                fmt::format("tojson: expected a value of JSON, found {}", value.kind()));
  }

 private:
  template <class Item>
  std::string enclosed(char open, char close, std::size_t count, std::size_t depth,
                       const Item& item) const {
    std::string out(1, open);
    for (std::size_t i = 0; i < count; ++i) {
      out += i == 0 ? "" : indent_ ? "," : ", ";
      out += line(depth + 1) + item(i);
    }
    return out + (count > 0 ? line(depth) : "") + close;
  }
  std::string line(std::size_t depth) const {
    return indent_ ? "\n" + std::string(depth * *indent_, ' ') : std::string();
  }

  std::optional<std::size_t> indent_;
};

}  // namespace

const Value* Arguments::find(std::size_t place, std::string_view name) const noexcept {
  const auto found = std::ranges::find(named, name, &std::pair<std::string, Value>::first);
  if (found != named.end()) {
    return &found->second;
  }
  return place < values.size() ? &values[place] : nullptr;
}

const Value* Map::find(std::string_view key) const noexcept {
  const auto found = std::ranges::find(members, key, &std::pair<std::string, Value>::first);
  return found == members.end() ? nullptr : &found->second;
}

void Map::set(std::string_view key, Value value) {
  const auto found = std::ranges::find(members, key, &std::pair<std::string, Value>::first);
  if (found == members.end()) {
    members.emplace_back(key, std::move(value));
  } else {
    found->second = std::move(value);
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

bool are_equal(const Value& one, const Value& other) {
  if (one.number() && other.number()) {
    return one.integer() && other.integer() ? *one.integer() == *other.integer()
                                            : *one.number() == *other.number();
  }
  if (one.text() != nullptr && other.text() != nullptr) {
    return *one.text() == *other.text();
  }
  if (const List* a = one.list(), *b = other.list(); a != nullptr && b != nullptr) {
    return a->is_tuple == b->is_tuple && std::ranges::equal(a->items, b->items, are_equal);
  }
  if (const Map* a = one.map(), *b = other.map(); a != nullptr && b != nullptr) {
    return a == b || (a->members.size() == b->members.size() &&
                      std::ranges::all_of(a->members, [b](const auto& member) {
                        const Value* const found = b->find(member.first);
                        return found != nullptr && are_equal(member.second, *found);
                      }));
  }
  return (one.is_none() && other.is_none()) ||
         (one.undefined() != nullptr && other.undefined() != nullptr) ||
         (one.function() != nullptr && one.function() == other.function());
}

std::optional<bool> is_less(const Value& one, const Value& other) {
  if (one.number() && other.number()) {
    return one.integer() && other.integer() ? *one.integer() < *other.integer()
                                            : *one.number() < *other.number();
  }
  if (one.text() != nullptr && other.text() != nullptr) {
    return *one.text() < *other.text();
  }
  if (const List* a = one.list(), *b = other.list(); a != nullptr && b != nullptr) {
    for (std::size_t i = 0; i < std::min(a->items.size(), b->items.size()); ++i) {
      if (!are_equal(a->items[i], b->items[i])) {
        return is_less(a->items[i], b->items[i]);
      }
    }
    return a->items.size() < b->items.size();
  }
  return std::nullopt;
}

std::string printed(const Value& value) {
  return shown(value, /*in_list=*/false, 0);
}

std::string json_of(const Value& value, std::optional<std::size_t> indent) {
  return JsonText(indent).of(value);
}

}  // namespace attnviz::templates
