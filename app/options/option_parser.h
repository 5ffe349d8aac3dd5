// Words to options: the only source that knows the parsing library. The options of a command,
// described: parser, help, man page and completions are made from these.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "options/advice.h"
#include "options/option_values.h"

namespace attnviz::app {

/// How often an option may stand on the command line.
enum class Times { kOnce, kLastCounts, kMany };

/// One option: what is said of it, and what is done with its words.
struct OptionSpec {
  std::vector<std::string> names;  // "-m", "--model", …: short ones first; "TEXT" of a positional
  std::string value;               // "FILE", "N", or "a|b|c" for a choice; empty for a flag
  std::string text;
  std::string group;  // empty for what help does not list
  Times times = Times::kOnce;
  std::function<void(const std::vector<std::string>& words)> set;  // of a flag: no words
  std::vector<std::string> choices = {};  // for shells to propose, besides those of `value`

  bool is_positional() const { return !names.front().starts_with('-'); }
  bool is_flag() const { return value.empty(); }
};

/// Options in the order of their definition. What their setters fill must outlive the parsing;
/// values out of range throw Error{kUsage} from it.
class OptionList {
 public:
  using Setter = std::function<void(const std::string& word)>;
  using ListSetter = std::function<void(const std::vector<std::string>& words)>;

  /// An option with one value; given twice, the last counts. `names` with commas between them.
  void add_value(const char* group, const std::string& names, const std::string& value,
                 const std::string& text, const Setter& set);
  /// The same for a value that is the word, or what `parse` makes of it: parse(word) or
  /// parse(option, word).
  template <class Value, class Parse = std::identity>
  requires(!std::invocable<Value&, const std::string&>) void add_value(
      const char* group, const std::string& names, const std::string& value,
      const std::string& text, Value& target, const Parse& parse = {}) {
    add_value(group, names, value, text, [names, parse, &target](const std::string& word) {
      if constexpr (std::invocable<const Parse&, const std::string&>) {
        target = static_cast<Value>(parse(word));
      } else {
        target = static_cast<Value>(parse(names, word));
      }
    });
  }
  /// The same for the words of a table (core/choices.h): parsed, checked and listed from it.
  template <class Choices, class Value>
  void add_choice(const char* group, const std::string& name, const Choices& choices,
                  const std::string& text, Value& value) {
    add_value(group, name, joined_choices(choices), text, value,
              [choices](const std::string& option, const std::string& word) {
                return parse_choice(option, word, choices);
              });
  }
  /// An option that may be repeated.
  void add_list(const char* group, const std::string& names, const std::string& value,
                const std::string& text, const ListSetter& set);
  template <class Value>
  void add_list(const char* group, const std::string& names, const std::string& value,
                const std::string& text, std::vector<Value>& target) {
    add_list(group, names, value, text, [&target](const std::vector<std::string>& words) {
      target.assign(words.begin(), words.end());
    });
  }
  void add_flag(const char* group, const std::string& names, const std::string& text, bool& flag);
  /// A flag that does something; by default it is only asked whether it was given.
  void add_flag(
      const char* group, const std::string& names, const std::string& text,
      const std::function<void()>& set = [] {});
  /// A size of a model; what fits in memory is checked later, with the other sizes.
  void add_size(const std::string& name, const std::string& text,
                const std::function<void(std::size_t size)>& set);
  /// A word without an option's name before it.
  template <class Value>
  void add_positional(const std::string& name, std::optional<Value>& target) {
    add_positional(name, [&target](const std::string& word) { target = word; });
  }
  void add_positional(
      const std::string& name, const Setter& set = [](const std::string& /*word*/) {});

  /// Any number of words without options' names before them.
  template <class Value>
  void add_positionals(const std::string& name, std::vector<Value>& target) {
    options_.push_back({{name}, name, "", "", Times::kMany, [&target](const auto& words) {
                          target.assign(words.begin(), words.end());
                        }});
  }

  /// What shells propose for the option that was added last.
  void propose(std::vector<std::string> choices) { options_.back().choices = std::move(choices); }

  const std::vector<OptionSpec>& all() const noexcept { return options_; }
  /// Null when no option has this name.
  const OptionSpec* find(std::string_view name) const;

 private:
  std::vector<OptionSpec> options_;
};

/// What a command line gave: the last word of each option, under each of its names.
class Given {
 public:
  bool has(std::string_view name) const { return words_.find(name) != words_.end(); }
  /// Empty for a flag and for what was not given.
  std::string word(std::string_view name) const;
  void add(const OptionSpec& option, const std::string& word);

 private:
  std::map<std::string, std::string, std::less<>> words_;
};

/// What became of the words of a command line. With an error some setters have not run.
struct ParsedWords {
  Given given;
  /// Options and the words for each, in the order of the list.
  std::vector<std::pair<const OptionSpec*, std::vector<std::string>>> options;
  std::vector<std::string> extras;    // words that nothing takes, without the "--"
  std::size_t n_extras_in_front = 0;  // of that: only these may be options
  std::optional<AdviceError> error;   // the first mistake that is not an extra word
};

ParsedWords parse_words(const OptionList& list, std::vector<std::string> words);

/// The first of the words that is neither an option of the list nor the value of one.
std::size_t options_end(const OptionList& list, std::span<const std::string> words);

}  // namespace attnviz::app
