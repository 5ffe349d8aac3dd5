#include "attnviz/text/template/chat_json.h"

#include <fmt/core.h>

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
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

// Makes values of JSON as Python reads it: members keep their order, and the last of two members
// with the same name counts. nlohmann_json's own values sort members, or search all of them for
// each one.
class ValueReader {
 public:
  explicit ValueReader(const std::string& where) : where_(where) {}

  bool null() { return put({}); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      fail_beyond(std::to_string(value));
    }
    return put(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string& text) {
    if (text.find_first_of(".eE") == std::string::npos) {
      fail_beyond(text);
    }
    return put(value);
  }
  bool string(std::string& text) { return put(std::move(text)); }
  bool binary(std::vector<std::uint8_t>& /*bytes*/) { return false; }
  bool start_object(std::size_t /*size*/) { return open(std::make_shared<Map>()); }
  bool start_array(std::size_t /*size*/) { return open(std::make_shared<List>()); }
  bool key(std::string& name) {
    open_.back().map()->members.push_back({std::move(name), {}});
    return true;
  }
  bool end_object() {
    keep_last(open_.back().map()->members);
    return end_array();
  }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/, const std::exception& error) {
    constexpr std::size_t kColumns = 200;  // the message repeats what was read
    const std::string_view message = error.what();
    const std::size_t column = message.find("column ");
    fail_in(where_,
            "not JSON: " +
                fit_width(message.substr(column == std::string_view::npos ? 0 : column), kColumns));
  }

  Value take() && { return std::move(root_); }

 private:
  [[noreturn]] void fail_beyond(std::string_view number) const {
    constexpr std::size_t kColumns = 60;
    fail_in(where_,
            fmt::format("expected whole numbers of 64 bits, below 2^63, found {}",
                        fit_width(number, kColumns)),
            ErrorKind::kUnsupported);
  }

  bool put(Value value) {
    constexpr std::size_t kMost = std::size_t{1} << 22;
    if (++count_ > kMost) {
      fail_in(where_, fmt::format("expected at most {} values, found more", kMost));
    }
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Map* const map = open_.back().map()) {
      map->members.back().value = std::move(value);
    } else {
      open_.back().list()->items.push_back(std::move(value));
    }
    return true;
  }

  bool open(const Value& container) {
    if (open_.size() == templates::kDeepestLists) {
      fail_in(where_,
              fmt::format("expected at most {} lists and objects in one another, found more",
                          templates::kDeepestLists));
    }
    put(container);
    open_.push_back(container);
    return true;
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
  Value root_;
  std::vector<Value> open_;
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
              fmt::format("expected \"text\", found {}: attnviz reads only texts",
                          attnviz::quoted(name)),
              ErrorKind::kUnsupported);
    }
    text += text_of(member(parts.items[i], "text"), here + ".text");
  }
  return text;
}

// Keys beside the content that hold what is not text, as Ollama and others write it.
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
  ValueReader reader(where);
  nlohmann::json::sax_parse(json, &reader);
  return std::move(reader).take();
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
                            attnviz::quoted(one.name)),
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
