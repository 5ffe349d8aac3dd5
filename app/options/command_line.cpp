#include "options/command_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "options/advice.h"
#include "options/option_groups.h"
#include "options/option_parser.h"

namespace attnviz::app {

namespace {

// One command; `build` binds fresh options to a list and returns the function that reads them.
struct CommandEntry {
  CommandDescription description;  // without the options
  std::function<std::function<Command(const Given&)>(OptionList&)> build;
};

// Binds a command's options; the returned function checks and hands over the values after parsing.
template <class Options, class Checked>
auto builder(void (*define)(OptionList&, Options&), void (*check)(const Given&, Checked&)) {
  return [define, check](OptionList& list) -> std::function<Command(const Given&)> {
    auto options = std::make_shared<Options>();
    define(list, *options);
    return [check, options](const Given& given) -> Command {
      check(given, *options);
      return std::move(*options);
    };
  };
}

// For a command whose options cannot contradict each other.
template <class Options>
auto builder(void (*define)(OptionList&, Options&)) {
  return builder(
      define, +[](const Given& /*given*/, Options& /*options*/) {});
}

const std::vector<CommandEntry>& commands() {
  static const std::vector<CommandEntry> entries = {
      {{"show",
        "draw which tokens each token of a text looks at (the default command)",
        "attnviz [show] [OPTIONS] TEXT",
        {{"attnviz \"The cat sat on the mat\"", "the attention of the embedded demo model"},
         {"attnviz -m w.json \"The cat sat\"", "the attention of your own weights"},
         {"attnviz -m gpt2 \"The cat sat\" --head 5.1", "one head of a model on this machine"},
         {"attnviz --random \"The cat sat\"", "random weights: the pattern means nothing"},
         {"attnviz \"The cat sat\" -o cat.png", "draw, and write a picture"},
         {"attnviz --json \"The cat sat\"", "the numbers, as JSON"},
         {"attnviz --lines --json < texts.txt", "one JSON document per line"}},
        {}},
       builder(define_show, check_show)},
      {{"inspect",
        "follow one query through every step, number by number",
        "attnviz inspect [OPTIONS] TEXT",
        {{"attnviz inspect \"The cat sat\"", "the demo model's most informative head"},
         {"attnviz inspect \"The cat sat\" --query cat --explain",
          "with a sentence about each step"},
         {"attnviz inspect \"The cat sat\" --step softmax", "one step"},
         {"attnviz inspect -m w.json \"The cat sat\" --head 0.1", "your own weights"},
         {"attnviz inspect \"The cat sat\" -o steps.png", "all steps as one figure"}},
        {}},
       builder(define_inspect, check_inspect)},
      {{"heads",
        "score and name every head: previous-token, induction, duplicate-token, sink",
        "attnviz heads [OPTIONS] [TEXT | FILE]",
        {{"attnviz heads", "the demo model's heads, on texts of repeated random tokens"},
         {"attnviz heads -m gpt2 --sort induction", "induction heads first"},
         {"attnviz heads -m gpt2 \"The cat sat\"", "their scores on a text"},
         {"attnviz heads - < text.txt", "a text from standard input (the - is required)"},
         {"attnviz heads -m gpt2 --score induction -o map.png", "layers and heads as a picture"},
         {"attnviz heads -m gpt2 --expect \"5.5 induction\"",
          "exit with code 5 unless it is an induction head"},
         {"attnviz heads cat.json --json", "attention computed by any tool"}},
        {}},
       builder(define_heads, check_heads)},
      {{"why",
        "find which tokens, heads and layers made the model predict a token",
        "attnviz why [OPTIONS] TEXT",
        {{"attnviz why \"Harry Potter is a wizard. Harry\"", "the most probable next token"},
         {"attnviz why \"Harry Potter is a wizard. Harry\" --toward \" Potter\" --versus \" is\"",
          "one token compared with another"},
         {"attnviz why -m gpt2 \"The cat sat on the\" --lens", "only one part"},
         {"attnviz why TEXT --ablate-each heads --by mean -o why.png", "a map of the heads"},
         {"attnviz why TEXT --head 2.1 --query -1 --key Potter", "why a head attends there"}},
        {}},
       builder(define_why, check_why)},
      {{"cite",
        "rank the sentences of documents by how much less probable an answer becomes when each is "
        "hidden from it",
        "attnviz cite [OPTIONS] [--doc FILE ...] TEXT",
        {{"attnviz cite --doc a.md \"Who has the key?\"",
          "which sentences the model's answer rests on"},
         {"attnviz cite --doc a.md --doc b.md \"Who?\"", "several documents"},
         {"attnviz cite --doc a.md \"Who?\" --answer Anna", "a given answer"},
         {"attnviz cite -f prompt.txt", "the sentences of your own prompt"},
         {"attnviz cite --doc a.md \"Who?\" --print-prompt", "the prompt that the model gets"},
         {"attnviz cite --doc a.md \"Who?\" --json", "all sentences, as JSON"}},
        {}},
       builder(define_cite, check_cite)},
      {{"rollout",
        "follow attention through all layers: how much of each token reaches every other",
        "attnviz rollout [OPTIONS] TEXT",
        {{"attnviz rollout \"The cat sat on the mat\"", "one pattern for the whole model"},
         {"attnviz rollout -m gpt2 \"The cat sat\" --weighted", "weighted by value norms"},
         {"attnviz rollout \"The cat sat\" --layer 0-1", "through the first two layers"},
         {"attnviz rollout \"The cat sat\" --focus sat", "what reached one token"},
         {"attnviz rollout \"The cat sat\" -o rollout.png", "draw, and write a picture"}},
        {}},
       builder(define_rollout, check_show)},
      {{"diff",
        "compare two texts, or two models, head by head",
        "attnviz diff [OPTIONS] TEXT OTHER_TEXT | -m A -m B TEXT",
        {{"attnviz diff \"The cat sat\" \"The dog sat\"", "which heads attend differently"},
         {"attnviz diff --text \"The cat sat\" --text \"A big cat sat\"",
          "of different lengths: compared at the tokens they share"},
         {"attnviz diff \"The cat sat\" \"The dog sat\" --head 2.1", "the change of one head"},
         {"attnviz diff -m base.gguf -m tuned.gguf \"The cat sat\"",
          "attention, weights, streams, predictions"},
         {"attnviz diff -m f16.gguf -m q4.gguf \"The cat sat\" -o map.png",
          "layers and heads as a picture"}},
        {}},
       builder(define_diff, check_diff)},
      {{"render",
        "draw attention computed by any tool, from JSON or NumPy",
        "attnviz render [OPTIONS] FILE",
        {{"attnviz render cat.json", "what --json or -o cat.json wrote"},
         {"attnviz render pattern.npy -o pattern.png",
          "[q, k], [head, q, k] or [layer, head, q, k]"},
         {"attnviz render a.json --tokens \"The cat sat\"", "a nested list, with its tokens"},
         {"attnviz render cat.json --head 0.2 --scale log", "one head, on another scale"}},
        {}},
       builder(define_render, check_render)},
      {{"tokenize",
        "split a text into tokens and print them",
        "attnviz tokenize [OPTIONS] TEXT",
        {{"attnviz tokenize \"The cat sat\"", "tokens, ids and byte ranges"},
         {"attnviz tokenize --tokenizer chars \"hello\"", "characters"},
         {"attnviz tokenize --json --lines < texts.txt", "one JSON document per line"}},
        {}},
       builder(define_tokenize, check_tokenize)},
      {{"info",
        "describe a model: sizes, parameters, memory",
        "attnviz info [OPTIONS] [FILE]",
        {{"attnviz info", "the embedded demo model"},
         {"attnviz info -m gpt2", "a model by name, as attnviz models lists them"},
         {"attnviz info path/to/model", "a folder, or a file of weights"},
         {"attnviz info --d-model 12288 --heads 96 --layers 96", "GPT-3, in numbers"},
         {"attnviz info -m gpt2 --json", "the numbers, as JSON"}},
        {}},
       builder(define_info)},
      {{"models",
        "list the models on this machine that -m NAME finds",
        "attnviz models [OPTIONS]",
        {{"attnviz models", "the embedded one, and those of other programs on this machine"},
         {"attnviz models --json", "as JSON, with the paths of the files"}},
        {}},
       builder(define_models)},
      {{"weights",
        "write random weights as JSON, a template to edit",
        "attnviz weights [OPTIONS]",
        {{"attnviz weights -o w.json", "4 heads of width 16"},
         {"attnviz weights --heads 2 --d-model 8", "a small one, to read"}},
        {}},
       builder(define_weights)},
      {{"merge",
        "combine head scores of several runs, without rounding errors",
        "attnviz merge [OPTIONS] FILE ...",
        {{"attnviz merge part-*.json -o all.json", "what attnviz heads --partial kept"},
         {"attnviz heads all.json", "show the merged scores"}},
        {}},
       builder(define_merge, check_merge)},
      {{"tour",
        "learn what attention is, in six short screens",
        "attnviz tour [OPTIONS] [TEXT]",
        {{"attnviz tour", "Enter: next, b: back, q: quit"},
         {"attnviz tour \"The dog saw the boy and it ran away\"", "with your own sentence"},
         {"attnviz tour -m gpt2", "with the heads of another model"},
         {"attnviz tour --all", "everything at once, to read or to print"}},
        {}},
       builder(define_tour)},
      {{"lesson",
        "learn one thing about attention, from one screen and one figure",
        "attnviz lesson [OPTIONS] [NAME]",
        {{"attnviz lesson", "the list of lessons (--json: as JSON)"},
         {"attnviz lesson scaling", "why scores are divided by the square root of d_head"},
         {"attnviz lesson masks -o masks.png", "also write the figure"},
         {"attnviz lesson cost --json", "the numbers, as JSON"}},
        {}},
       builder(define_lesson)},
      {{"softmax",
        "take a row of scores through softmax, step by step",
        "attnviz softmax [OPTIONS] SCORE ...",
        {{"attnviz softmax 2.1 8.7 3.2", "the table as in a textbook"},
         {"attnviz softmax 2.1 8.7 3.2 --divide-by 11.31",
          "with the scores divided by the square root of d_head"},
         {"attnviz softmax 1000 1001 -inf",
          "where the naive formula overflows; -inf is a masked key"},
         {"echo 2.1 8.7 3.2 | attnviz softmax - --json", "the numbers, as JSON"}},
        {}},
       builder(define_softmax_command)},
      {{"meaning",
        "compare a word's vectors in several texts, layer by layer",
        "attnviz meaning [OPTIONS] WORD --in TEXT --in TEXT ...",
        {{"attnviz meaning cat --in \"The cat sat\" --in \"A cat\"", "cosines after each layer"},
         {"attnviz meaning cat --in A --in B --in C -o cat.png", "all pairs, and a picture"},
         {"attnviz meaning cat --in A --in B -m gpt2 --json", "the numbers, as JSON"}},
        {}},
       builder(define_meaning, check_meaning)},
  };
  return entries;
}

CommandDescription describe(const CommandEntry& entry) {
  OptionList list;
  entry.build(list);
  define_help(list);
  CommandDescription description = entry.description;
  for (const char* group : kOptionGroups) {
    std::ranges::copy_if(list.all(), std::back_inserter(description.options),
                         [group](const OptionSpec& option) { return option.group == group; });
  }
  std::ranges::copy_if(list.all(), std::back_inserter(description.arguments),
                       [](const OptionSpec& option) { return option.is_positional(); });
  return description;
}

[[noreturn]] void fail_unknown_option(const OptionList& list, const std::string& word) {
  std::vector<std::string> known;
  for (const OptionSpec& option : list.all()) {
    if (!option.is_positional()) {
      known.insert(known.end(), option.names.begin(), option.names.end());
    }
  }
  const std::string name = word.substr(0, word.find('='));
  std::string hint = name.starts_with("--") ? did_you_mean(name, known) : std::string();
  // As other programs spell it.
  if ((name == "--scale-by" || name == "--divide") && list.find("--divide-by") != nullptr) {
    hint = " (did you mean \"--divide-by\"?)";
  }
  for (const CommandEntry& entry : commands()) {
    OptionList others;
    entry.build(others);
    if (hint.empty() && others.find(name) != nullptr) {
      hint = fmt::format("; it is an option of attnviz {}", entry.description.name);
    }
  }
  if (hint.empty()) {
    hint = fmt::format("; put a TEXT that begins with - after --: attnviz -- \"{}\"", word);
  }
  throw Error(ErrorKind::kUsage, fmt::format("unknown option {}{}", name, hint));
}

void check_words(const CommandLineWords& line, const CommandEntry& entry,
                 const NamesModel& names_model) {
  const OptionList& list = line.options;
  const ParsedWords& parsed = line.parsed;
  if (parsed.error) {
    throw AdviceError(*parsed.error);
  }
  const auto in_front = std::span(parsed.extras).first(parsed.n_extras_in_front);
  const auto option = std::ranges::find_if(
      in_front, [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); });
  if (option != in_front.end()) {
    fail_unknown_option(list, *option);
  }
  if (!parsed.extras.empty() && list.find(kSecondText) == nullptr) {
    const auto first = std::ranges::find_if(list.all(), &OptionSpec::is_positional);
    const std::string takes = first == list.all().end()          ? "no TEXT"
                              : list.find(kOtherText) != nullptr ? "two TEXTs"
                                                                 : "one " + first->names.front();
    throw Error(ErrorKind::kUsage, fmt::format("{} takes {}, found \"{}\"", entry.description.name,
                                               takes, parsed.extras.front()));
  }
  if (parsed.given.has(kSecondText)) {
    fail_two_texts(line, names_model);
  }
}

// The parser mistakes words like -.5 or -inf for options, so their minus becomes the one of
// printed books, which numbers may have anyway.
std::vector<std::string> with_long_minus(const OptionList& list,
                                         std::vector<std::string> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string& word = arguments[i];
    const OptionSpec* const before = i > 0 ? list.find(arguments[i - 1]) : nullptr;
    const bool is_value = before != nullptr && !before->is_flag();
    if (!is_value && word.size() > 1 && word.starts_with('-') &&
        parse_number<double>(std::string_view(word).substr(0, word.find(',')))) {
      word.replace(0, 1, kLongMinus);
    }
  }
  return arguments;
}

// attnviz help, attnviz help COMMAND; null for all others, which may be texts.
const CommandEntry* help_asked(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.size() > 2 || arguments.front() != "help") {
    return nullptr;
  }
  const auto named = std::ranges::find_if(commands(), [&arguments](const CommandEntry& entry) {
    return entry.description.name == arguments.back();
  });
  return named != commands().end() ? &*named
         : arguments.size() == 1   ? &commands().front()
                                   : nullptr;
}

// The command and its position: first, or after nothing but its own options.
std::optional<std::pair<const CommandEntry*, std::size_t>> find_command(
    const std::vector<std::string>& arguments) {
  std::optional<std::pair<const CommandEntry*, std::size_t>> found;
  for (const CommandEntry& entry : commands()) {
    if (std::ranges::find(arguments, entry.description.name) == arguments.end()) {
      continue;
    }
    OptionList list;
    entry.build(list);
    define_help(list);
    const std::size_t at = options_end(list, arguments);
    if (at < arguments.size() && arguments[at] == entry.description.name &&
        (!found || at < found->second)) {
      found.emplace(&entry, at);
    }
  }
  return found;
}

// --complete N WORD ...: prints what a shell can propose for the Nth of these words.
constexpr std::string_view kComplete = "--complete";

std::string completions(std::vector<std::string> words) {
  std::size_t at = parse_count(kComplete, words[1], 1, words.size() - 2) + 1;
  CompletedLine line{.word = words[at], .is_first = at == 2};
  words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
  words.erase(words.begin(), words.begin() + 2);
  at -= 2;
  const CommandEntry* entry = &commands().front();
  if (const auto found =
          find_command({words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at)})) {
    entry = found->first;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(found->second));
    --at;
  }
  OptionList list;
  const auto take = entry->build(list);  // keeps the targets of the setters alive
  define_help(list);
  if (at > 0) {
    line.before = words[at - 1];
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(at) - 1);
  }
  line.text = parse_words(list, std::move(words)).given.word(kText);
  return completion_lines(describe_commands(), list, line);
}

}  // namespace

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandEntry& entry : commands()) {
    names.emplace_back(entry.description.name);
  }
  return names;
}

CommandLine parse_command_line(std::vector<std::string> arguments, const NamesModel& names_model) {
  if (arguments.size() > 2 && arguments.front() == kComplete) {
    return {PrintText{completions(std::move(arguments))}};
  }
  if (const CommandEntry* const asked = help_asked(arguments)) {
    return {PrintText{help_text(describe_commands(), asked->description.name)}};
  }
  const CommandEntry* entry = &commands().front();
  std::string typed;
  if (const auto found = find_command(arguments)) {
    entry = found->first;
    typed = entry->description.name;
    arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(found->second));
  }
  const std::vector<std::string> words = arguments;
  OptionList list;
  const auto take = entry->build(list);
  define_help(list);
  const ParsedWords parsed =
      parse_words(list, list.find(kScores) != nullptr ? with_long_minus(list, std::move(arguments))
                                                      : std::move(arguments));
  if (parsed.given.has("--help")) {
    return {PrintText{help_text(describe_commands(), entry->description.name)}};
  }
  if (parsed.given.has("-h")) {
    return {PrintText{short_help(describe_commands(), entry->description.name)}};
  }
  if (parsed.given.has("--version")) {
    return {PrintText{"attnviz " ATTNVIZ_VERSION "\n"}};
  }
  const std::vector<std::string> names = command_names();
  const CommandLineWords line{typed, list, parsed, names};
  check_words(line, *entry, names_model);
  if (std::ranges::find(words, "--") == words.end()) {
    check_lone_word(line);
  }
  check_relations(parsed);
  Command command = take(parsed.given);
  std::visit(
      [&](auto& options) {
        if constexpr (requires { options.verbosity; }) {
          options.verbosity.given = parsed.given.options();
        }
        if constexpr (requires { options.output.command; }) {
          check_output(options.output);
          options.output.command.words = computing_command(entry->description.name, parsed);
          options.output.command.names = names;
          if (parsed.given.has(kText)) {
            options.output.command.text = parsed.given.word(kText);
          }
        }
        if constexpr (std::derived_from<std::decay_t<decltype(options)>, AttentionOptions>) {
          // A seed alone asks for random weights; dropout takes a seed too.
          if (parsed.given.has("--seed") && !parsed.given.has("--dropout") &&
              !parsed.given.has("--model")) {
            in_numbers<RandomShape>(options.model.model);
          }
        }
      },
      command);
  return {std::move(command), max_memory(parsed.given)};
}

std::vector<CommandDescription> describe_commands() {
  std::vector<CommandDescription> descriptions;
  for (const CommandEntry& entry : commands()) {
    descriptions.push_back(describe(entry));
  }
  return descriptions;
}

}  // namespace attnviz::app
