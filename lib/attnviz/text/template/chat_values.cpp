#include "attnviz/text/template/chat_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "attnviz/text/template/python.h"

namespace attnviz::templates {

namespace {

constexpr std::string_view kMarkBegin = "8714203569";
constexpr std::size_t kMarkDigits = 8;

bool is_blank(std::string_view text) {
  return stripped(text, Side::kBoth).empty();
}

// A copy with its own members, which can be changed.
Value copied(const Value& object) {
  return std::make_shared<Map>(*object.map());
}

// Marks a text that is not blank; null pointers and other values stay.
void mark(Value* value, ChatPlace place, Marks& marks) {
  if (value != nullptr && value->text() != nullptr && !is_blank(*value->text())) {
    place.text = stripped(*value->text(), Side::kBoth);
    *value = marks.next(std::move(place));
  }
}

Value text_part(Value text) {
  auto part = std::make_shared<Map>();
  part->add("type", "text");
  part->add("text", std::move(text));
  return part;
}

// A list of calls or tools with marks for the names of their functions.
Value with_marked_names(const Value& list, std::optional<std::size_t> message,
                        const std::string& before, Marks& marks) {
  std::vector<Value> items = list.list()->items;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].map() == nullptr) {
      mark(&items[i], {message, fmt::format("{}[{}]", before, i)}, marks);
      continue;
    }
    items[i] = copied(items[i]);
    Value* const function = member(items[i], "function");
    const bool has_function = function != nullptr && function->map() != nullptr;
    if (has_function) {
      *function = copied(*function);
    }
    mark(member(has_function ? *function : items[i], "name"),
         {message, fmt::format("{}[{}]{}.name", before, i, has_function ? ".function" : "")},
         marks);
  }
  return list_of(std::move(items));
}

// --- Ollama's structures

struct GoField;
using GoFields = std::span<const GoField>;

enum class GoKind { kPlain, kOne, kList, kMap };

// A field by its JSON name; `fields` are those of the objects that it contains.
struct GoField {
  std::string_view name;
  GoKind kind = GoKind::kPlain;
  GoFields (*fields)() = nullptr;
  bool is_always = false;  // written even if empty
};

GoFields property_fields() {
  static constexpr GoField kFields[] = {
      {"anyOf", GoKind::kList, property_fields},    {"type"}, {"items"}, {"description"}, {"enum"},
      {"properties", GoKind::kMap, property_fields}};
  return kFields;
}

GoFields parameters_fields() {
  static constexpr GoField kFields[] = {{"type", GoKind::kPlain, nullptr, true},
                                        {"$defs"},
                                        {"items"},
                                        {"required"},
                                        {"properties", GoKind::kMap, property_fields, true}};
  return kFields;
}

GoFields function_fields() {
  static constexpr GoField kFields[] = {{"name", GoKind::kPlain, nullptr, true},
                                        {"description"},
                                        {"parameters", GoKind::kOne, parameters_fields, true}};
  return kFields;
}

GoFields tool_fields() {
  static constexpr GoField kFields[] = {{"type", GoKind::kPlain, nullptr, true},
                                        {"items"},
                                        {"function", GoKind::kOne, function_fields, true}};
  return kFields;
}

// Throws if a value is not of the field's kind.
Value go_value(const Value& of, const GoField& field);

Value go_struct(const Value& of, GoFields fields, std::string_view name) {
  if (of.map() == nullptr) {
    fail(fmt::format("{}: expected an object, found {}", name, of.kind()));
  }
  auto made = std::make_shared<Map>();
  made->kind = MapKind::kStruct;
  for (const GoField& field : fields) {
    const Value* const found = member(of, field.name);
    if (found != nullptr && !found->is_none() && (field.is_always || found->is_true())) {
      made->add(field.name, go_value(*found, field));
    } else if (field.is_always) {
      made->add(field.name, field.kind == GoKind::kPlain ? Value("")
                            : field.kind == GoKind::kOne
                                ? go_struct(std::make_shared<Map>(), field.fields(), field.name)
                                : Value());
    }
  }
  return made;
}

Value go_value(const Value& of, const GoField& field) {
  if (field.kind == GoKind::kPlain) {
    return of;
  }
  if (field.kind == GoKind::kOne) {
    return go_struct(of, field.fields(), field.name);
  }
  if (field.kind == GoKind::kList ? of.list() == nullptr : of.map() == nullptr) {
    fail(fmt::format("{}: expected {}, found {}", field.name,
                     field.kind == GoKind::kList ? "a list" : "an object", of.kind()));
  }
  if (field.kind == GoKind::kList) {
    std::vector<Value> items;
    for (const Value& one : of.list()->items) {
      items.push_back(go_struct(one, field.fields(), field.name));
    }
    return list_of(std::move(items));
  }
  Value made = copied(of);
  for (Map::Member& one : made.map()->members) {
    one.value = go_struct(one.value, field.fields(), one.name);
  }
  return made;
}

Value go_call_of(const Value& call) {
  const Value* const function = member(call, "function");
  if (function == nullptr || function->map() == nullptr) {
    fail("tool_calls: expected objects with a \"function\"");
  }
  auto made = std::make_shared<Map>();
  made->kind = MapKind::kStruct;
  const auto take = [](const Value& from, const char* name, Map& to) {
    if (const Value* const found = member(from, name)) {
      to.add(name, *found);
    }
  };
  take(call, "id", *made);
  auto inner = std::make_shared<Map>();
  inner->kind = MapKind::kStruct;
  take(*function, "index", *inner);
  take(*function, "name", *inner);
  if (const Value* const arguments = member(*function, "arguments")) {
    // OpenAI writes the object as a string.
    const Value object =
        arguments->text() != nullptr ? json_value(*arguments->text(), "arguments") : *arguments;
    if (object.map() == nullptr) {
      fail(fmt::format("arguments: expected an object, found {}", object.kind()));
    }
    inner->add("arguments", object);
  }
  made->add("function", std::move(inner));
  return made;
}

}  // namespace

Value* member(const Value& object, std::string_view name) {
  if (object.map() == nullptr) {
    return nullptr;
  }
  auto& members = object.map()->members;
  const auto found = std::ranges::find(members, name, &Map::Member::name);
  return found == members.end() ? nullptr : &found->value;
}

std::string Marks::next(ChatPlace place) {
  places_.push_back(std::move(place));
  return fmt::format("{}{:0{}}", kMarkBegin, places_.size() - 1, kMarkDigits);
}

std::vector<ChatPlace> Marks::missing_in(std::string_view text) const {
  constexpr std::string_view kInList = "'text': '";
  std::vector<bool> is_there(places_.size());
  for (std::size_t at = text.find(kMarkBegin); at != std::string_view::npos;
       at = text.find(kMarkBegin, at + 1)) {
    const std::string_view digits = text.substr(at + kMarkBegin.size(), kMarkDigits);
    std::size_t number = places_.size();
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (number < places_.size() && !text.substr(0, at).ends_with(kInList)) {
      is_there[number] = true;
    }
  }
  std::vector<ChatPlace> missing;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!is_there[i]) {
      missing.push_back(places_[i]);
    }
  }
  return missing;
}

bool has_parts(const ChatMessage& message) {
  const Value* const content =
      message.fields == nullptr ? nullptr : member(*message.fields, "content");
  return content != nullptr && content->list() != nullptr;
}

ChatMessage marked(const ChatMessage& message, std::size_t place, Marks& marks) {
  ChatMessage made = message;
  Value fields = message.fields == nullptr ? Value() : copied(*message.fields);
  Value* const content = member(fields, "content");
  if (!has_parts(message)) {
    Value text(message.content);
    mark(&text, {place, "content"}, marks);
    made.content = *text.text();
    if (content != nullptr && content->text() != nullptr) {
      *content = text;
    }
  } else if (is_blank(message.content)) {
    made.content = marks.next({place, "content"});
    *content = list_of({text_part(made.content)});
  } else {
    std::vector<Value> parts = content->list()->items;
    made.content.clear();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i] = copied(parts[i]);
      Value& text = *member(parts[i], "text");
      mark(&text, {place, fmt::format("content[{}].text", i)}, marks);
      made.content += *text.text();
    }
    *content = list_of(std::move(parts));
  }
  Value* const calls = member(fields, "tool_calls");
  if (calls != nullptr && calls->list() != nullptr) {
    *calls = with_marked_names(*calls, place, "tool_calls", marks);
  }
  Value* const call = member(fields, "function_call");  // OpenAI's form of calls before tool_calls
  if (call != nullptr && call->map() != nullptr) {
    *call = copied(*call);
    mark(member(*call, "name"), {place, "function_call.name"}, marks);
  }
  mark(member(fields, "refusal"), {place, "refusal"}, marks);
  if (message.fields != nullptr) {
    made.fields = std::make_shared<const Value>(fields);
  }
  return made;
}

Value marked_tools(const Value& tools, Marks& marks) {
  return with_marked_names(tools, std::nullopt, "", marks);
}

Value jinja_message(const ChatMessage& message, std::size_t place, ContentForm form) {
  std::shared_ptr<Map> map;
  if (message.fields != nullptr) {
    map = std::make_shared<Map>(*message.fields->map());
  } else {
    map = std::make_shared<Map>();
    map->add("role", message.role);
    map->add("content", message.is_null ? Value() : Value(message.content));
  }
  map->message = place;
  Value made = map;
  Value* const content = member(made, "content");
  if (form == ContentForm::kParts && content != nullptr && content->text() != nullptr) {
    *content = list_of({text_part(*content)});
  } else if (form == ContentForm::kJoined && content != nullptr && content->list() != nullptr) {
    *content = message.content;
  }
  return made;
}

Value go_message(const ChatMessage& message, std::size_t place) {
  auto made = std::make_shared<Map>();
  made->kind = MapKind::kStruct;
  made->message = place;
  made->add("role", message.role);
  made->add("content", message.content);
  if (message.fields == nullptr) {
    return made;
  }
  for (const char* const name : {"thinking", "tool_name", "tool_call_id"}) {
    const Value* const found = member(*message.fields, name);
    if (found != nullptr && found->text() != nullptr) {
      made->add(name, *found);
    }
  }
  const Value* const calls = member(*message.fields, "tool_calls");
  if (calls != nullptr && calls->list() != nullptr) {
    std::vector<Value> items;
    for (const Value& one : calls->list()->items) {
      items.push_back(go_call_of(one));
    }
    made->add("tool_calls", list_of(std::move(items)));
  }
  return made;
}

Value go_tools(const Value& tools) {
  return go_value(tools, {"tools", GoKind::kList, tool_fields});
}

}  // namespace attnviz::templates
