#include "attnviz/text/template/value.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "attnviz/core/utf8.h"
#include "attnviz/text/template/budget.h"

namespace attnviz::templates {

namespace {

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

// Whether repr() writes the character unchanged.
bool is_printable(char32_t point) noexcept {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(point));
  return point == U' ' || (category != UTF8PROC_CATEGORY_CN && category < UTF8PROC_CATEGORY_ZS);
}

// repr() of a text: in single quotes, or in double ones if it has single but no double quotes. The
// budget is charged before the text is made, and again for each character that is not printable.
std::string quoted_text(std::string_view text, Budget& budget) {
  constexpr std::size_t kEscape = 32;
  budget.make(text.size());
  const char quote =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"'
                                                                                            : '\'';
  std::string out(1, quote);
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint step = decode_utf8(text, at);
    const char one = text[at];
    constexpr std::string_view kNames = "ntr";
    constexpr std::string_view kMeant = "\n\t\r";
    if (const std::size_t known = kMeant.find(one); known != std::string_view::npos) {
      out += {'\\', kNames[known]};
    } else if (step.valid && !is_printable(step.value)) {
      const auto code = static_cast<std::uint32_t>(step.value);
      budget.make(kEscape);
      out += code < 0x100     ? fmt::format("\\x{:02x}", code)
             : code < 0x10000 ? fmt::format("\\u{:04x}", code)
                              : fmt::format("\\U{:08x}", code);
    } else {
      out += one == '\\' || one == quote ? "\\" : "";
      out += text.substr(at, step.length);
    }
    at += step.length;
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
    if (depth > kDeepestLists) {
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
      add(in_list ? quoted_text(*text, budget_) : *text);
    } else if (const List* const list = value.list()) {
      if (list->kind == ListKind::kRange) {
        fail("a range has no text; range(…) | list has one");
      }
      const bool is_tuple = list->kind == ListKind::kTuple;
      add(is_tuple ? "(" : "[");
      for (const Value& item : list->items) {
        add(&item == &list->items.front() ? "" : ", ");
        add(item, true, depth + 1);
      }
      add(is_tuple && list->items.size() == 1 ? "," : "");
      add(is_tuple ? ")" : "]");
    } else if (value.generator() != nullptr) {
      fail("what a filter goes through has no text; … | list has one");
    } else if (const Map* const map = value.map()) {
      if (map->kind == MapKind::kLoop) {
        fail("a loop has no text");
      }
      add(map->kind == MapKind::kDict ? "{" : "<Namespace {");
      for (const auto& member : map->members) {
        add(&member == &map->members.front() ? "" : ", ");
        add(member.key(), true, depth + 1);
        add(": ");
        add(member.value, true, depth + 1);
      }
      add(map->kind == MapKind::kDict ? "}" : "}>");
    } else {
      add("<function>");
    }
  }

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

const Map::Member* Map::member(std::string_view key, std::optional<std::int64_t> number,
                               Budget& budget) const {
  budget.look_up(members.size(), key);
  const auto found = std::ranges::find_if(
      members, [&](const Member& one) { return one.name == key && one.number == number; });
  return found == members.end() ? nullptr : &*found;
}

const Value* Map::find(std::string_view key, Budget& budget) const {
  const Member* const found = member(key, std::nullopt, budget);
  return found == nullptr ? nullptr : &found->value;
}

void Map::set(std::string_view key, Value value, Budget& budget) {
  if (const Member* const found = member(key, std::nullopt, budget)) {
    members[static_cast<std::size_t>(found - members.data())].value = std::move(value);
  } else {
    budget.make(key.size());
    add(key, std::move(value));
  }
}

void Map::add(std::string_view key, Value value) {
  members.push_back({std::string(key), std::move(value)});
}

const Value* Map::find_key(const Value& key, Budget& budget) const {
  if (const std::string* const text = key.text()) {
    return find(*text, budget);
  }
  const Member* const found = key.integer() ? member("", key.integer(), budget) : nullptr;
  return found == nullptr ? nullptr : &found->value;
}

void Map::set_key(const Value& key, Value value, Budget& budget) {
  if (const std::string* const text = key.text()) {
    return set(*text, std::move(value), budget);
  }
  if (!key.integer()) {
    fail(fmt::format("the key of a dict: expected a text or a whole number, found {}", key.kind()));
  }
  if (const Member* const found = member("", key.integer(), budget)) {
    members[static_cast<std::size_t>(found - members.data())].value = std::move(value);
  } else {
    members.push_back({"", std::move(value), key.integer()});
  }
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
    return;  // not moved: freed in place
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
  const bool may_close = member.map() != nullptr || member.list() != nullptr ||
                         member.generator() != nullptr || member.function() != nullptr;
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
  List* const one = found == nullptr ? nullptr : found->get();
  return one == nullptr || one->kind == ListKind::kGenerator ? nullptr : one;
}

List* Value::generator() const noexcept {
  const auto* const found = std::get_if<std::shared_ptr<List>>(&data_);
  List* const one = found == nullptr ? nullptr : found->get();
  return one == nullptr || one->kind != ListKind::kGenerator ? nullptr : one;
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
    return one->kind != MapKind::kDict || !one->members.empty();
  }
  return function() != nullptr || generator() != nullptr;
}

std::string_view Value::kind() const noexcept {
  constexpr std::string_view kKinds[] = {"None", "undefined", "bool", "int",     "float",
                                         "str",  "list",      "dict", "function"};
  return generator() != nullptr ? "generator" : kKinds[data_.index()];
}

Value list_of(std::vector<Value> items) {
  return std::make_shared<List>(List{std::move(items)});
}

Value generator_of(std::vector<Value> items) {
  return std::make_shared<List>(List{std::move(items), ListKind::kGenerator});
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
    return a->kind == b->kind && std::ranges::equal(a->items, b->items, are_same);
  }
  if (const Map* a = one.map(), *b = other.map(); a != nullptr && b != nullptr) {
    return a == b || (a->members.size() == b->members.size() &&
                      std::ranges::all_of(a->members, [&](const auto& member) {
                        const Value* const found = b->find_key(member.key(), budget);
                        return found != nullptr && are_same(member.value, *found);
                      }));
  }
  return (one.is_none() && other.is_none()) ||
         (one.undefined() != nullptr && other.undefined() != nullptr) ||
         (one.generator() != nullptr && one.generator() == other.generator()) ||
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

std::string place_in(std::string_view source, std::size_t at) {
  const std::string_view before = source.substr(0, std::min(at, source.size()));
  const std::size_t line_begin = before.rfind('\n') + 1;  // 0 without a line feed
  const auto is_first_byte = [](char one) {
    return (static_cast<unsigned char>(one) & 0xC0U) != 0x80U;
  };
  return fmt::format("line {}, column {}", 1 + std::ranges::count(before, '\n'),
                     1 + std::ranges::count_if(before.substr(line_begin), is_first_byte));
}

void fail_at(std::string_view where, std::string_view source, std::size_t at,
             std::string_view message, ErrorKind kind) {
  throw Error(kind, fmt::format("{}: {}: {}", where, place_in(source, at), message));
}

}  // namespace attnviz::templates
