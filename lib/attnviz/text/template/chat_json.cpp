#include "attnviz/text/template/chat_json.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/json_reader.h"
#include "attnviz/text/template/chat_values.h"
#include "attnviz/text/template/value.h"

namespace attnviz {

namespace {

using templates::List;
using templates::Map;
using templates::member;
using templates::Value;

[[noreturn]] void fail_in(const std::string& where, const std::string& what,
                          ErrorKind kind = ErrorKind::kMalformed) {
  throw Error(kind, fmt::format("{}: {}", where, what));
}

// Makes values from JSON as Python does: members keep their order, and the last of two members with
// the same name counts.
class ValueReader {
 public:
  ValueReader(std::string_view json, const std::string& where)
      : where_(where), reader_(json, where + ": not JSON") {
    if (const std::size_t valid = valid_utf8_prefix(json); valid < json.size()) {
      reader_.fail_at(json.substr(valid, 1), "UTF-8");
    }
  }

  Value read() {
    Value root = read_value(0);
    reader_.expect_end();
    return root;
  }

 private:
  Value read_value(std::size_t depth) {
    constexpr std::size_t kMost = std::size_t{1} << 22;
    if (++count_ > kMost) {
      fail_in(where_, fmt::format("expected at most {} values, found more", kMost));
    }
    switch (reader_.peek()) {
      case '{':
        return read_map(depth + 1);
      case '[':
        return read_list(depth + 1);
      case '"':
        return read_text();
      default:
        return read_plain_value();
    }
  }

  void check_depth(std::size_t depth) const {
    if (depth > templates::kDeepestLists) {
      fail_in(where_, fmt::format("expected at most {} nested lists and objects, found more",
                                  templates::kDeepestLists));
    }
  }

  Value read_map(std::size_t depth) {
    check_depth(depth);
    const auto map = std::make_shared<Map>();
    bool is_first = true;
    reader_.expect('{');
    while (reader_.next_item('}', is_first)) {
      map->members.push_back({std::string(reader_.key()), {}});
      reader_.forget_strings();
      map->members.back().value = read_value(depth);
    }
    keep_last(map->members);
    return map;
  }

  Value read_list(std::size_t depth) {
    check_depth(depth);
    const auto list = std::make_shared<List>();
    bool is_first = true;
    reader_.expect('[');
    while (reader_.next_item(']', is_first)) {
      list->items.push_back(read_value(depth));
    }
    return list;
  }

  std::string read_text() {
    std::string text(reader_.string());
    reader_.forget_strings();
    return text;
  }

  Value read_plain_value() {
    const std::string_view word = reader_.plain_value();
    if (word == "null") {
      return {};
    }
    if (word == "true" || word == "false") {
      return word == "true";
    }
    if (word.find_first_of(".eE") == std::string_view::npos) {
      const auto number = parse_number<std::int64_t>(word);
      if (!number) {
        constexpr std::size_t kColumns = 60;
        fail_in(where_,
                fmt::format("expected whole numbers of 64 bits, below 2^63, found {}",
                            fit_width(word, kColumns)),
                ErrorKind::kUnsupported);
      }
      return *number;
    }
    const double number = std::strtod(std::string(word).c_str(), nullptr);
    if (!std::isfinite(number)) {
      reader_.fail_at(word, "a number that fits a 64-bit float (up to 1.8e308)");
    }
    return number;
  }

  static void keep_last(std::vector<Map::Member>& members) {
    std::map<std::string_view, std::size_t> last;
    for (std::size_t i = 0; i < members.size(); ++i) {
      last[members[i].name] = i;
    }
    if (last.size() == members.size()) {
      return;
    }
    std::vector<Map::Member> kept;
    for (const Map::Member& one : members) {
      if (const auto found = last.find(one.name); found != last.end()) {
        kept.push_back({one.name, members[found->second].value});
        last.erase(found);
      }
    }
    members = std::move(kept);
  }

  const std::string& where_;
  JsonReader reader_;
  std::size_t count_ = 0;
};

std::string text_of(const Value* value, const std::string& where) {
  if (value == nullptr || value->text() == nullptr) {
    fail_in(where, fmt::format("expected a string, found {}",
                               value == nullptr ? "none" : std::string(value->kind())));
  }
  return *value->text();
}

// The texts of a list of parts; other members of a part are left to the template.
std::string joined_parts(const List& parts, const std::string& where) {
  std::string text;
  for (std::size_t i = 0; i < parts.items.size(); ++i) {
    const std::string here = fmt::format("{}[{}]", where, i);
    const Value* const type = member(parts.items[i], "type");
    if (type == nullptr) {
      fail_in(here, "expected an object with a \"type\"");
    }
    if (const std::string name = text_of(type, here + ".type"); name != "text") {
      fail_in(here + ".type",
              fmt::format("expected \"text\", found {}: attnviz reads only texts", in_quotes(name)),
              ErrorKind::kUnsupported);
    }
    text += text_of(member(parts.items[i], "text"), here + ".text");
  }
  return text;
}

// Keys for content other than text, as Ollama and others write it.
constexpr const char* kOtherMedia[] = {"image", "images", "audio", "audios", "video", "videos"};

ChatMessage message_of(const Value& value, std::string where) {
  const Value* const role = member(value, "role");
  const Value* const content = member(value, "content");
  const Value* const calls = member(value, "tool_calls");
  if (role == nullptr || (content == nullptr && (calls == nullptr || !calls->is_true()))) {
    fail_in(where, "expected an object with \"role\" and \"content\"");
  }
  if (calls != nullptr && calls->is_true() && calls->list() == nullptr) {
    fail_in(where + ".tool_calls",
            fmt::format("expected a list of calls, found {}", calls->kind()));
  }
  for (const char* const name : kOtherMedia) {
    if (const Value* const media = member(value, name); media != nullptr && media->is_true()) {
      fail_in(fmt::format("{}.{}", where, name), "attnviz reads only texts",
              ErrorKind::kUnsupported);
    }
  }
  ChatMessage message{text_of(role, where + ".role"), ""};
  message.is_null = content == nullptr || content->is_none();
  const List* const parts = content == nullptr ? nullptr : content->list();
  if (parts != nullptr) {
    message.content = joined_parts(*parts, where + ".content");
  } else if (!message.is_null) {
    message.content = text_of(content, where + ".content");
  }
  const std::vector<Map::Member>& members = value.map()->members;
  const bool is_plain = members.size() == 2 && members[0].name == "role" &&
                        members[1].name == "content" && parts == nullptr;
  if (!is_plain) {
    message.fields = std::make_shared<const Value>(value);
  }
  message.where = std::move(where);
  return message;
}

std::shared_ptr<const Value> tools_of(const Value& value, const std::string& where) {
  if (value.list() == nullptr) {
    fail_in(where, fmt::format("expected a list of tools, found {}", value.kind()));
  }
  for (std::size_t i = 0; i < value.list()->items.size(); ++i) {
    if (value.list()->items[i].map() == nullptr) {
      fail_in(fmt::format("{}[{}]", where, i),
              fmt::format("expected an object, found {}", value.list()->items[i].kind()));
    }
  }
  return std::make_shared<const Value>(value);
}

}  // namespace

Value templates::json_value(std::string_view json, const std::string& where) {
  return ValueReader(json, where).read();
}

Chat read_chat(std::string_view json, const std::string& where) {
  const Value given = templates::json_value(json, where);
  const Value* list = &given;
  std::string at = where;
  Chat chat;
  if (member(given, "messages") != nullptr) {
    for (const Map::Member& one : given.map()->members) {
      if (one.name == "tools" && !one.value.is_none()) {
        chat.tools = tools_of(one.value, where + ".tools");
      } else if (one.name != "messages" && one.name != "tools") {
        fail_in(where,
                fmt::format("{} is not rendered; attnviz reads only messages and tools",
                            in_quotes(one.name)),
                ErrorKind::kUnsupported);
      }
    }
    list = member(given, "messages");
    at += ".messages";
  }
  if (list->list() == nullptr || list->list()->items.empty()) {
    fail_in(at, "expected a list of messages: [{\"role\": \"user\", \"content\": \"Hi\"}]");
  }
  for (const Value& one : list->list()->items) {
    chat.messages.push_back(message_of(one, fmt::format("{}[{}]", at, chat.messages.size())));
  }
  return chat;
}

std::shared_ptr<const templates::Value> read_tools(std::string_view json,
                                                   const std::string& where) {
  return tools_of(templates::json_value(json, where), where);
}

}  // namespace attnviz
