#include "options/command_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/suggest.h"
#include "options/help.h"
#include "options/option_definitions.h"

namespace attnviz::app {

namespace {

struct Example {
  const char* command;
  const char* text;
};

// One command; `build` binds fresh options to a parser and hands back what reads them out.
struct CommandEntry {
  const char* name;
  const char* summary;
  const char* usage;
  std::vector<Example> examples;
  std::function<std::function<Command()>(CLI::App&)> build;
};

// Binds a command's options; what it returns checks and hands over the values after parsing.
template <class Options, class Checked>
auto builder(void (*define)(CLI::App&, Options&), void (*check)(const CLI::App&, Checked&)) {
  return [define, check](CLI::App& app) -> std::function<Command()> {
    auto options = std::make_shared<Options>();
    define(app, *options);
    return [&app, check, options]() -> Command {
      check(app, *options);
      return std::move(*options);
    };
  };
}

// Of a command whose options cannot contradict each other.
template <class Options>
auto builder(void (*define)(CLI::App&, Options&)) {
  return builder(
      define, +[](const CLI::App& /*app*/, Options& /*options*/) {});
}

const std::vector<CommandEntry>& commands() {
  static const std::vector<CommandEntry> entries = {
      {"show",
       "draw where each token of a text looks (the default command)",
       "attnviz [show] [OPTIONS] TEXT",
       {{"attnviz \"The cat sat on the mat\"", "the attention of the embedded demo model"},
        {"attnviz -m w.json \"The cat sat\"", "the attention of your own weights"},
        {"attnviz -m gpt2 \"The cat sat\" --head 5.1", "one head of a model on this machine"},
        {"attnviz --random \"The cat sat\"", "random weights, which mean nothing"},
        {"attnviz \"The cat sat\" -o cat.png", "draw, and write a picture"},
        {"attnviz --json \"The cat sat\"", "the numbers, as JSON"},
        {"attnviz --lines --json < texts.txt", "one JSON document a line"}},
       builder(define_show, check_show)},
      {"inspect",
       "follow one query through every step, number by number",
       "attnviz inspect [OPTIONS] TEXT",
       {{"attnviz inspect \"The cat sat\"", "the demo model's most telling head"},
        {"attnviz inspect \"The cat sat\" --query cat --explain", "a sentence a step"},
        {"attnviz inspect \"The cat sat\" --step softmax", "one step"},
        {"attnviz inspect -m w.json \"The cat sat\" --head 0.1", "your own weights"},
        {"attnviz inspect \"The cat sat\" -o steps.png", "all steps as one figure"}},
       builder(define_inspect, check_inspect)},
      {"render",
       "draw attention that any tool computed, from JSON or NumPy",
       "attnviz render [OPTIONS] FILE",
       {{"attnviz render cat.json", "what --json or -o cat.json wrote"},
        {"attnviz render pattern.npy -o pattern.png",
         "[q, k], [head, q, k] or [layer, head, q, k]"},
        {"attnviz render a.json --tokens \"The cat sat\"", "a nested list, with its tokens"},
        {"attnviz render cat.json --head 0.2 --scale log", "one head, drawn otherwise"}},
       builder(define_render, check_render)},
      {"tokenize",
       "cut a text into tokens and print them",
       "attnviz tokenize [OPTIONS] TEXT",
       {{"attnviz tokenize \"The cat sat\"", "tokens, ids and byte ranges"},
        {"attnviz tokenize --tokenizer chars \"hello\"", "characters"},
        {"attnviz tokenize --json --lines < texts.txt", "one JSON document a line"}},
       builder(define_tokenize, check_tokenize)},
      {"info",
       "tell what is in a model: sizes, parameters, memory",
       "attnviz info [OPTIONS] [FILE]",
       {{"attnviz info", "the embedded demo model"},
        {"attnviz info -m gpt2", "a model by name, as attnviz models lists them"},
        {"attnviz info path/to/model", "a folder, or a file of weights"},
        {"attnviz info --d-model 12288 --heads 96 --layers 96", "GPT-3, in numbers"},
        {"attnviz info -m gpt2 --json", "the numbers, as JSON"}},
       builder(define_info, check_info)},
      {"models",
       "list the models on this machine that -m NAME finds",
       "attnviz models [OPTIONS]",
       {{"attnviz models", "the embedded one, and those of other programs"},
        {"attnviz models --json", "with the paths of their files"}},
       builder(define_models, check_models)},
      {"weights",
       "write random weights as JSON, a template to edit",
       "attnviz weights [OPTIONS]",
       {{"attnviz weights -o w.json", "4 heads of width 16"},
        {"attnviz weights --heads 2 --d-model 8", "a small one, to read"}},
       builder(define_weights, check_weights)},
      {"tour",
       "learn what attention is, in six short screens",
       "attnviz tour [OPTIONS] [TEXT]",
       {{"attnviz tour", "Enter goes on, b back, q leaves"},
        {"attnviz tour \"The dog saw the boy and it ran away\"", "with your own sentence"},
        {"attnviz tour --all", "everything at once, to read or to print"}},
       builder(define_tour)},
  };
  return entries;
}

// CLI11 would shorten, reorder and word things its own way.
std::unique_ptr<CLI::App> make_app() {
  auto app = std::make_unique<CLI::App>();
  app->set_help_flag();
  return app;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) {
    names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    names.push_back("--" + name);
  }
  return names;
}

CommandDescription describe(const CommandEntry& entry) {
  const auto app = make_app();
  const auto take = entry.build(*app);
  define_help(*app);
  CommandDescription description{entry.name, entry.summary, entry.usage, {}, {}};
  for (const Example& example : entry.examples) {
    description.examples.push_back({example.command, example.text});
  }
  for (const char* group : kOptionGroups) {
    for (const CLI::Option* option : std::as_const(*app).get_options()) {
      if (option->get_group() == group && option->nonpositional()) {
        const bool is_flag = option->get_items_expected_max() == 0;
        description.options.push_back({names_of(*option),
                                       is_flag ? std::string() : option->get_type_name(),
                                       option->get_description(), group});
      }
    }
  }
  return description;
}

[[noreturn]] void fail_unknown_option(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (std::string& name : names_of(*option)) {
      known.push_back(std::move(name));
    }
  }
  const std::string name = word.substr(0, word.find('='));
  const bool is_long = name.starts_with("--");
  std::string hint = is_long ? did_you_mean(name, known) : std::string();
  for (const CommandEntry& entry : commands()) {
    const auto other = make_app();
    const auto take = entry.build(*other);
    if (hint.empty() && other->get_option_no_throw(name) != nullptr) {
      hint = fmt::format("; it belongs to attnviz {}", entry.name);
    }
  }
  if (hint.empty()) {
    hint = fmt::format("; a TEXT that begins with - goes behind --: attnviz -- \"{}\"", word);
  }
  throw Error(ErrorKind::kUsage, fmt::format("unknown option {}{}", name, hint));
}

[[noreturn]] void fail_two_texts(const CLI::App& app, const CommandEntry& entry) {
  const std::string first = app[kText]->as<std::string>();
  const std::string second = app[kSecondText]->as<std::string>();
  const auto names = command_names();
  std::string hint;
  if (std::find(names.begin(), names.end(), first) != names.end()) {
    hint = fmt::format("; the command comes first: attnviz {} …", first);
  } else if (&entry == &commands().front()) {
    hint = did_you_mean(first, names);
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("more than one TEXT, \"{}\" and \"{}\"{}\nquote the sentence, as in: "
                          "attnviz \"The cat sat\"",
                          first, second, hint));
}

// CLI11's messages begin with the option's name.
[[noreturn]] void fail_missing_value(const CLI::App& app, const std::string& message) {
  const std::string name = message.substr(0, message.find(':'));
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr || option->get_type_name().empty()) {
    throw Error(ErrorKind::kUsage, message);
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("{} needs a value: {}", name, option->get_type_name()));
}

void parse(CLI::App& app, const CommandEntry& entry, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ExtrasError&) {
    const auto extras = app.remaining();
    const auto option = std::find_if(extras.begin(), extras.end(), [](const std::string& word) {
      return word.size() > 1 && word.starts_with('-');
    });
    if (option != extras.end()) {
      fail_unknown_option(app, *option);
    }
    if (app.get_option_no_throw(kText) == nullptr) {
      const char* takes = app.get_option_no_throw(kFile) == nullptr ? "no TEXT" : "one FILE";
      throw Error(ErrorKind::kUsage,
                  fmt::format("{} takes {}, found \"{}\"", entry.name, takes, extras.front()));
    }
  } catch (const CLI::ArgumentMismatch& error) {
    fail_missing_value(app, error.what());
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::kUsage, error.what());
  }
  if (app.get_option_no_throw(kSecondText) != nullptr && app.count(kSecondText) > 0) {
    fail_two_texts(app, entry);
  }
}

}  // namespace

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandEntry& entry : commands()) {
    names.emplace_back(entry.name);
  }
  return names;
}

Command parse_command_line(std::vector<std::string> arguments) {
  const CommandEntry* entry = &commands().front();
  if (!arguments.empty()) {
    for (const CommandEntry& candidate : commands()) {
      if (arguments.front() == candidate.name) {
        entry = &candidate;
        arguments.erase(arguments.begin());
        break;
      }
    }
  }
  const auto app = make_app();
  const auto take = entry->build(*app);
  define_help(*app);
  const auto asked = [&]() -> std::optional<Command> {
    if (app->count("--help") > 0) {
      return PrintText{help_text(describe_commands(), entry->name)};
    }
    if (app->count("--version") > 0) {
      return PrintText{"attnviz " ATTNVIZ_VERSION "\n"};
    }
    return std::nullopt;
  };
  try {
    parse(*app, *entry, std::move(arguments));
    auto printed = asked();
    return printed ? std::move(*printed) : take();
  } catch (const Error&) {
    if (auto printed = asked()) {
      return std::move(*printed);
    }
    throw;
  }
}

std::vector<CommandDescription> describe_commands() {
  std::vector<CommandDescription> descriptions;
  for (const CommandEntry& entry : commands()) {
    descriptions.push_back(describe(entry));
  }
  return descriptions;
}

}  // namespace attnviz::app
