#include "attnviz/text/template/chat_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/template/budget.h"
#include "attnviz/text/template/chat_turns.h"
#include "attnviz/text/template/go_template.h"
#include "attnviz/text/template/jinja_builtins.h"
#include "attnviz/text/template/jinja_run.h"
#include "attnviz/text/template/python_text.h"
#include "attnviz/text/template/value.h"

namespace attnviz {

namespace {

using templates::Arguments;
using templates::ContentForm;
using templates::List;
using templates::Map;
using templates::Value;
using templates::Written;

std::string formatted(const std::string& format, const std::tm& time) {
  std::array<char, 4096> text{};
  // With a sign at its end, so that only what is too long gives nothing.
  const std::size_t size = std::strftime(text.data(), text.size(), (format + ".").c_str(), &time);
  if (size == 0) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("strftime_now: the text is longer than {} bytes", text.size() - 2));
  }
  return {text.data(), size - 1};
}

// strftime_now, of which a template may ask for much again and again.
templates::Function time_function(const std::tm& now) {
  return [now, budget = std::make_shared<templates::Budget>()](const Arguments& given) -> Value {
    constexpr std::size_t kReadsOfField = 1000;  // some look for the time zone each time
    const std::string format =
        given.values.empty()
            ? std::string()
            : std::string(templates::needed_text(given.values.front(), "strftime_now"));
    budget->read(format.size() +
                 kReadsOfField * static_cast<std::size_t>(std::ranges::count(format, '%')));
    return formatted(format, now);
  };
}

// transformers passes on those that there are; llama.cpp those two in any case.
void add_special_tokens(const ChatTemplate& with, Map& globals) {
  const auto add = [&](const std::string& name, const std::string& token, bool in_any_case) {
    if (!token.empty() || in_any_case) {
      globals.add(name, token);
    }
  };
  add("bos_token", with.bos_token, with.tokenizer_adds_bos);
  add("eos_token", with.eos_token, with.tokenizer_adds_bos);
  for (const auto& [name, token] : with.other_tokens) {
    add(name, token, false);
  }
  std::vector<Value> additional;
  for (const std::string& token : with.additional_special_tokens) {
    additional.emplace_back(token);
  }
  if (!additional.empty()) {
    globals.add("additional_special_tokens", templates::list_of(std::move(additional)));
  }
}

// Input of a template.
struct Given {
  std::span<const ChatMessage> messages;
  Value tools;                     // None: there are none
  std::vector<ContentForm> forms;  // one a message
};

Written run_jinja_template(const ChatTemplate& with, const Given& given,
                           const ChatRequest& request) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < given.messages.size(); ++i) {
    values.push_back(templates::jinja_message(given.messages[i], i, given.forms[i]));
  }
  Map globals;
  globals.add("messages", templates::list_of(std::move(values)));
  globals.add("tools", given.tools);
  globals.add("documents", {});
  globals.add("add_generation_prompt", request.add_generation_prompt);
  add_special_tokens(with, globals);
  globals.add("raise_exception", templates::function_of([](const Arguments& arguments) -> Value {
                constexpr std::size_t kMostColumns = 1000;
                templates::Budget budget;
                throw Error(
                    ErrorKind::kMalformed,
                    arguments.values.empty()
                        ? "the template refuses these messages"
                        : fit_width(printed(arguments.values.front(), budget), kMostColumns));
              }));
  globals.add("strftime_now", templates::function_of(time_function(request.now)));
  return templates::run_jinja(with.source, with.where, globals);
}

// --- Ollama's way of filling a Go template

struct Joined {
  ChatMessage message;
  std::size_t first = 0;  // of the messages that it was made of
};

// Joins consecutive messages of one role, with an empty line between them; answers of tools stay
// apart.
std::vector<Joined> joined(std::span<const ChatMessage> messages) {
  std::vector<Joined> all;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (!all.empty() && all.back().message.role == messages[i].role && messages[i].role != "tool") {
      all.back().message.content += "\n\n" + messages[i].content;
    } else {
      all.push_back({messages[i], i});
    }
  }
  return all;
}

std::string all_system(std::span<const ChatMessage> messages) {
  std::string all;
  for (const ChatMessage& message : messages) {
    if (message.role == "system") {
      all += (all.empty() ? "" : "\n\n") + message.content;
    }
  }
  return all;
}

Value go_data(std::string system, std::string prompt, std::string response) {
  auto data = std::make_shared<Map>();
  data->add("System", std::move(system));
  data->add("Prompt", std::move(prompt));
  data->add("Response", std::move(response));
  data->add("Think", false);
  data->add("ThinkLevel", "");
  data->add("IsThinkSet", false);
  return data;
}

void append(Written& to, const Written& more) {
  for (const Written::Part& part : more.parts) {
    to.add(std::string_view(more.text).substr(part.begin, part.end - part.begin), part.message);
  }
}

// Once for each prompt and its response; the last, open one up to where the response begins.
Written run_by_turns(const templates::GoTemplate& with, const std::vector<Joined>& messages,
                     const templates::GoDates& dates) {
  Written all;
  templates::Budget budget;
  std::string system, prompt, response;
  const auto execute = [&](bool is_last) {
    append(all, with.run(go_data(std::exchange(system, ""), std::exchange(prompt, ""),
                                 std::exchange(response, "")),
                         dates, budget, is_last));
  };
  for (const Joined& one : messages) {
    const std::string& role = one.message.role;
    if ((role == "system" && (!prompt.empty() || !response.empty())) ||
        (role == "user" && !response.empty())) {
      execute(false);
    }
    std::string& place = role == "system" ? system : role == "user" ? prompt : response;
    if (role == "system" || role == "user" || role == "assistant") {
      place = one.message.content;
    }
  }
  execute(true);
  return all;
}

// A message or tools as Ollama has them; adds their place to error messages.
template <class Make>
Value go_part(const std::string& where, const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", where, error.what()));
  }
}

Written run_go_template(const ChatTemplate& with, const Given& given, const ChatRequest& request) {
  std::tm yesterday = request.now;
  --yesterday.tm_mday;
  std::mktime(&yesterday);
  const templates::GoDates dates{formatted("%Y-%m-%d", request.now),
                                 formatted("%Y-%m-%d", yesterday)};
  const templates::GoTemplate own(with.source, with.where);
  const std::vector<Joined> all = joined(given.messages);
  if (own.mentions("messages")) {
    std::vector<Value> values;
    values.reserve(all.size());
    for (const Joined& one : all) {
      values.push_back(go_part(one.message.where,
                               [&] { return templates::go_message(one.message, one.first); }));
    }
    Value data = go_data(all_system(given.messages), "", "");
    data.map()->add("Messages", templates::list_of(std::move(values)));
    if (!given.tools.is_none()) {
      data.map()->add("Tools", go_part("tools", [&] { return templates::go_tools(given.tools); }));
    }
    templates::Budget budget;
    return own.run(data, dates, budget);
  }
  if (own.mentions("response")) {
    return run_by_turns(own, all, dates);
  }
  return run_by_turns(templates::GoTemplate(with.source + "{{ .Response }}", with.where), all,
                      dates);
}

Written run(const ChatTemplate& with, const Given& given, const ChatRequest& request) {
  return with.language == TemplateLanguage::kJinja ? run_jinja_template(with, given, request)
                                                   : run_go_template(with, given, request);
}

// --- what a template accepts, and leaves out

struct Trial {
  std::vector<ContentForm> forms;
  std::optional<std::vector<templates::ChatPlace>> missing = {};  // nothing: it failed

  bool is_better_than(const Trial& other) const {
    return missing && (!other.missing || missing->size() < other.missing->size());
  }
};

// Runs the template on the chat with distinct marks for its texts.
class Trials {
 public:
  Trials(const ChatTemplate& with, const Given& given, const ChatRequest& request)
      : with_(with), request_(request), tools_(given.tools) {
    messages_.reserve(given.messages.size());
    for (std::size_t i = 0; i < given.messages.size(); ++i) {
      messages_.push_back(templates::marked(given.messages[i], i, marks_));
    }
    if (!tools_.is_none()) {
      tools_ = templates::marked_tools(tools_, marks_);
    }
  }

  Trial with_forms(std::vector<ContentForm> forms) const {
    Trial trial{std::move(forms)};
    try {
      trial.missing =
          marks_.missing_in(run(with_, {messages_, tools_, trial.forms}, request_).text);
    } catch (const Error&) {
      // The error for the chat itself is reported instead.
    }
    return trial;
  }

 private:
  const ChatTemplate& with_;
  const ChatRequest& request_;
  templates::Marks marks_;
  std::vector<ChatMessage> messages_;
  Value tools_;
};

// Templates join content with texts, which fails for a null: the error says nothing of where it is.
[[noreturn]] void fail_at_null(const Error& error, std::span<const ChatMessage> messages) {
  const auto found = std::ranges::find(messages, true, &ChatMessage::is_null);
  if (found == messages.end()) {
    throw error;
  }
  throw Error(error.kind(),
              fmt::format("{} ({}: no content, where some templates need \"\")", error.what(),
                          found->where.empty() ? fmt::format("message {}", found - messages.begin())
                                               : found->where));
}

// The forms with which the template leaves out least; the given ones if they leave out nothing. If
// the template fails with all forms, throws its error for the chat as given.
Trial best_trial(const ChatTemplate& with, const Given& given, const ChatRequest& request) {
  const Trials trials(with, given, request);
  Trial best = trials.with_forms(given.forms);
  if (with.language == TemplateLanguage::kGo || (best.missing && best.missing->empty())) {
    return best;
  }
  const auto use_if_better = [&](std::vector<ContentForm> forms) {
    if (Trial trial = trials.with_forms(std::move(forms)); trial.is_better_than(best)) {
      best = std::move(trial);
    }
  };
  const auto has_parts = [](const ChatMessage& one) { return templates::has_parts(one); };
  if (best.missing) {
    std::vector<ContentForm> forms = given.forms;
    for (const templates::ChatPlace& place : *best.missing) {
      if (place.message && place.part.starts_with("content")) {
        forms[*place.message] =
            has_parts(given.messages[*place.message]) ? ContentForm::kJoined : ContentForm::kParts;
      }
    }
    if (forms != given.forms) {
      use_if_better(std::move(forms));
    }
    return best;
  }
  try {
    run(with, given, request);
  } catch (const Error& error) {
    if (std::ranges::any_of(given.messages, has_parts)) {
      use_if_better(std::vector(given.forms.size(), ContentForm::kJoined));
    }
    if (!std::ranges::all_of(given.messages, has_parts)) {
      use_if_better(std::vector(given.forms.size(), ContentForm::kParts));
    }
    if (!best.missing) {
      fail_at_null(error, given.messages);
    }
  }
  return best;
}

// The messages whose text is missing in the prompt.
std::vector<templates::ChatPlace> not_found(std::span<const ChatMessage> messages,
                                            std::string_view text) {
  std::vector<templates::ChatPlace> missing;
  templates::Budget budget;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string_view content =
        templates::stripped(messages[i].content, templates::Side::kBoth);
    budget.read(text.size());
    if (memmem(text.data(), text.size(), content.data(), content.size()) == nullptr) {
      missing.push_back({i, "content"});
    }
  }
  return missing;
}

}  // namespace

std::tm current_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return local;
}

ChatPrompt render_chat(const ChatTemplate& with, std::span<const ChatMessage> messages,
                       const ChatRequest& request) {
  if (messages.empty()) {
    throw Error(ErrorKind::kUsage, "messages: expected at least one");
  }
  for (const ChatMessage& message : messages) {
    constexpr std::size_t kLongestRole = 256;  // each turn has a copy
    if (message.role.size() > kLongestRole) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("messages: expected a role of at most {} bytes, found {}",
                              kLongestRole, quoted(message.role)));
    }
  }
  Given given{messages, request.tools == nullptr ? Value() : *request.tools,
              std::vector<ContentForm>(messages.size())};
  Trial trial = best_trial(with, given, request);
  given.forms = std::move(trial.forms);
  Written written = run(with, given, request);
  std::vector<ChatTurn> turns = templates::chat_turns(written, with, messages);
  std::vector<templates::ChatPlace> left_out =
      trial.missing ? std::move(*trial.missing) : not_found(messages, written.text);
  return {std::move(written.text), std::move(turns), std::move(left_out)};
}

}  // namespace attnviz
