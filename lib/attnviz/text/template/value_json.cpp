// JSON of values.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>

#include "attnviz/core/utf8.h"
#include "attnviz/text/template/value.h"

namespace attnviz::templates {

namespace {

std::string unicode_escape(std::uint32_t code) {
  constexpr std::uint32_t kFirstPair = 0x10000;
  if (code < kFirstPair) {
    return fmt::format("\\u{:04x}", code);
  }
  const std::uint32_t rest = code - kFirstPair;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800U + (rest >> 10U), 0xDC00U + (rest & 0x3FFU));
}

std::string json_text(std::string_view text, const JsonStyle& style, Budget& budget) {
  const auto is_escaped = [&style](unsigned char one) {
    return one < 0x20 || (style.ascii && one >= 0x80) ||
           (style.html && (one == '<' || one == '>' || one == '&'));
  };
  constexpr std::size_t kEscape = 6;  // bytes: \u0001
  budget.make(text.size() +
              kEscape * static_cast<std::size_t>(std::ranges::count_if(text, is_escaped)));
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char one = text[at];
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
    } else if (is_escaped(static_cast<unsigned char>(one))) {
      const CodePoint step = decode_utf8(text, at);
      out += unicode_escape(step.valid ? static_cast<std::uint32_t>(step.value) : 0xFFFDU);
      at += step.length - 1;
    } else {
      out += one;
    }
  }
  return out + '"';
}

class JsonText {
 public:
  JsonText(const JsonStyle& style, Budget& budget) : style_(style), budget_(budget) {}

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
    if (depth > kDeepestLists) {
      fail("tojson: lists in lists are too deep");
    }
    if (value.is_none()) {
      add("null");
    } else if (const auto flag = value.flag()) {
      add(*flag ? "true" : "false");
    } else if (const auto real = value.real(); real && !std::isfinite(*real)) {
      add(std::isnan(*real) ? "NaN" : *real > 0 ? "Infinity" : "-Infinity");
    } else if (value.integer() || value.real()) {
      add(printed(value, budget_));
    } else if (const std::string* const text = value.text()) {
      add(json_text(*text, style_, budget_));
    } else if (const List* const list = value.list();
               list != nullptr && list->kind != ListKind::kRange) {
      enclose('[', ']', list->items.size(), depth,
              [&](std::size_t i) { add(list->items[i], depth + 1); });
    } else if (const Map* const map = value.map()) {
      const std::vector<const Map::Member*> members = members_of(*map);
      enclose('{', '}', members.size(), depth, [&](std::size_t i) {
        add(json_text(printed(members[i]->key(), budget_), style_, budget_));
        add(style_.colon);
        add(members[i]->value, depth + 1);
      });
    } else {
      fail(fmt::format("tojson: expected a value of JSON, found {}",
                       value.list() == nullptr ? value.kind() : "range"));
    }
  }

  std::vector<const Map::Member*> members_of(const Map& map) {
    std::vector<const Map::Member*> members;
    for (const Map::Member& one : map.members) {
      budget_.read(style_.sorted ? one.name.size() : 0);
      members.push_back(&one);
    }
    if (style_.sorted) {
      const auto is_number = [](const Map::Member* one) { return one->number.has_value(); };
      if (std::ranges::any_of(members, is_number) && !std::ranges::all_of(members, is_number)) {
        fail("tojson: whole numbers and texts have no order");
      }
      std::ranges::sort(members, [](const Map::Member* one, const Map::Member* other) {
        return std::tie(one->name, one->number) < std::tie(other->name, other->number);
      });
    }
    return members;
  }

  template <class Item>
  void enclose(char open, char close, std::size_t count, std::size_t depth, const Item& add_item) {
    out_ += open;
    for (std::size_t i = 0; i < count; ++i) {
      add(i == 0 ? std::string_view() : style_.between);
      add_line(depth + 1);
      add_item(i);
    }
    if (count > 0) {
      add_line(depth);
    }
    out_ += close;
  }
  void add_line(std::size_t depth) {
    if (style_.indent) {
      add("\n");
      for (std::size_t i = 0; i < depth; ++i) {
        add(*style_.indent);
      }
    }
  }

  const JsonStyle& style_;
  Budget& budget_;
  std::string out_;
};

}  // namespace

std::string json_of(const Value& value, const JsonStyle& style, Budget& budget) {
  return JsonText(style, budget).of(value);
}

}  // namespace attnviz::templates
