#include "attnviz/text/template/chat_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
#include "attnviz/text/template/jinja.h"
#include "attnviz/text/template/python.h"
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
  // The added full stop makes sure that only a text that is too long gives 0.
  const std::size_t size = std::strftime(text.data(), text.size(), (format + ".").c_str(), &time);
  if (size == 0) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("strftime_now: the text is longer than {} bytes", text.size() - 2));
  }
  return {text.data(), size - 1};
}

// strftime_now, which a template may call again and again with long formats.
templates::Function time_function(const std::tm& now) {
  return [now, budget = std::make_shared<templates::Budget>()](const Arguments& given) -> Value {
    constexpr std::size_t kReadsOfField = 1000;  // some fields look up the time zone each time
    const std::string format(given.values.empty()
                                 ? std::string_view()
                                 : templates::needed_text(given.values.front(), "strftime_now"));
    budget->read(format.size() +
                 kReadsOfField * static_cast<std::size_t>(std::ranges::count(format, '%')));
    return formatted(format, now);
  };
}

// The part of a text that a message quotes: finding the clusters of a long text takes long.
std::string beginning_of(std::string_view text) {
  constexpr std::size_t kMostColumns = 1000;
  constexpr std::size_t kMostBytes = 4 * kMostColumns;
  return fit_width(text.substr(0, valid_utf8_prefix(text, kMostBytes)), kMostColumns);
}

// transformers passes only the tokens that exist; llama.cpp always passes these two.
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

// The input of a template.
struct Given {
  std::span<const ChatMessage> messages;
  Value tools;                     // None without tools
  std::vector<ContentForm> forms;  // one per message
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
                templates::Budget budget;
                throw Error(ErrorKind::kMalformed,
                            arguments.values.empty()
                                ? "the template refuses these messages"
                                : beginning_of(printed(arguments.values.front(), budget)));
              }));
  globals.add("strftime_now", templates::function_of(time_function(request.now)));
  return templates::run_jinja(with.source, with.where, globals);
}

// --- How Ollama fills a Go template

struct Joined {
  ChatMessage message;
  std::size_t first = 0;  // index of the first message joined here
};

// Joins consecutive messages of the same role, with an empty line between them; answers of tools
// stay separate.
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

// Runs the template once for each prompt and its response; for the last pair only up to the
// response.
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

// A message or tools in Ollama's form; adds their position to error messages.
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

// --- What a template accepts and leaves out

struct Trial {
  std::vector<ContentForm> forms;
  std::optional<std::vector<templates::ChatPlace>> missing = {};  // nothing: it failed
  std::string text = {};                                          // with marks

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
      trial.text = run(with_, {messages_, tools_, trial.forms}, request_).text;
      trial.missing = marks_.missing_in(trial.text);
    } catch (const templates::TooMuch&) {
      throw;  // another run would take as long
    } catch (const Error&) {
      // The error for the chat itself is reported instead.
    }
    return trial;
  }

  const std::vector<templates::ChatPlace>& places() const noexcept { return marks_.places(); }

 private:
  const ChatTemplate& with_;
  const ChatRequest& request_;
  templates::Marks marks_;
  std::vector<ChatMessage> messages_;
  Value tools_;
};

// Templates concatenate content with texts, which fails for null: the error does not say where.
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
Trial best_trial(const Trials& trials, const ChatTemplate& with, const Given& given,
                 const ChatRequest& request) {
  Trial best = trials.with_forms(given.forms);
  if (with.language == TemplateLanguage::kGo || (best.missing && best.missing->empty())) {
    return best;
  }
  const auto use_if_better = [&](std::vector<ContentForm> forms) {
    if (Trial trial = trials.with_forms(std::move(forms)); trial.is_better_than(best)) {
      best = std::move(trial);
    }
  };
  if (best.missing) {
    std::vector<ContentForm> forms = given.forms;
    for (const templates::ChatPlace& place : *best.missing) {
      if (place.message && place.part.starts_with("content")) {
        forms[*place.message] = templates::has_parts(given.messages[*place.message])
                                    ? ContentForm::kJoined
                                    : ContentForm::kParts;
      }
    }
    if (forms != given.forms) {
      use_if_better(std::move(forms));
    }
    return best;
  }
  try {
    run(with, given, request);
  } catch (const templates::TooMuch&) {
    throw;
  } catch (const Error& error) {
    if (std::ranges::any_of(given.messages, templates::has_parts)) {
      use_if_better(std::vector(given.forms.size(), ContentForm::kJoined));
    }
    if (!std::ranges::all_of(given.messages, templates::has_parts)) {
      use_if_better(std::vector(given.forms.size(), ContentForm::kParts));
    }
    if (!best.missing) {
      fail_at_null(error, given.messages);
    }
  }
  return best;
}

// The number of occurrences of `what` in `text`.
std::size_t count_in(std::string_view text, std::string_view what, templates::Budget& budget) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = budget.find(text, what)) != std::string_view::npos; ++count) {
    text.remove_prefix(at + what.size());
  }
  return count;
}

// The places with missing marks that are missing in the prompt, too: templates that cut or compare
// texts treat marks differently. A text is present if it occurs in the prompt more often than in
// the template's own words, which are those around the marks, and in the texts whose marks are
// present. Case is ignored.
std::vector<templates::ChatPlace> left_out_of(const std::string& prompt, const Trial& trial,
                                              const std::vector<templates::ChatPlace>& places) {
  std::vector<templates::ChatPlace> missing = trial.missing ? *trial.missing : places;
  std::erase_if(missing, [](const templates::ChatPlace& place) { return place.text.empty(); });
  if (missing.empty()) {
    return missing;
  }
  templates::Budget budget;
  const auto small = [&budget](std::string_view text) {
    budget.recase(text.size());
    return templates::lower_case(text);
  };
  const std::string in = small(prompt);
  std::string elsewhere = small(trial.text);
  auto next = missing.begin();
  for (const templates::ChatPlace& place : places) {
    if (next != missing.end() && place.message == next->message && place.part == next->part) {
      ++next;
    } else {
      elsewhere += '\n' + small(place.text);
    }
  }
  std::vector<templates::ChatPlace> left_out;
  for (templates::ChatPlace& place : missing) {
    const std::string what = small(place.text);
    const std::size_t count = count_in(in, what, budget);
    if (count == 0 || count <= count_in(elsewhere, what, budget)) {
      left_out.push_back(std::move(place));
    } else {
      elsewhere += '\n' + what;
    }
  }
  return left_out;
}

// The template for this chat, chosen among several as in transformers.
ChatTemplate chosen(const ChatTemplate& among, bool has_tools) {
  ChatTemplate with = among;
  const auto found =
      std::ranges::find(with.named, std::string_view("tool_use"), &NamedTemplate::name);
  if (has_tools && found != with.named.end()) {
    with.source = found->source;
    with.where = found->where;
  } else if (with.source.empty() && !with.named.empty()) {
    std::vector<std::string> names;
    for (const NamedTemplate& one : with.named) {
      names.push_back(in_quotes(one.name));
    }
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: expected a chat template called \"default\", found {}; "
                            "\"tool_use\" is used when tools are given",
                            with.where, attnviz::joined(names, "and")));
  }
  return with;
}

}  // namespace

std::tm current_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return local;
}

ChatPrompt render_chat(const ChatTemplate& among, std::span<const ChatMessage> messages,
                       const ChatRequest& request) {
  if (messages.empty()) {
    throw Error(ErrorKind::kUsage, "messages: expected at least one");
  }
  for (const ChatMessage& message : messages) {
    constexpr std::size_t kLongestRole = 256;  // each turn has a copy
    if (message.role.size() > kLongestRole) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("messages: expected a role of at most {} bytes, found {}",
                              kLongestRole, in_quotes(message.role)));
    }
  }
  const ChatTemplate with = chosen(among, request.tools != nullptr);
  Given given{messages, request.tools == nullptr ? Value() : *request.tools,
              std::vector<ContentForm>(messages.size())};
  const Trials trials(with, given, request);
  const Trial trial = best_trial(trials, with, given, request);
  given.forms = trial.forms;
  Written written = run(with, given, request);
  std::vector<ChatTurn> turns = templates::chat_turns(written, with, messages);
  std::vector<templates::ChatPlace> left_out;
  try {
    left_out = left_out_of(written.text, trial, trials.places());
  } catch (const templates::TooMuch& error) {
    throw Error(error.kind(),
                fmt::format("{}: the text of each message: {}", with.where, error.what()));
  }
  return {std::move(written.text), with.where, std::move(turns), std::move(left_out)};
}

}  // namespace attnviz
