// Parses words into options; no other source uses the parsing library. Defines OptionSpec and
// OptionList, from which parser, help, man page and completions are made.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
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

/// Which outputs an option affects.
enum class Effect { kEverywhere, kPicture, kTable, kMap };

using OptionNames = std::initializer_list<std::string_view>;

/// One option: its documentation, its setter and its relations to other options.
struct OptionSpec {
  std::vector<std::string> names;  // "-m", "--model", …: short ones first; positional: "TEXT"
  std::string value;               // "FILE", "N", or "a|b|c" for a choice; empty for a flag
  std::string text;
  std::string group;  // empty: not listed in help
  Times times = Times::kOnce;
  std::function<void(const std::vector<std::string>& words)> set;  // a flag: no words
  std::vector<std::string> choices = {};  // for shells to propose, besides those in `value`

  /// Other options, in the form that Given::has() takes, and the reason, which messages append
  /// after the names.
  struct Relation {
    std::vector<std::string> others;
    std::string why;
  };
  std::vector<Relation> excluded = {};  // none of these may be given as well
  std::vector<Relation> needed = {};    // one of each must be given
  Effect effect = Effect::kEverywhere;
  bool is_common = false;  // listed by -h
  /// Parameters of the library's errors that this option sets, and what to type.
  std::vector<std::pair<std::string, std::string>> parameters = {};

  bool is_positional() const { return !names.front().starts_with('-'); }
  bool is_flag() const { return value.empty(); }
  /// "--output", "TEXT".
  const std::string& long_name() const;

  // For definitions: each changes one of the members above.
  OptionSpec& proposes(std::vector<std::string> words);
  OptionSpec& conflicts(OptionNames others, std::string_view why = "");
  OptionSpec& needs(OptionNames others, std::string_view why = "");
  OptionSpec& only_in(Effect where);
  OptionSpec& common();
  /// `to_type`: the long name by default.
  OptionSpec& about(std::string_view parameter, std::string_view to_type = "");
};

/// Options in the order of their definition; a reference to one is valid until the next is added.
/// The setters' targets must outlive the parsing, which throws Error{kUsage} for values out of
/// range.
class OptionList {
 public:
  using Setter = std::function<void(const std::string& word)>;
  using ListSetter = std::function<void(const std::vector<std::string>& words)>;
  using NamedSetter = std::function<void(const std::string& names, const std::string& word)>;

  /// An option with one value; if repeated, the last one counts. `names` are separated by commas.
  OptionSpec& add_value(std::string_view group, std::string_view names, std::string_view value,
                        std::string_view text, const Setter& set);
  /// As above; the value is the word itself, or the result of parse(word) or parse(option, word).
  template <class Value, class Parse = std::identity>
  requires(!std::invocable<Value&, const std::string&>)
      OptionSpec& add_value(std::string_view group, std::string_view names, std::string_view value,
                            std::string_view text, Value& target, const Parse& parse = {}) {
    return add_named(group, names, value, text,
                     [parse, &target](const std::string& option, const std::string& word) {
                       if constexpr (std::invocable<const Parse&, const std::string&>) {
                         target = static_cast<Value>(parse(word));
                       } else {
                         target = static_cast<Value>(parse(option, word));
                       }
                     });
  }
  /// As above, for the words of a table (core/choices.h), from which they are parsed, checked and
  /// listed.
  template <class Choices, class Value>
  OptionSpec& add_choice(std::string_view group, std::string_view name, const Choices& choices,
                         std::string_view text, Value& value) {
    return add_named(group, name, joined_choices(choices), text,
                     [choices, &value](const std::string& option, const std::string& word) {
                       value = parse_choice(option, word, choices);
                     });
  }
  /// An option that may be repeated.
  OptionSpec& add_list(std::string_view group, std::string_view names, std::string_view value,
                       std::string_view text, const ListSetter& set);
  template <class Value>
  OptionSpec& add_list(std::string_view group, std::string_view names, std::string_view value,
                       std::string_view text, std::vector<Value>& target) {
    return add_list(group, names, value, text, [&target](const std::vector<std::string>& words) {
      target.assign(words.begin(), words.end());
    });
  }
  OptionSpec& add_flag(std::string_view group, std::string_view names, std::string_view text,
                       bool& flag);
  /// A flag that calls `set`; by default, Given only records that it was given.
  OptionSpec& add_flag(
      std::string_view group, std::string_view names, std::string_view text,
      const std::function<void()>& set = [] {});
  /// A size of a model; whether it fits in memory is checked later, together with the other sizes.
  /// `hint` is appended to the error about an invalid word.
  OptionSpec& add_size(std::string_view name, std::string_view text,
                       const std::function<void(std::size_t size)>& set,
                       std::string_view hint = "");
  /// A positional argument.
  template <class Value>
  OptionSpec& add_positional(std::string_view name, std::optional<Value>& target) {
    return add_positional(name, [&target](const std::string& word) { target = word; });
  }
  OptionSpec& add_positional(
      std::string_view name, const Setter& set = [](const std::string& /*word*/) {});

  /// Any number of positional arguments.
  template <class Value>
  OptionSpec& add_positionals(std::string_view name, std::vector<Value>& target) {
    return add_positional_list(name, [&target](const std::vector<std::string>& words) {
      target.assign(words.begin(), words.end());
    });
  }

  /// An option that was added before, to change what differs in one command.
  OptionSpec& row(std::string_view name);
  const std::vector<OptionSpec>& all() const noexcept { return options_; }
  /// Null if no option has this name.
  const OptionSpec* find(std::string_view name) const;

 private:
  OptionSpec& add_named(std::string_view group, std::string_view names, std::string_view value,
                        std::string_view text, const NamedSetter& set);
  OptionSpec& add_positional_list(std::string_view name, const ListSetter& set);

  std::vector<OptionSpec> options_;
};

/// An option that was given, for later checks.
struct GivenOption {
  std::string name;  // its long name
  std::string group;
  Effect effect;
};

/// The options on a command line: the last value of each, under each of its names.
class Given {
 public:
  /// `option`: "--style", or with a word that must be its last value: "--style mask".
  bool has(std::string_view option) const;
  /// Empty for a flag and for an option that was not given.
  std::string word(std::string_view name) const;
  /// The first of `options` that was given; empty if none was.
  std::string first_of(std::span<const std::string> options) const;
  const std::vector<GivenOption>& options() const noexcept { return options_; }
  void add(const OptionSpec& option, const std::string& word);

 private:
  std::map<std::string, std::string, std::less<>> words_;
  std::vector<GivenOption> options_;
};

/// The parsed words of a command line. After an error some setters have not run.
struct ParsedWords {
  Given given;
  /// Options and the words of each, in the order of the list.
  std::vector<std::pair<const OptionSpec*, std::vector<std::string>>> options;
  std::vector<std::string> extras;    // words that no option takes, without the "--"
  std::size_t n_extras_in_front = 0;  // those before "--": only these may be options
  std::optional<AdviceError> error;   // the first mistake other than an extra word
};

/// Throws Error{kUsage} for options that exclude each other, and for options without those they
/// need.
void check_relations(const ParsedWords& parsed);

ParsedWords parse_words(const OptionList& list, std::vector<std::string> words);

/// The index of the first word that is neither an option of the list nor the value of one.
std::size_t options_end(const OptionList& list, std::span<const std::string> words);

}  // namespace attnviz::app
