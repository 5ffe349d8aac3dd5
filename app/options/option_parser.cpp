#include "options/option_parser.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <utility>

#include "attnviz/core/message.h"

namespace attnviz::app {

namespace {

std::vector<std::string> split(std::string_view names) {
  const auto parts = list_parts(names);
  return {parts.begin(), parts.end()};
}

}  // namespace

const std::string& OptionSpec::long_name() const {
  const auto found = std::ranges::find_if(names, [](const auto& n) { return n.starts_with("--"); });
  return found == names.end() ? names.front() : *found;
}

OptionSpec& OptionSpec::proposes(std::vector<std::string> words) {
  choices = std::move(words);
  return *this;
}

OptionSpec& OptionSpec::conflicts(OptionNames others, std::string_view why) {
  excluded.push_back({{others.begin(), others.end()}, std::string(why)});
  return *this;
}

OptionSpec& OptionSpec::needs(OptionNames others, std::string_view why) {
  needed.push_back({{others.begin(), others.end()}, std::string(why)});
  return *this;
}

OptionSpec& OptionSpec::only_in(Effect where) {
  effect = where;
  return *this;
}

OptionSpec& OptionSpec::common() {
  is_common = true;
  return *this;
}

OptionSpec& OptionSpec::about(std::string_view parameter, std::string_view to_type) {
  parameters.emplace_back(parameter, to_type.empty() ? long_name() : to_type);
  return *this;
}

OptionSpec& OptionList::add_value(std::string_view group, std::string_view names,
                                  std::string_view value, std::string_view text,
                                  const Setter& set) {
  std::vector<std::string> all = split(names);
  // "=3" is the token "3", not the one with this index.
  const bool is_token = value == "TOKEN" || value.starts_with("TOKEN|");
  const auto set_last = [name = all.front(), is_token, set](const std::vector<std::string>& words) {
    if (!is_token) {
      refuse_equals_sign(name, words.back());
    }
    set(words.back());
  };
  options_.push_back({std::move(all), std::string(value), std::string(text), std::string(group),
                      Times::kLastCounts, set_last});
  return options_.back();
}

OptionSpec& OptionList::add_list(std::string_view group, std::string_view names,
                                 std::string_view value, std::string_view text,
                                 const ListSetter& set) {
  options_.push_back(
      {split(names), std::string(value), std::string(text), std::string(group), Times::kMany, set});
  return options_.back();
}

OptionSpec& OptionList::add_flag(std::string_view group, std::string_view names,
                                 std::string_view text, bool& flag) {
  return add_flag(group, names, text, [&flag] { flag = true; });
}

OptionSpec& OptionList::add_flag(std::string_view group, std::string_view names,
                                 std::string_view text, const std::function<void()>& set) {
  options_.push_back({split(names), "", std::string(text), std::string(group), Times::kLastCounts,
                      [set](const std::vector<std::string>& /*words*/) { set(); }});
  return options_.back();
}

OptionSpec& OptionList::add_size(std::string_view name, std::string_view text,
                                 const std::function<void(std::size_t size)>& set,
                                 std::string_view hint) {
  constexpr std::uint64_t kLargestSize = 1'000'000;
  return add_value(
      "Model", name, "N", text,
      [name = std::string(name), set, hint = std::string(hint)](const std::string& word) {
        try {
          set(count_between(1, kLargestSize)(name, word));
        } catch (const Error& error) {
          throw Error(error.kind(), error.what() + hint);
        }
      });
}

OptionSpec& OptionList::add_positional(std::string_view name, const Setter& set) {
  const auto set_one = [set](const std::vector<std::string>& words) { set(words.back()); };
  options_.push_back({{std::string(name)}, std::string(name), "", "", Times::kOnce, set_one});
  return options_.back();
}

OptionSpec& OptionList::add_positional_list(std::string_view name, const ListSetter& set) {
  options_.push_back({{std::string(name)}, std::string(name), "", "", Times::kMany, set});
  return options_.back();
}

OptionSpec& OptionList::add_named(std::string_view group, std::string_view names,
                                  std::string_view value, std::string_view text,
                                  const NamedSetter& set) {
  return add_value(
      group, names, value, text,
      [names = std::string(names), set](const std::string& word) { set(names, word); });
}

const OptionSpec* OptionList::find(std::string_view name) const {
  const auto found = std::ranges::find_if(options_, [name](const OptionSpec& option) {
    return std::ranges::find(option.names, name) != option.names.end();
  });
  return found == options_.end() ? nullptr : &*found;
}

OptionSpec& OptionList::row(std::string_view name) {
  return options_[static_cast<std::size_t>(find(name) - options_.data())];
}

bool Given::has(std::string_view option) const {
  const std::size_t space = option.find(' ');
  const auto found = words_.find(option.substr(0, space));
  return found != words_.end() &&
         (space == std::string_view::npos || found->second == option.substr(space + 1));
}

std::string Given::first_of(std::span<const std::string> options) const {
  const auto found =
      std::ranges::find_if(options, [this](const std::string& option) { return has(option); });
  return found == options.end() ? std::string() : *found;
}

std::string Given::word(std::string_view name) const {
  const auto found = words_.find(name);
  return found == words_.end() ? std::string() : found->second;
}

void Given::add(const OptionSpec& option, const std::string& word) {
  for (const std::string& name : option.names) {
    words_[name] = word;
  }
  options_.push_back({option.long_name(), option.group, option.effect});
}

namespace {

// Whether a word may be this option. The library compares each option with all before it, which
// would take longer than everything else in a small run.
bool is_named(const OptionSpec& option, std::span<const std::string> words) {
  const auto names = [&words](const std::string& name) {
    return std::ranges::any_of(words, [&name](const std::string& word) {
      return name.starts_with("--") ? word.starts_with(name)
                                    : word.starts_with('-') && word.find(name[1]) != word.npos;
    });
  };
  return option.is_positional() || std::ranges::any_of(option.names, names);
}

// Where several words may stand, the library splits a word in brackets; this suffix prevents it.
constexpr std::string_view kBracketEnd = "]\x1F";

bool takes_apart(const OptionSpec& option) {
  return option.is_positional() && option.times == Times::kMany;
}

std::vector<std::string> without_bracket_ends(std::vector<std::string> words) {
  for (std::string& word : words) {
    if (word.starts_with('[') && word.ends_with(kBracketEnd)) {
      word.pop_back();
    }
  }
  return words;
}

// The words in the form that the library needs: it would also read "--title=" as an option whose
// value comes next. Throws Error{kUsage} for an empty value, unless the value is a text.
std::vector<std::string> words_to_parse(const OptionList& list, std::vector<std::string> words) {
  const bool has_brackets = std::ranges::any_of(list.all(), takes_apart);
  std::vector<std::string> prepared;
  prepared.reserve(words.size());
  bool is_value = false;
  bool has_options = true;
  for (std::string& word : words) {
    has_options = has_options && (is_value || word != "--");
    const bool is_empty = has_options && !is_value && word.starts_with("--") && word.ends_with('=');
    const OptionSpec* const option =
        has_options && !is_value && word.starts_with('-')
            ? list.find(is_empty ? word.substr(0, word.size() - 1) : word)
            : nullptr;
    is_value = option != nullptr && !option->is_flag() && !is_empty;
    if (is_empty && option != nullptr && !option->is_flag()) {
      word.pop_back();
      if (option->value != "TEXT") {
        throw Error(ErrorKind::kUsage, fmt::format("{} needs a value: {}", word, option->value));
      }
      prepared.push_back(std::move(word));
      prepared.emplace_back();
      continue;
    }
    if (has_brackets && word.starts_with('[') && word.ends_with(']')) {
      word.replace(word.size() - 1, 1, kBracketEnd);
    }
    prepared.push_back(std::move(word));
  }
  return prepared;
}

void add(CLI::App& app, const OptionSpec& option) {
  const std::string names = joined_by(option.names, ",");
  if (option.is_flag()) {
    app.add_flag_callback(names, [&option] { option.set({}); });
  } else if (option.times == Times::kMany) {
    app.add_option_function<std::vector<std::string>>(
           names,
           [&option](const std::vector<std::string>& words) {
             option.set(without_bracket_ends(words));
           })
        ->allow_extra_args(takes_apart(option));
  } else {
    CLI::Option* const added = app.add_option_function<std::string>(
        names, [&option](const std::string& word) { option.set(without_bracket_ends({word})); });
    if (option.times == Times::kLastCounts) {
      added->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
  }
}

// The library's messages begin with the option's name.
Error missing_value(const OptionList& list, const std::string& message) {
  const std::string name = message.substr(0, message.find(':'));
  const OptionSpec* const option = list.find(name);
  return {ErrorKind::kUsage, option == nullptr || option->is_flag()
                                 ? message
                                 : fmt::format("{} needs a value: {}", name, option->value)};
}

}  // namespace

void check_relations(const ParsedWords& parsed) {
  const Given& given = parsed.given;
  for (const auto& [option, words] : parsed.options) {
    for (const auto& [others, why] : option->excluded) {
      if (const std::string other = given.first_of(others); !other.empty()) {
        throw Error(ErrorKind::kUsage,
                    fmt::format("{} and {} exclude each other{}", option->long_name(), other, why));
      }
    }
    for (const auto& [others, why] : option->needed) {
      if (given.first_of(others).empty()) {
        throw Error(ErrorKind::kUsage,
                    fmt::format("{} needs {}{}", option->long_name(), joined(others, "or"), why));
      }
    }
  }
}

ParsedWords parse_words(const OptionList& list, std::vector<std::string> words) {
  CLI::App app;  // its own help would shorten, reorder and reword ours
  app.set_help_flag();
  std::vector<const OptionSpec*> options;
  for (const OptionSpec& option : list.all()) {
    if (is_named(option, words)) {
      add(app, option);
      options.push_back(&option);
    }
  }
  ParsedWords parsed;
  try {
    words = words_to_parse(list, std::move(words));
    std::reverse(words.begin(), words.end());  // the library takes them from the back
    app.parse(std::move(words));
  } catch (const Error& error) {
    parsed.error.emplace(error);
  } catch (const CLI::ExtrasError&) {
    parsed.extras = app.remaining();
    const auto mark = std::ranges::find(parsed.extras, "--");
    parsed.n_extras_in_front = static_cast<std::size_t>(mark - parsed.extras.begin());
    if (mark != parsed.extras.end()) {
      parsed.extras.erase(mark);
    }
  } catch (const CLI::ArgumentMismatch& error) {
    parsed.error.emplace(missing_value(list, error.what()));
  } catch (const CLI::ParseError& error) {
    parsed.error.emplace(Error(ErrorKind::kUsage, error.what()));
  }
  for (const OptionSpec* const option : options) {
    const CLI::Option* const found = app.get_option(option->names.front());
    if (found->count() > 0 && !(option->is_flag() && found->results().back() == "false")) {
      std::vector<std::string> results = without_bracket_ends(found->results());
      parsed.given.add(*option, results.back());
      parsed.options.emplace_back(
          option, option->is_flag() ? std::vector<std::string>() : std::move(results));
    }
  }
  return parsed;
}

std::size_t options_end(const OptionList& list, std::span<const std::string> words) {
  std::size_t at = 0;
  while (at < words.size()) {
    const std::string& word = words[at];
    const bool is_long = word.starts_with("--");
    const OptionSpec* const option =
        word.starts_with('-')
            ? list.find(is_long ? word.substr(0, word.find('=')) : word.substr(0, 2))
            : nullptr;
    if (option == nullptr) {
      break;
    }
    const bool has_value = is_long ? word.find('=') != std::string::npos : word.size() > 2;
    at += option->is_flag() || has_value ? 1U : 2U;
  }
  return std::min(at, words.size());
}

}  // namespace attnviz::app
