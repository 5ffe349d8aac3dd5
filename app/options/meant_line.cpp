#include "options/meant_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/model/hugging_face.h"
#include "options/option_definitions.h"
#include "options/shell_words.h"

namespace attnviz::app {

namespace {

using Words = std::vector<std::string>;

// What a line is made of anew: options in the order of the list, texts behind the command.
struct Retyped {
  Words texts = {};
  Words more = {};                            // behind everything
  std::span<const char* const> without = {};  // options left out
  std::optional<std::string> command = {};    // another one
  bool model_alone = false;                   // no other option is taken over
};

bool has_space(const std::string& word) {
  return word.find(' ') != std::string::npos;
}

// As people type it: short where it can be.
const std::string& typed_name(const OptionSpec& option) {
  const bool is_short = !option.names.front().starts_with("--");
  return is_short ? option.names.front() : option.names.back();
}

bool is_model_option(const OptionSpec& option) {
  return option.names.front() == "-m";
}

std::string retyped(const TypedLine& line, const Retyped& how) {
  const std::string command = how.command.value_or(line.command);
  std::string typed = "attnviz";
  const auto add = [&typed](const std::string& word) { typed += " " + typed_word(word); };
  if (!command.empty()) {
    add(command);
  }
  // Texts that would be read as options, or as the command.
  const bool has_dash = std::ranges::any_of(how.texts, [&](const std::string& text) {
    return (text.starts_with('-') && text != "-") ||
           (command.empty() &&
            std::ranges::find(line.commands, text, &KnownCommand::name) != line.commands.end());
  });
  const auto add_options = [&] {
    for (const auto& [option, words] : line.parsed.options) {
      const std::string& name = typed_name(*option);
      if (option->is_positional() || std::ranges::find(how.without, name) != how.without.end() ||
          (how.model_alone && !is_model_option(*option))) {
        continue;
      }
      for (const std::string& word : words) {
        add(name);
        add(word);
      }
      if (option->is_flag()) {
        add(name);
      }
    }
  };
  // A model reads best before the text, all else behind it.
  if (!has_dash && !how.more.empty() && how.more.front() == "-m") {
    std::ranges::for_each(how.more, add);
    std::ranges::for_each(how.texts, add);
    add_options();
    return typed;
  }
  if (!has_dash) {
    std::ranges::for_each(how.texts, add);
  }
  add_options();
  std::ranges::for_each(how.more, add);
  if (has_dash) {
    add("--");
    std::ranges::for_each(how.texts, add);
  }
  return typed;
}

Words texts_of(const TypedLine& line) {
  Words texts;
  for (const char* name : {kText, kSecondText}) {
    if (line.parsed.given.has(name)) {
      texts.push_back(line.parsed.given.word(name));
    }
  }
  texts.insert(texts.end(), line.parsed.extras.begin(), line.parsed.extras.end());
  return texts;
}

// One word of `texts`, and what the others are.
struct Split {
  std::string word;
  Words rest;
};

// The word that stands before a text, or behind one that is a sentence.
std::vector<Split> splits_of(const Words& texts) {
  std::vector<Split> splits = {{texts.front(), Words(texts.begin() + 1, texts.end())}};
  if (texts.size() == 2 && has_space(texts.front())) {
    splits.push_back({texts.back(), {texts.front()}});
  }
  return splits;
}

// Values that many texts have, for a line that can be tried; a choice has its own words.
struct ExampleValue {
  std::string_view option;
  const char* value;
};
constexpr std::array kExampleValues = {
    ExampleValue{"--ablate", "0.0"},   ExampleValue{"--cell", "20"},
    ExampleValue{"--dpi", "192"},      ExampleValue{"--dropout", "0.1"},
    ExampleValue{"--focus", "-1"},     ExampleValue{"--generate", "10"},
    ExampleValue{"--head", "0.0"},     ExampleValue{"--layer", "0"},
    ExampleValue{"--layers", "2"},     ExampleValue{"--predict", "5"},
    ExampleValue{"--query", "-1"},     ExampleValue{"--range", "auto"},
    ExampleValue{"--residual", "0.5"}, ExampleValue{"--seed", "42"},
    ExampleValue{"--step", "softmax"}, ExampleValue{"--temperature", "2"},
    ExampleValue{"--top", "5"},        ExampleValue{"--threads", "1"}};

std::optional<std::string> example_value(const OptionSpec& option) {
  const auto found = std::ranges::find(kExampleValues, option.names.back(), &ExampleValue::option);
  if (found != kExampleValues.end()) {
    return found->value;
  }
  const std::vector<std::string_view> choices = list_parts(option.value, '|');
  const auto is_word = [](std::string_view choice) {
    return choice != "auto" &&
           choice.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string_view::npos;
  };
  const auto choice = std::ranges::find_if(choices, is_word);
  return choice == choices.end() ? std::nullopt : std::optional<std::string>(*choice);
}

// What `split` means where its word is the name of this option.
std::optional<Retyped> as_option(const OptionSpec& option, const Split& split) {
  const std::string& name = typed_name(option);
  const Words& rest = split.rest;
  if (option.is_flag()) {
    return rest.size() == 1 ? std::optional(Retyped{.texts = rest, .more = {name}}) : std::nullopt;
  }
  if (rest.size() == 2 && has_space(rest[0]) != has_space(rest[1])) {
    const bool is_second = has_space(rest[1]);
    return Retyped{.texts = {rest[is_second ? 1 : 0]}, .more = {name, rest[is_second ? 0 : 1]}};
  }
  if (rest.size() != 1) {
    return std::nullopt;
  }
  if (option.value == "FILE" && !has_space(rest.front())) {
    return name == "-f" ? Retyped{.more = {name, rest.front()}}
                        : Retyped{.texts = {"The cat sat"}, .more = {name, rest.front()}};
  }
  const std::optional<std::string> value = example_value(option);
  return value ? std::optional(Retyped{.texts = rest, .more = {name, *value}}) : std::nullopt;
}

// The option of the command, or where none was typed of any, that a word names without its dashes.
std::optional<std::string> option_line(const TypedLine& line, const Split& split) {
  const std::string name = "--" + split.word;
  if (name == "--help" || name == "--version") {
    return std::nullopt;
  }
  if (const OptionSpec* const own = line.options.find(name); own != nullptr) {
    const auto meant = as_option(*own, split);
    return meant ? std::optional(retyped(line, *meant)) : std::nullopt;
  }
  for (const KnownCommand& command : line.commands) {
    const OptionList options = command.options();
    const OptionSpec* const option = options.find(name);
    if (!line.command.empty() || option == nullptr || options.find(kText) == nullptr) {
      continue;
    }
    if (auto meant = as_option(*option, split)) {
      meant->command = command.name;
      return retyped(line, *meant);
    }
  }
  return std::nullopt;
}

bool takes_text(const KnownCommand& command) {
  return command.options().find(kText) != nullptr;
}

// The options that choose among heads by the number of one, and the sizes that sound alike.
struct SoundAlike {
  const char* size;
  const char* choice;
};
constexpr std::array kAlike = {SoundAlike{"--layers", "--layer"}, SoundAlike{"--heads", "--head"}};

std::string line_with_choice(const TypedLine& line, const SoundAlike& alike) {
  const std::array without = {alike.size};
  return retyped(line, {.texts = texts_of(line),
                        .more = {alike.choice, line.parsed.given.word(alike.size)},
                        .without = without});
}

// "2.1", "L2H1", "0,2", "1-3", "*": what select_heads takes, and no size.
bool is_choice_of_heads(const std::string& word) {
  return word.find_first_of(".,-*LH") != std::string::npos &&
         word.find_first_of("0123456789") != std::string::npos && !word.starts_with('-') &&
         word.find_first_not_of("0123456789.,-*LH") == std::string::npos;
}

}  // namespace

void fail_two_texts(const TypedLine& line, const NamesModel& names_model) {
  const Words texts = texts_of(line);
  const auto fail = [&texts](const std::string& meant, Words lines) {
    throw AdviceError(ErrorKind::kUsage,
                      {fmt::format("more than one TEXT, {} and {}{}:", attnviz::quoted(texts[0]),
                                   attnviz::quoted(texts[1]), meant),
                       std::move(lines)});
  };
  const bool has_model = line.parsed.given.has("--model");
  for (const Split& split : splits_of(texts)) {
    const bool is_beside = split.rest.size() == 1 && has_space(split.rest.front());
    if (!has_model && line.options.find("-m") != nullptr && !has_space(split.word) &&
        names_model(split.word, is_beside)) {
      const Words text = {fmt::format("{}", fmt::join(split.rest, " "))};
      fail("; a model goes behind -m",
           {retyped(line, {.texts = text, .more = {"-m", split.word}})});
    }
    if (const auto meant = option_line(line, split)) {
      fail(fmt::format("; {} is an option", split.word), {*meant});
    }
  }
  for (const KnownCommand& command : line.commands) {
    if (texts.size() == 2 && takes_text(command)) {
      for (const std::size_t at : {1U, 0U}) {
        if (texts[at] == command.name) {
          fail("; the command comes first",
               {retyped(line, {.texts = {texts[1 - at]}, .command = command.name})});
        }
      }
    }
  }
  if (std::ranges::all_of(texts, has_space)) {
    std::string how;
    Words lines;
    if (texts.size() == 2) {
      how = "; to compare them";
      lines.push_back(retyped(line, {.texts = texts, .command = "diff", .model_alone = true}));
    }
    if (line.options.find("--lines") != nullptr) {
      std::string words;
      for (const std::string& text : texts) {
        words += " " + typed_word(text);
      }
      how += how.empty() ? "; one after the other" : ", or one after the other";
      lines.push_back(
          fmt::format("printf '%s\\n'{} | {}", words, retyped(line, {.more = {"--lines"}})));
    }
    fail(how, std::move(lines));
  }
  std::string meant;
  Words lines;
  if (line.command.empty()) {
    Words names;
    for (const KnownCommand& command : line.commands) {
      names.push_back(command.name);
    }
    if (const auto name = closest_word(texts.front(), names)) {
      const auto command = std::ranges::find(line.commands, *name, &KnownCommand::name);
      meant = did_you_mean(texts.front(), names);
      if (takes_text(*command) && texts.size() == 2) {
        lines.push_back(retyped(line, {.texts = {texts[1]}, .command = *name}));
      }
    }
  }
  meant += lines.empty() ? "; quote the sentence" : "; or quote the sentence";
  lines.push_back(retyped(line, {.texts = {fmt::format("{}", fmt::join(texts, " "))}}));
  fail(meant, std::move(lines));
  throw Error(ErrorKind::kUsage, meant);  // not reached
}

void check_options_in_front(const TypedLine& line, const std::vector<std::string>& words) {
  if (line.parsed.extras.empty() && !line.parsed.given.has(kSecondText)) {
    return;
  }
  const auto option_of = [&line](const std::string& word) {
    return line.options.find(std::string_view(word).substr(0, word.find('=')));
  };
  // The value of an option may be "--", too.
  auto mark = words.begin();
  while (mark != words.end() && *mark != "--") {
    const OptionSpec* const option = mark->starts_with('-') ? line.options.find(*mark) : nullptr;
    const bool has_value = option != nullptr && !option->is_flag();
    mark += has_value && mark + 1 != words.end() ? 2 : 1;
  }
  if (mark == words.end()) {
    return;
  }
  Words typed = {"attnviz"};
  if (!line.command.empty()) {
    typed.push_back(line.command);
  }
  typed.insert(typed.end(), words.begin(), mark);
  Words texts;
  std::string first;  // of the options behind it
  for (auto word = mark + 1; word != words.end(); ++word) {
    const OptionSpec* const option = word->starts_with('-') ? option_of(*word) : nullptr;
    if (option == nullptr) {
      texts.push_back(*word);
      continue;
    }
    first = first.empty() ? *word : first;
    typed.push_back(*word);
    if (!option->is_flag() && word->find('=') == std::string::npos) {
      if (word + 1 == words.end()) {
        return;  // no line that could be typed
      }
      typed.push_back(*++word);
    }
  }
  if (first.empty()) {
    return;
  }
  if (!texts.empty()) {
    typed.emplace_back("--");
    typed.insert(typed.end(), texts.begin(), texts.end());
  }
  std::string to_type = typed.front();
  for (const std::string& word : std::span(typed).subspan(1)) {
    to_type += " " + typed_word(word);
  }
  throw AdviceError(ErrorKind::kUsage, {fmt::format("{} behind -- is a text; options go before --:",
                                                    attnviz::quoted(first)),
                                        {std::move(to_type)}});
}

void check_lone_word(const TypedLine& line) {
  const Words texts = texts_of(line);
  if (!line.command.empty() || texts.size() != 1) {
    return;
  }
  for (const KnownCommand& command : line.commands) {
    if (texts.front() == command.name + "s") {
      throw AdviceError(ErrorKind::kUsage,
                        {fmt::format("{} is no command (did you mean attnviz {}?); as a text:",
                                     texts.front(), command.name),
                         {retyped(line, {.texts = texts, .command = "show"})}});
    }
  }
}

void check_sizes_meant(const TypedLine& line) {
  const Given& given = line.parsed.given;
  for (const SoundAlike& alike : kAlike) {
    if (!given.has(alike.size) || line.options.find(alike.choice) == nullptr ||
        given.has(alike.choice)) {
      continue;
    }
    const std::string word = given.word(alike.size);
    if (line.parsed.error && is_choice_of_heads(word)) {
      throw AdviceError(
          ErrorKind::kUsage,
          {fmt::format("{}; {} chooses among them:", line.parsed.error->what(), alike.choice),
           {line_with_choice(line, alike)}});
    }
    if (!line.parsed.error && given.has("--model")) {
      throw AdviceError(
          ErrorKind::kUsage,
          {fmt::format("{} shapes random weights; with --model the model does; {} chooses:",
                       alike.size, alike.choice),
           {line_with_choice(line, alike)}});
    }
  }
}

Advice choice_meant(const TypedLine& line) {
  const Given& given = line.parsed.given;
  if (given.has("--quiet")) {
    return {};  // nobody would be told, and the model takes time to read
  }
  constexpr std::array kOfRandom = {"--random", "--seed",     "--layers",
                                    "--heads",  "--kv-heads", "--d-model",
                                    "--d-head", "--d-value",  "--positions"};
  const auto n_given =
      std::ranges::count_if(kOfRandom, [&given](const char* option) { return given.has(option); });
  for (const SoundAlike& alike : kAlike) {
    if (n_given != 1 || !given.has(alike.size)) {
      continue;
    }
    const Model model = demo_model();
    const bool is_layer = &alike == &kAlike.front();
    const std::size_t n = is_layer ? model.n_layers() : model.first_attention().heads.size();
    const auto number = parse_number<std::size_t>(given.word(alike.size));
    if (number && *number < n && line.options.find(alike.choice) != nullptr &&
        !given.has("--layer") && !given.has("--head")) {
      return {fmt::format("to choose among the demo model's heads: {} {}", alike.choice,
                          given.word(alike.size)),
              {line_with_choice(line, alike)}};
    }
  }
  return {};
}

}  // namespace attnviz::app
